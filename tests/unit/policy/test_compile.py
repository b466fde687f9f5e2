"""Compiling: every problem has a path, a bad object stays out alone, bounds hold, and nothing raises."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from memwarden_policy import bounds
from memwarden_policy.access import rights
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.decide import decide
from memwarden_policy.model import Caller, Candidate, Resource, SourceKind, StoreDefaults

RULE = {"name": "accept", "action": "Accept"}
GRANT = {"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"}


def policy(name="a", *, kind="MemoryPolicy", namespace="support", **spec):
    return Resource(kind=kind, namespace=namespace, name=name, spec={"admission": [RULE]} | spec)


def grant(name="a", **spec):
    return Resource(kind="MemoryAccessGrant", namespace="support", name=name, spec=GRANT | spec)


def verdicts(*resources):
    return compile_ruleset(resources, StoreDefaults(), workspace="support").verdicts


def problems(resource):
    return [(problem.path, problem.reason) for problem in verdicts(resource)[resource.key].problems]


def domain(**spec):
    spec = {"domain": "prices/**"} | spec
    return Resource(kind="MemoryDomain", namespace="support", name="a", spec=spec)


def rule(**fields):
    return policy(admission=[{"name": "r", "action": "Reject"} | fields])


def only(**spec):
    return Resource(kind="MemoryAccessGrant", namespace="support", name="a", spec=spec)


ONE = [{"kind": "ServiceAccount", "name": "agent"}]

BAD = [
    # what is wrong, where, the reason
    (policy(priorty=1), "spec.priorty", "UnknownField"),
    (policy(guidance=[]), "spec.guidance", "UnknownField"),
    (policy(priority="high"), "spec.priority", "InvalidType"),
    (policy(priority=True), "spec.priority", "InvalidType"),
    (policy(priority=1.5), "spec.priority", "InvalidType"),
    (policy(priority=1_000_001), "spec.priority", "OutOfRange"),
    (policy(mode="Warn"), "spec.mode", "UnknownValue"),
    (policy(active="yes"), "spec.active", "InvalidType"),
    (policy(selector=[]), "spec.selector", "InvalidType"),
    (policy(selector={"domain": ["a"]}), "spec.selector.domain", "UnknownField"),
    (policy(selector={"domains": "a"}), "spec.selector.domains", "InvalidType"),
    (policy(selector={"domains": [1]}), "spec.selector.domains[0]", "InvalidType"),
    (policy(selector={"domains": ["a", ""]}), "spec.selector.domains[1]", "Empty"),
    (policy(selector={"domains": ["a" * 254]}), "spec.selector.domains[0]", "TooLong"),
    (policy(selector={"domains": ["a"] * 65}), "spec.selector.domains", "TooMany"),
    (policy(selector={"memoryTypes": ["fact"]}), "spec.selector.memoryTypes[0]", "UnknownValue"),
    (policy(selector={"memoryTypes": ["semantic"] * 2}), "spec.selector.memoryTypes[1]", "Duplicate"),
    (policy(selector={"categories": ["a" * 64]}), "spec.selector.categories[0]", "TooLong"),
    (policy(storeRef={}), "spec.storeRef.name", "Required"),
    (policy(storeRef={"name": "Main"}), "spec.storeRef.name", "InvalidName"),
    (policy(kind="ClusterMemoryPolicy", namespace="", storeRef={"name": "main"}), "spec.storeRef", "UnknownField"),
    (policy(admission=[]), "spec.admission", "SaysNothing"),
    (policy(admission=None), "spec.admission", "SaysNothing"),
    (policy(admission="all"), "spec.admission", "InvalidType"),
    (policy(admission=["all"]), "spec.admission[0]", "InvalidType"),
    (policy(admission=[RULE | {"name": f"r{n}"} for n in range(65)]), "spec.admission", "TooMany"),
    (policy(admission=[RULE, RULE]), "spec.admission[1].name", "Duplicate"),
    (policy(admission=[{"action": "Accept"}]), "spec.admission[0].name", "Required"),
    (policy(admission=[{"name": "r"}]), "spec.admission[0].action", "Required"),
    (rule(name="No Spaces"), "spec.admission[0].name", "InvalidName"),
    (rule(action="Redact"), "spec.admission[0].action", "UnknownValue"),
    (rule(action="accept"), "spec.admission[0].action", "UnknownValue"),
    (rule(if_="x"), "spec.admission[0].if_", "UnknownField"),
    (rule(when="candidate.x"), "spec.admission[0].when", "UnknownAttribute"),
    (rule(when=""), "spec.admission[0].when", "Empty"),
    (rule(when=True), "spec.admission[0].when", "InvalidType"),
    (rule(when="x" * 3_000), "spec.admission[0].when", "ExpressionTooLong"),
    (rule(where={"x": {"eq": 1}}), "spec.admission[0].where.x", "UnknownAttribute"),
    (rule(when="true", where={"source": {"eq": "imported"}}), "spec.admission[0]", "Conflict"),
    (rule(question="Is it so?"), "spec.admission[0].question", "NotApplicable"),
    (rule(confirmation={"by": "Admin"}), "spec.admission[0].confirmation", "NotApplicable"),
    (rule(action="Accept", message="log it"), "spec.admission[0].message", "NotApplicable"),
    (rule(action="Reject", reference=True), "spec.admission[0].reference", "NotApplicable"),
    (rule(action="Quarantine", confirmation={}), "spec.admission[0].confirmation", "Empty"),
    (rule(action="Quarantine", confirmation={"by": "Role"}), "spec.admission[0].confirmation.role", "Conflict"),
    (
        rule(action="Quarantine", confirmation={"expiresAfter": "1y"}),
        "spec.admission[0].confirmation.expiresAfter",
        "InvalidDuration",
    ),
    (rule(action="Reject", message="a\nb"), "spec.admission[0].message", "InvalidText"),
    (policy(recall=[RULE]), "spec.recall[0].action", "UnknownValue"),
    (
        policy(recall=[{"name": "r", "when": "candidate.topic == ''", "action": "Hide"}]),
        "spec.recall[0].when",
        "UnknownAttribute",
    ),
    (
        policy(update=[{"name": "r", "where": {"stauts": {"eq": "x"}}, "action": "Reject"}]),
        "spec.update[0].where.stauts",
        "UnknownAttribute",
    ),
    (rule(when="memory.version > 1"), "spec.admission[0].when", "UnknownAttribute"),
    (policy(provenance={"trust": {"hearsay": 0.1}}), "spec.provenance.trust.hearsay", "UnknownField"),
    (policy(provenance={"trust": {"imported": 2}}), "spec.provenance.trust.imported", "OutOfRange"),
    (policy(provenance={"blockedSources": []}), "spec.provenance.blockedSources", "Empty"),
    (policy(provenance={"protect": [{}]}), "spec.provenance.protect[0].statedBy", "Required"),
    (policy(feedback={"reject": 0.1}), "spec.feedback.reject", "OutOfRange"),
    (policy(feedback={"onReject": "Forget"}), "spec.feedback.onReject", "UnknownValue"),
    (policy(sourceOfTruth={"detect": []}), "spec.sourceOfTruth.categories", "Required"),
    (
        policy(sourceOfTruth={"categories": ["a"], "detect": [{"category": "a"}]}),
        "spec.sourceOfTruth.detect[0].when",
        "Required",
    ),
    (domain(), "spec", "SaysNothing"),
    (domain(owner="a", domain=None), "spec.domain", "Required"),
    (domain(systemOfRecord={}), "spec.systemOfRecord", "Conflict"),
    (domain(systemOfRecord={"webhook": {"url": "http://erp"}}), "spec.systemOfRecord.webhook.url", "InvalidURL"),
    (
        domain(systemOfRecord={"webhook": {"url": "https://x", "timeoutSeconds": 11}}),
        "spec.systemOfRecord.webhook.timeoutSeconds",
        "OutOfRange",
    ),
    (domain(systemOfRecord={"table": {"rows": []}}), "spec.systemOfRecord.table.rows", "Empty"),
    (policy(namespace="sales"), "metadata.namespace", "WrongNamespace"),
    (policy(kind="ClusterMemoryPolicy"), "metadata.namespace", "WrongNamespace"),
    (Resource(kind="MemoryStore", namespace="support", name="a", spec={}), "kind", "UnknownKind"),
    (grant(acces="Read"), "spec.acces", "UnknownField"),
    (grant(access="Own"), "spec.access", "UnknownValue"),
    (grant(access=None), "spec.access", "Required"),
    (grant(domains=None), "spec.domains", "Required"),
    (grant(domains=[]), "spec.domains", "Empty"),
    (grant(domains=["a"] * 65), "spec.domains", "TooMany"),
    (grant(subjects=None), "spec.subjects", "Required"),
    (grant(subjects=[]), "spec.subjects", "Empty"),
    (grant(subjects=[{"kind": "User"}]), "spec.subjects[0].name", "Required"),
    (grant(subjects=[{"name": "x"}]), "spec.subjects[0].kind", "Required"),
    (grant(subjects=[{"kind": "Robot", "name": "x"}]), "spec.subjects[0].kind", "UnknownValue"),
    (grant(subjects=[{"kind": "User", "name": "x", "apiGroup": "y"}]), "spec.subjects[0].apiGroup", "UnknownField"),
    (grant(subjects=[{"kind": "User", "name": "x", "namespace": "y"}]), "spec.subjects[0].namespace", "NotApplicable"),
    (grant(subjects=[{"kind": "User", "name": "system:anonymous"}]), "spec.subjects[0].name", "InvalidName"),
    (grant(subjects=[{"kind": "Group", "name": "system:unauthenticated"}]), "spec.subjects[0].name", "InvalidName"),
    (grant(subjects=[{"kind": "User", "name": " alice"}]), "spec.subjects[0].name", "InvalidName"),
    (grant(subjects=[{"kind": "ServiceAccount", "name": "system:x"}]), "spec.subjects[0].name", "InvalidName"),
    (grant(subjects=ONE * 2), "spec.subjects[1]", "Duplicate"),
    (grant(subjects=[*ONE, ONE[0] | {"namespace": "support"}]), "spec.subjects[1]", "Duplicate"),
    (grant(role="Lead"), "spec.role", "InvalidName"),
    (grant(subjects=[{"kind": "Role", "name": "x"}], role="lead"), "spec.role", "RoleOfRole"),
    (grant(mayClaim=[]), "spec.mayClaim", "Empty"),
    (grant(mayClaim=["user_confirmed"]), "spec.mayClaim", "NeverClaimed"),
    (grant(mayClaim=["system_rule"]), "spec.mayClaim", "NeverClaimed"),
    (grant(mayClaim=["hearsay"]), "spec.mayClaim[0]", "UnknownValue"),
    (grant(onBehalfOf=[""]), "spec.onBehalfOf[0]", "Empty"),
    (grant(subjects=[{"kind": "User", "name": "x"}], onBehalfOf=["*"]), "spec.onBehalfOf", "NotApplicable"),
    (grant(expiresAt="tomorrow"), "spec.expiresAt", "InvalidTime"),
    (grant(expiresAt="2026-12-01T12:00:00"), "spec.expiresAt", "InvalidTime"),
    (grant(notBefore="2026-12-02T00:00:00Z", expiresAt="2026-12-01T00:00:00Z"), "spec.expiresAt", "NeverLive"),
    (only(subjects=ONE), "spec", "GrantsNothing"),
    (only(subjects=ONE, reason="because"), "spec", "GrantsNothing"),
]


@pytest.mark.parametrize(("resource", "path", "reason"), BAD)
def test_what_is_wrong_is_reported_with_its_path(resource, path, reason):
    assert (path, reason) in problems(resource)


@pytest.mark.parametrize(
    "resource",
    [
        policy(),
        policy(active=False, admission=[]),
        policy(selector={}, mode="Audit", priority=-1_000_000),
        policy(kind="ClusterMemoryPolicy", namespace=""),
        policy(storeRef={"name": "main", "namespace": "memwarden-system"}),
        grant(),
        only(subjects=ONE, role="lead"),
        only(subjects=ONE, mayClaim=["user_stated"]),
        only(subjects=ONE, onBehalfOf=["*"]),
        only(subjects=[{"kind": "Role", "name": "lead"}], domains=["a"], access="None"),
    ],
)
def test_what_is_right_is_accepted(resource):
    assert problems(resource) == []
    assert verdicts(resource)[resource.key].accepted


def test_every_problem_of_an_object_is_reported_at_once():
    bad = policy(priority="x", mode="y", admission=[{"name": "r", "action": "z", "when": "q"}])
    assert len(problems(bad)) == 4


def test_no_more_problems_are_reported_than_a_person_reads():
    bad = policy(**{f"field{number}" * 100: 1 for number in range(10_000)})
    assert max(len(problem.message) for problem in verdicts(bad)[bad.key].problems) < 200
    assert len(problems(bad)) == bounds.PROBLEMS_PER_OBJECT_MAX


def test_a_spec_that_nests_without_end_is_refused():
    deep = {}
    for _ in range(5_000):
        deep = {"a": [deep]}
    for name in ("selector", "admission", "storeRef", "priority"):
        assert problems(policy(**{name: deep}))


def test_a_message_is_one_line():
    bad = policy(admission=[{"name": "r", "action": "z\nz", "when": "candidate.x\n+\n"}])
    assert not [each for each in verdicts(bad)[bad.key].problems if "\n" in each.message]


def test_a_bad_object_stays_out_and_its_neighbours_come_in():
    good, bad = policy("good"), policy("bad", priority="x")
    found = verdicts(good, bad)
    assert (found[good.key].accepted, found[bad.key].accepted) == (True, False)


def test_a_bad_policy_decides_nothing_and_a_bad_grant_gives_nothing():
    candidate = Candidate(domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal("0.5"))
    caller, now = Caller.service_account("support", "agent"), datetime(2026, 12, 1, tzinfo=UTC)
    bad_policy = policy("bad", admission=[RULE | {"action": "Reject", "when": "candidate.x"}])
    bad_floor = policy("bad", kind="ClusterMemoryPolicy", namespace="", priority="x")
    ruleset = compile_ruleset([grant(), bad_policy, bad_floor], StoreDefaults(), workspace="support").ruleset
    assert decide(ruleset, candidate, caller, now).behind == ("builtin/admission-default",)
    without = compile_ruleset([grant(expiresAt="soon")], StoreDefaults(), workspace="support").ruleset
    assert not rights(without, caller, now).has_any


def test_two_objects_of_one_name_are_both_refused():
    twin = policy("twin")
    found = verdicts(twin, policy("twin", priority=1), policy("single"))
    assert not found[twin.key].accepted
    assert found["MemoryPolicy", "support", "single"].accepted


def test_the_objects_beyond_the_bound_are_refused_in_order_of_name():
    many = [policy(f"p{number:05d}") for number in range(bounds.OBJECTS_PER_WORKSPACE_MAX + 2)]
    found = verdicts(*reversed(many))
    refused = [name for (_, _, name), verdict in found.items() if not verdict.accepted]
    assert refused == [many[-2].name, many[-1].name]
    assert found[many[-1].key].problems[0].reason == "TooManyObjects"


def test_the_rules_beyond_the_bound_are_refused_and_the_floor_stays():
    rules = [RULE | {"name": f"r{number}"} for number in range(64)]
    many = [policy(f"p{number:05d}", admission=rules) for number in range(bounds.RULES_PER_WORKSPACE_MAX // 64 + 1)]
    floor = policy("zz", kind="ClusterMemoryPolicy", namespace="", admission=rules)
    found = verdicts(*many, floor)
    assert found[floor.key].accepted
    assert [verdict.problems[0].reason for verdict in found.values() if not verdict.accepted] == ["TooManyRules"] * 2


def test_what_costs_too_much_together_is_refused_in_order_of_name():
    dear = {"when": "candidate.content.matches('a') || candidate.content.matches('b')"}
    rules = [RULE | dear | {"name": f"r{number}"} for number in range(64)]
    many = [policy(f"p{number}", admission=rules) for number in range(6)]
    found = verdicts(*many)
    refused = [name for (_, _, name), verdict in found.items() if not verdict.accepted]
    assert refused == ["p4", "p5"]
    assert found[many[5].key].problems[0].reason == "TooExpensive"


def test_globs_of_several_stars_are_counted():
    many = [policy(f"p{number:04d}", selector={"domains": [f"*a*{n}" for n in range(64)]}) for number in range(64)]
    reasons = [verdict.problems[0].reason for verdict in verdicts(*many).values() if not verdict.accepted]
    assert set(reasons) == {"TooExpensive"}
    simple = [policy(f"p{number:04d}", selector={"domains": [f"a{n}/*" for n in range(64)]}) for number in range(64)]
    assert all(verdict.accepted for verdict in verdicts(*simple).values())


def notes(*resources):
    found = verdicts(*resources)
    return {name: [note.message for note in verdict.notes] for (_, _, name), verdict in found.items()}


def test_policies_that_contradict_are_noted_on_both():
    found = notes(policy("a", admission=[RULE]), policy("b", admission=[RULE | {"action": "Reject"}]))
    assert found == {
        "a": ["MemoryPolicy/b/accept says Reject of some of the same candidates; Reject wins"],
        "b": ["MemoryPolicy/a/accept says Accept of some of the same candidates; Reject wins"],
    }


def against(**spec):
    return policy("b", **({"admission": [RULE | {"action": "Reject"}]} | spec))


@pytest.mark.parametrize(
    ("one", "other", "is_noted", "why"),
    [
        ({"priority": 1}, {}, False, "another priority is no contradiction but an order"),
        ({"mode": "Audit"}, {}, False, "an Audit policy contradicts nobody"),
        ({"active": False}, {}, False, "neither does one that is not active"),
        ({"selector": {"domains": ["a"]}}, {"selector": {"domains": ["b"]}}, False, "they never meet"),
        ({"selector": {"domains": ["a/*"]}}, {"selector": {"domains": ["a/**"]}}, True, "a segment is part of a tree"),
        ({"selector": {"domains": ["a/*"]}}, {"selector": {"domains": ["a/b"]}}, True, "a domain is part of a glob"),
        ({"selector": {"domains": ["a"]}}, {}, True, "everything holds each domain"),
        ({"selector": {"roles": ["x"]}}, {"selector": {"roles": ["y"]}}, False, "the same roles are needed"),
        (
            {"selector": {"memoryTypes": ["semantic"]}},
            {"selector": {"memoryTypes": ["working"]}},
            False,
            "types differ",
        ),
        ({"selector": {"categories": ["p*"]}}, {"selector": {"categories": ["profile"]}}, True, "categories are globs"),
    ],
)
def test_a_contradiction_is_noted_where_a_candidate_proves_it(one, other, is_noted, why):
    assert bool(notes(policy("a", **one), against(**other))["a"]) is is_noted, why


def test_the_same_condition_contradicts_and_another_does_not():
    accept = RULE | {"when": "candidate.is_sensitive"}
    same = accept | {"action": "Reject"}
    other = {"name": "x", "when": "!candidate.is_sensitive", "action": "Reject"}
    assert notes(policy("a", admission=[accept]), policy("b", admission=[same]))["a"]
    assert not notes(policy("a", admission=[accept]), policy("b", admission=[other]))["a"]


def test_the_same_structured_condition_contradicts():
    accept = RULE | {"where": {"confidence": {"gte": 0.8}}}
    assert notes(policy("a", admission=[accept]), policy("b", admission=[accept | {"action": "Reject"}]))["a"]


def test_floor_and_workspace_do_not_contradict():
    floor = policy("a", kind="ClusterMemoryPolicy", namespace="", admission=[RULE | {"action": "Reject"}])
    assert notes(floor, policy("b")) == {"a": [], "b": []}


WHERE_THAT_NEVER_HOLDS = [
    ({"confidence": {"gt": 0.9, "lt": 0.1}}, {}),
    ({"confidence": {"gt": 0.5, "lte": 0.5}}, {}),
    ({"confidence": {"gt": 1}}, {}),
    ({"confidence": {"eq": 0.5, "gt": 0.5}}, {}),
    ({"is_sensitive": {"eq": True, "ne": True}}, {}),
    ({"source": {"eq": "imported", "in": ["retrieval", "reasoning"]}}, {}),
    ({"observed_at": {"gt": "now() - 1d", "lt": "now() - 2d"}}, {}),
    ({"memory_type": {"eq": "working"}}, {"memoryTypes": ["semantic"]}),
    ({"domain": {"in": ["a", "b"]}}, {"domains": ["c/*"]}),
    ({"category": {"eq": "mood"}}, {"categories": ["pref*"]}),
]
WHERE_THAT_MAY_HOLD = [
    ({"confidence": {"gte": 0.5, "lte": 0.5}}, {}),
    ({"confidence": {"lt": 1}}, {}),
    ({"is_sensitive": {"eq": True, "ne": False}}, {}),
    ({"source": {"ne": "imported", "in": ["retrieval", "imported"]}}, {}),
    ({"observed_at": {"gt": "2026-01-01T00:00:00Z", "lt": "now() - 2d"}}, {}),
    ({"memory_type": {"ne": "working"}}, {"memoryTypes": ["working"]}),
    ({"domain": {"in": ["a", "c/d"]}}, {"domains": ["c/*"]}),
    ({"topic": {"eq": "x"}}, {"categories": ["pref*"]}),
]


@pytest.mark.parametrize(("where", "selector"), WHERE_THAT_NEVER_HOLDS)
def test_a_rule_that_nothing_matches_is_noted(where, selector):
    (note,) = notes(policy("a", selector=selector, admission=[RULE | {"where": where}]))["a"]
    assert note.startswith("never matches: ")


@pytest.mark.parametrize(("where", "selector"), WHERE_THAT_MAY_HOLD)
def test_a_rule_that_something_may_match_is_not(where, selector):
    assert notes(policy("a", selector=selector, admission=[RULE | {"where": where}]))["a"] == []


@pytest.mark.parametrize(
    ("loud", "quiet", "is_noted", "why"),
    [
        ({"priority": 1}, {}, True, "everything is covered from above"),
        ({"priority": 1, "selector": {"domains": ["a/**"]}}, {"selector": {"domains": ["a/*", "a/b"]}}, True, "a tree"),
        ({"priority": 1, "selector": {"domains": ["a/*"]}}, {"selector": {"domains": ["a/**"]}}, False, "too narrow"),
        ({"priority": 1, "selector": {"roles": ["x"]}}, {}, False, "others speak too"),
        ({"priority": 1, "mode": "Audit"}, {}, False, "on trial it silences nobody"),
        ({"priority": -1}, {}, False, "from below"),
        ({"priority": 1, "recall": [{"name": "h", "action": "Hide"}], "admission": None}, {}, False, "another point"),
    ],
)
def test_a_rule_that_never_decides_is_noted_with_the_one_that_silences_it(loud, quiet, is_noted, why):
    conditional = [RULE | {"when": "candidate.is_sensitive"}]
    found = notes(policy("loud", **loud), policy("quiet", admission=conditional, **quiet))["quiet"]
    assert bool(found) is is_noted, why
    assert all("MemoryPolicy/loud/accept always matches there" in note for note in found)


def test_a_milder_rule_beside_one_that_always_matches_never_decides():
    strict = {"name": "strict", "action": "Reject"}
    (note,) = notes(policy("a", admission=[RULE | {"when": "candidate.is_sensitive"}, strict]))["a"]
    assert note == "never decides: MemoryPolicy/a/strict always matches there and is stricter"


@pytest.mark.parametrize("spec", [None, [], "x", 7])
def test_a_spec_that_is_no_mapping_is_a_finding_and_no_exception(spec):
    resource = Resource(kind="MemoryPolicy", namespace="support", name="p", spec=spec)
    (verdict,) = compile_ruleset([resource], StoreDefaults(), workspace="support").verdicts.values()
    assert [each.path for each in verdict.problems] == ["spec"]
