"""Deciding: what holds for every ruleset, every candidate, every caller."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from memwarden_policy import bounds, domains, granting, ruling, selection, sourcing
from memwarden_policy import policies as reading
from memwarden_policy.access import rights
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.decide import decide
from memwarden_policy.model import (
    Action,
    ActorKind,
    Caller,
    Candidate,
    Decision,
    MemoryType,
    Resource,
    SourceKind,
    StoreDefaults,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
AGENT = Caller.service_account("support", "agent")
DOMAINS = ("notes", "customers", "customers/acme", "customers/acme/orders", "board/minutes")
ROLES = ("lead", "night-shift")
GRANTS = [
    Resource(
        kind="MemoryAccessGrant",
        namespace="support",
        name="writes",
        spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"},
    ),
    Resource(
        kind="MemoryAccessGrant",
        namespace="support",
        name="lead",
        spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "role": "lead"},
    ),
]

conditions = st.sampled_from(
    [
        {},
        {"when": "candidate.confidence > 0.7"},
        {"when": "candidate.tags.exists(t, t == 'vip')"},
        {"when": "candidate.tags[0] == 'vip'"},  # Fails where there are no tags.
        {"when": "int(candidate.topic) > 3"},  # Fails where the topic is no number.
        {"where": {"confidence": {"gte": 0.5}}},
        {"where": {"is_sensitive": {"eq": True}}},
        {"where": {"observed_at": {"lt": "now() - 30d"}}},
        {"where": {"source": {"in": ["reasoning", "retrieval"]}}},
    ]
)
actions = st.sampled_from([action.value for action in Action])
globs = st.lists(st.sampled_from([*DOMAINS, "*", "**", "customers/*", "customers/**", "c*", "**/minutes"]), max_size=3)
selectors = st.fixed_dictionaries(
    {},
    optional={
        "domains": globs,
        "memoryTypes": st.lists(st.sampled_from([each.value for each in MemoryType]), max_size=2, unique=True),
        "categories": st.lists(st.sampled_from(["profile", "pref*", "*"]), max_size=2),
        "roles": st.lists(st.sampled_from(ROLES), max_size=2),
    },
)


@st.composite
def policies(draw, kind="MemoryPolicy", modes=("Enforce", "Audit"), name="p"):
    rules = draw(st.lists(st.tuples(actions, conditions), min_size=1, max_size=4))
    admission = [{"name": f"r{index}", "action": action} | rest for index, (action, rest) in enumerate(rules)]
    spec = {
        "priority": draw(st.integers(-2, 2)),
        "mode": draw(st.sampled_from(modes)),
        "selector": draw(selectors),
        "admission": admission,
    }
    return Resource(kind=kind, namespace="" if kind.startswith("Cluster") else "support", name=name, spec=spec)


def several(**options):
    drawn = st.lists(policies(**options), max_size=6)
    return drawn.map(lambda found: [replace(each, name=f"p{index}") for index, each in enumerate(found)])


floors = several(kind="ClusterMemoryPolicy")
candidates = st.builds(
    Candidate,
    domain=st.sampled_from(DOMAINS),
    content=st.text(max_size=20),
    source=st.sampled_from(
        [SourceKind.AGENT_EXTRACTED, SourceKind.REASONING, SourceKind.RETRIEVAL, SourceKind.TOOL_RESULT]
    ),
    confidence=st.integers(0, 1_000).map(lambda number: Decimal(number).scaleb(-3)),
    topic=st.sampled_from(["", "7", "hours"]),
    memory_type=st.sampled_from(MemoryType),
    category=st.sampled_from(["", "profile", "preference"]),
    is_sensitive=st.booleans(),
    tags=st.sampled_from([(), ("vip",), ("a", "vip")]),
    observed_at=st.sampled_from([None, NOW - timedelta(days=31)]),
)
stores = st.builds(StoreDefaults, admission_default=st.sampled_from(Action))


def ruleset(resources, store):
    compiled = compile_ruleset([*GRANTS, *resources], store, workspace="support")
    assert all(verdict.accepted for verdict in compiled.verdicts.values()), compiled.verdicts
    return compiled.ruleset


def action(resources, store, candidate):
    return decide(ruleset(resources, store), candidate, AGENT, NOW).action


@given(several(), floors, stores, candidates)
def test_a_decision_is_the_same_each_time_and_in_any_order_of_objects(mine, floor, store, candidate):
    first = decide(ruleset([*mine, *floor], store), candidate, AGENT, NOW)
    again = decide(ruleset([*reversed(floor), *reversed(mine)], store), candidate, AGENT, NOW)
    assert first == again


@given(several(), floors, stores, candidates)
def test_the_order_of_rules_in_a_policy_does_not_count(mine, floor, store, candidate):
    turned = [replace(each, spec=each.spec | {"admission": each.spec["admission"][::-1]}) for each in mine]
    first = decide(ruleset([*mine, *floor], store), candidate, AGENT, NOW)
    assert first == decide(ruleset([*turned, *floor], store), candidate, AGENT, NOW)


@given(several(), floors, stores, candidates)
def test_every_decision_has_a_rule_behind_it(mine, floor, store, candidate):
    decision = decide(ruleset([*mine, *floor], store), candidate, AGENT, NOW)
    assert decision.behind
    assert decision.rules[0].action is decision.action
    assert decision.reason


@given(several(), floors, stores, candidates, st.integers(-3, 3), selectors, conditions)
def test_one_more_reject_rejects_or_changes_nothing(mine, floor, store, candidate, priority, selector, condition):
    spec = {"priority": priority, "selector": selector, "admission": [{"name": "r", "action": "Reject"} | condition]}
    reject = Resource(kind="MemoryPolicy", namespace="support", name="reject", spec=spec)
    before, after = action([*mine, *floor], store, candidate), action([*mine, *floor, reject], store, candidate)
    assert after is before or after is Action.REJECT


@given(several(), floors, stores, candidates)
def test_a_workspace_never_loosens_the_floor(mine, floor, store, candidate):
    accepting = StoreDefaults(admission_default=Action.ACCEPT)
    assert action([*mine, *floor], store, candidate) >= action(floor, accepting, candidate)


@given(several(), floors, stores, candidates)
def test_a_floor_never_loosens_a_workspace(mine, floor, store, candidate):
    assert action([*mine, *floor], store, candidate) >= action(mine, store, candidate)


@given(several(modes=("Enforce",)), several(modes=("Audit",)), stores, candidates)
def test_audit_policies_change_no_outcome(mine, audits, store, candidate):
    audits = [replace(each, name=f"audit-{each.name}") for each in audits]
    assert action([*mine, *audits], store, candidate) is action(mine, store, candidate)


@given(several(), floors, stores, candidates)
def test_a_sensitive_candidate_is_never_accepted(mine, floor, store, candidate):
    assert action([*mine, *floor], store, replace(candidate, is_sensitive=True)) > Action.ACCEPT


@given(several(), floors, stores, candidates, st.sampled_from([SourceKind.USER_CONFIRMED, SourceKind.SYSTEM_RULE]))
def test_what_nobody_may_claim_is_always_rejected(mine, floor, store, candidate, source):
    decision = decide(ruleset([*mine, *floor], store), replace(candidate, source=source), AGENT, NOW)
    assert decision.behind == ("builtin/may-claim",)


@settings(max_examples=300)
@given(several(), candidates)
def test_the_index_finds_what_asking_every_policy_finds(mine, candidate):
    held = frozenset({"lead"})
    compiled = [compile_ruleset([each], StoreDefaults(), workspace="support").ruleset for each in mine]
    everyone = [policy for each in compiled for policy in each.policies]
    asked = {policy.address for policy in everyone if policy.selector.covers(candidate, held)}
    index = selection.Index({policy.address: policy for policy in everyone}.values())
    assert {policy.address for policy in index.select(candidate, held)} == asked


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    sorted(
        {
            *reading.FIELDS,
            *ruling.ADMISSION_FIELDS,
            *ruling.CONFIRMATION_FIELDS,
            *sourcing.PROVENANCE_FIELDS,
            *sourcing.PROTECTION_FIELDS,
            *sourcing.FEEDBACK_FIELDS,
            *sourcing.TRUTH_FIELDS,
            *granting.FIELDS,
            *granting.SUBJECT_FIELDS,
            *domains.FIELDS,
            *domains.RECORD_FIELDS,
            *domains.WEBHOOK_FIELDS,
            *domains.ROW_FIELDS,
        }
    )
)
KINDS = st.sampled_from(["MemoryPolicy", "MemoryAccessGrant", "MemoryDomain", "X", ""])
SPECS = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=12
)


@settings(max_examples=300)
@given(st.dictionaries(FIELDS, SPECS, max_size=6), KINDS)
def test_no_spec_raises(spec, kind):
    compiled = compile_ruleset(
        [Resource(kind=kind, namespace="support", name="a", spec=spec)], StoreDefaults(), workspace="support"
    )
    candidate = Candidate(domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal("0.5"))
    assert isinstance(decide(compiled.ruleset, candidate, AGENT, NOW), Decision)
    (verdict,) = compiled.verdicts.values()
    assert verdict.accepted == (not verdict.problems)


@given(st.text(max_size=20), st.text(max_size=20), st.frozensets(st.text(max_size=5), max_size=3), st.booleans())
def test_no_caller_raises(name, person, groups, is_person):
    caller = Caller(actor_kind=ActorKind.API_KEY, actor_name=name, principal=person, is_person=is_person, groups=groups)
    compiled = ruleset([], StoreDefaults())
    candidate = Candidate(domain=name, content=person, source=SourceKind.REASONING, confidence=Decimal("0.5"))
    assert decide(compiled, candidate, caller, NOW).action is Action.REJECT
    assert not rights(compiled, caller, NOW).has_any


def test_a_decision_records_no_more_rules_than_its_bound():
    rules = [{"name": f"r{number}", "action": "Accept"} for number in range(bounds.RULES_PER_POLICY_MAX)]
    many = [
        Resource(kind="MemoryPolicy", namespace="support", name=f"p{number}", spec={"admission": rules})
        for number in range(3)
    ]
    many.append(
        Resource(
            kind="MemoryPolicy",
            namespace="support",
            name="z",
            spec={"admission": [{"name": "r", "action": "Reject"}]},
        )
    )
    candidate = Candidate(domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal("0.5"))
    decision = decide(ruleset(many, StoreDefaults()), candidate, AGENT, NOW)
    assert len(decision.rules) == bounds.OUTCOMES_PER_DECISION_MAX
    assert decision.behind == ("MemoryPolicy/z/r",)


def test_the_reason_names_one_rule_and_counts_the_others():
    rules = [{"name": f"r{number}", "action": "Accept"} for number in range(3)]
    mine = Resource(kind="MemoryPolicy", namespace="support", name="p", spec={"admission": rules})
    candidate = Candidate(domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal("0.5"))
    assert decide(ruleset([mine], StoreDefaults()), candidate, AGENT, NOW).reason == (
        "Accept by MemoryPolicy/p/r0 and 2 more"
    )
