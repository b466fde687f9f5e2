"""Reading, updating, deleting, sources, truth: what holds for every ruleset, every memory, every caller."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy import change, confirming, explain, feedback, plan, provenance, recall, truth
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.confirming import Held, Objection, Person
from memwarden_policy.decide import decide
from memwarden_policy.demands import Approver, By, Confirmation, Demand, joined
from memwarden_policy.feedback import Feedback, FeedbackKind
from memwarden_policy.model import (
    Action,
    Caller,
    Candidate,
    Change,
    Known,
    Memory,
    Point,
    Recall,
    RecordAnswer,
    Resource,
    SourceKind,
    Status,
    StoreDefaults,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
AGENT = Caller.service_account("support", "agent")
GRANT = Resource(
    kind="MemoryAccessGrant",
    namespace="support",
    name="agent",
    spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"},
)
WORDS = {"recall": list(Recall), "update": list(Change), "delete": list(Change)}
ASK = {Point.RECALL: recall.judge, Point.UPDATE: change.judge_update, Point.DELETE: change.judge_delete}

conditions = st.sampled_from(
    [
        {},
        {"when": "memory.confidence > 0.5"},
        {"when": "memory.tags[0] == 'vip'"},  # Fails where there are no tags.
        {"where": {"confirmed": {"eq": True}}},
        {"where": {"version": {"gte": 2}, "last_confirmed_at": {"lt": "now() - 30d"}}},
    ]
)
selectors = st.sampled_from([{}, {"domains": ["notes"]}, {"memoryTypes": ["procedural"]}, {"roles": ["lead"]}])
provenances = st.sampled_from(
    [
        {},
        {"blockedSources": ["reasoning"]},
        {"allowedSources": ["user_stated", "agent_extracted"]},
        {"protect": [{"statedBy": ["user_stated", "user_confirmed"]}], "trust": {"reasoning": 0.2}},
    ]
)


@st.composite
def rules(draw, point):
    drawn = draw(st.lists(st.tuples(st.sampled_from(WORDS[point]), conditions), max_size=3))
    return [{"name": f"r{index}", "action": word.value} | rest for index, (word, rest) in enumerate(drawn)]


@st.composite
def policies(draw, kind="MemoryPolicy", modes=("Enforce", "Audit")):
    spec = {point: draw(rules(point)) for point in WORDS}
    spec |= {"priority": draw(st.integers(-1, 1)), "mode": draw(st.sampled_from(modes)), "selector": draw(selectors)}
    spec |= {"feedback": {"confirm": 0.1}, "provenance": draw(provenances)}
    return Resource(kind=kind, namespace="" if kind.startswith("Cluster") else "support", name="p", spec=spec)


def several(**options):
    drawn = st.lists(policies(**options), max_size=4)
    return drawn.map(lambda found: [replace(each, name=f"p{index}") for index, each in enumerate(found)])


floors = several(kind="ClusterMemoryPolicy")
memories = st.builds(
    Memory,
    id=st.just("m"),
    statement=st.builds(
        Candidate,
        domain=st.sampled_from(["notes", "board"]),
        content=st.just("a"),
        source=st.sampled_from(SourceKind),
        confidence=st.sampled_from([Decimal("0.300"), Decimal("0.700")]),
        tags=st.sampled_from([(), ("vip",)]),
    ),
    created_at=st.sampled_from([NOW, NOW - timedelta(days=40)]),
    status=st.sampled_from(Status),
    version=st.integers(1, 3),
    confirmed=st.booleans(),
)
points = st.sampled_from(list(ASK))


def ruleset(resources, store=None):
    compiled = compile_ruleset([GRANT, *resources], store or StoreDefaults(), workspace="support")
    assert all(verdict.accepted for verdict in compiled.verdicts.values()), compiled.verdicts
    return compiled.ruleset


def ask(point, resources, memory):
    more = () if point is Point.RECALL else (SourceKind.REASONING,)
    return ASK[point](ruleset(resources), memory, AGENT, NOW, *more)


@given(points, several(), floors, memories)
def test_an_answer_is_the_same_each_time_and_in_any_order_of_objects(point, mine, floor, memory):
    assert ask(point, [*mine, *floor], memory) == ask(point, [*reversed(floor), *reversed(mine)], memory)


@given(points, several(), floors, memories)
def test_every_answer_has_a_rule_behind_it_and_a_sentence(point, mine, floor, memory):
    answer = ask(point, [*mine, *floor], memory)
    assert answer.behind
    sentence = explain.sentence(answer)
    assert sentence.endswith(".")
    assert all(each.address in sentence for each in answer.rules if each.policy != "builtin")


@given(points, several(), floors, memories)
def test_a_workspace_never_loosens_the_floor(point, mine, floor, memory):
    assert ask(point, [*mine, *floor], memory).action >= ask(point, floor, memory).action


@given(points, several(modes=("Enforce",)), several(modes=("Audit",)), memories)
def test_audit_policies_change_no_outcome(point, mine, audits, memory):
    audits = [replace(each, name=f"audit-{each.name}") for each in audits]
    assert ask(point, [*mine, *audits], memory).action is ask(point, mine, memory).action


@given(points, several(), memories, st.integers(-2, 2), conditions)
def test_one_more_rule_of_the_strictest_word_forbids_or_changes_nothing(point, mine, memory, priority, condition):
    strictest = WORDS[point][-1]
    rule = {"name": "r", "action": strictest.value} | condition
    spec = {"priority": priority, point.value: [rule]}
    more = Resource(kind="MemoryPolicy", namespace="support", name="more", spec=spec)
    before, after = ask(point, mine, memory).action, ask(point, [*mine, more], memory).action
    assert after in (before, strictest)


@given(several(), floors, memories)
def test_the_floor_caps_trust(mine, floor, memory):
    both, alone = (provenance.seed(ruleset(each), memory.statement, AGENT, NOW) for each in ([*mine, *floor], mine))
    assert both <= alone
    assert 0 <= both <= 1


@given(
    st.decimals(0, 1, places=3),
    st.lists(st.sampled_from(FeedbackKind), max_size=12),
    st.decimals(0, 1, places=3),
    st.decimals(-1, 0, places=3),
)
def test_feedback_never_leaves_the_scale(value, kinds, confirm, reject):
    for kind in kinds:
        value = feedback.apply(value, kind, Feedback(confirm=confirm, reject=reject))
        assert 0 <= value <= 1
        assert value == value.quantize(Decimal("0.001"))


@pytest.mark.parametrize(
    ("value", "kind", "after"),
    [
        ("0.700", FeedbackKind.CONFIRM, "0.800"),
        ("0.950", FeedbackKind.CONFIRM, "1.000"),
        ("0.700", FeedbackKind.REJECT, "0.400"),
        ("0.200", FeedbackKind.REJECT, "0.000"),
        ("0.100", FeedbackKind.EDIT, "0.800"),
    ],
)
def test_feedback_by_the_usual_numbers(value, kind, after):
    assert feedback.apply(Decimal(value), kind) == Decimal(after)


@given(st.booleans(), st.sampled_from(RecordAnswer), st.sampled_from(["price", "preference", ""]))
def test_what_needs_the_truth_is_never_accepted_without_it(is_detected, record, category):
    spec = {
        "priority": 9,
        "admission": [{"name": "fine", "action": "Accept"}],
        "sourceOfTruth": {"categories": ["price"], "detect": [{"category": "price", "when": f"{is_detected}".lower()}]},
    }
    held = ruleset([Resource(kind="MemoryPolicy", namespace="support", name="p", spec=spec)])
    candidate = Candidate(
        domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal(1), category=category
    )
    decision = decide(held, candidate, AGENT, NOW, Known(record=record))
    needs = is_detected or category == "price"
    assert (truth.categories(held, candidate, AGENT, NOW) != ()) == needs
    assert (decision.action is Action.ACCEPT) == (not needs or record is RecordAnswer.AGREES)


# A plan that asks only where something changed counts what asking everything counts.
@given(several(), several(), floors, st.lists(memories, max_size=5))
def test_a_plan_counts_what_asking_both_rulesets_counts(before, after, floor, held):
    held = [replace(each, proposer=AGENT) for each in held]
    was, then = ruleset([*before, *floor]), ruleset([*after, *floor])
    changed = sum(
        recall.judge(was, each, AGENT, NOW).action is not recall.judge(then, each, AGENT, NOW).action for each in held
    )
    counts = plan.impact(was, then, held, NOW).counts
    assert sum(counts[name] for name in plan.COUNTS[Recall].values()) == changed


def test_a_plan_is_bounded_and_leaves_what_a_person_confirmed():
    spec = {
        "admission": [{"name": "ask", "action": "RequireConfirmation"}],
        "recall": [{"name": "h", "action": "Hide"}],
    }
    strict = Resource(kind="MemoryPolicy", namespace="support", name="p", spec=spec)
    was = ruleset([], StoreDefaults(admission_default=Action.ACCEPT))
    then = ruleset([strict], StoreDefaults(admission_default=Action.ACCEPT))
    statement = Candidate(domain="a", content="b", source=SourceKind.REASONING, confidence=Decimal(1))
    many = (
        Memory(id=f"{number}", statement=statement, created_at=NOW, confirmed=number % 2 == 0) for number in range(100)
    )
    impact = plan.impact(was, then, many, NOW)
    assert (impact.memories, impact.counts["wouldRequireConfirmation"], impact.counts["wouldHide"]) == (100, 50, 100)
    assert len(impact.sample) == 2 * plan.SAMPLE_PER_COUNT_MAX


HELD = Held(proposed_by="ServiceAccount:support/agent", proposed_for="alice", about="bob", domain_owner="carol")
ALICE = Person(name="alice", actor="APIKey:alice")
BOB = Person(name="bob", actor="APIKey:bob")
CAROL = Person(name="carol", actor="APIKey:carol", roles=frozenset({"lead"}))
DAVE = Person(name="dave", actor="APIKey:dave", is_admin=True)


@pytest.mark.parametrize(
    ("by", "people", "person", "given", "objection"),
    [
        ((), 1, BOB, (), None),
        ((), 1, DAVE, (), None),
        ((), 1, ALICE, (), Objection.NOT_AUTHORISED),
        ((Approver(kind=By.OWNER),), 1, BOB, (), None),
        ((Approver(kind=By.OWNER),), 1, DAVE, (), Objection.NOT_AUTHORISED),
        ((Approver(kind=By.OWNER),), 1, CAROL, (), Objection.NOT_AUTHORISED),
        ((Approver(kind=By.ROLE, role="lead"),), 1, CAROL, (), None),
        ((Approver(kind=By.ROLE, role="lead"),), 2, DAVE, (CAROL,), None),
        ((), 2, BOB, (BOB,), Objection.ALREADY_APPROVED),
    ],
)
def test_who_may_confirm_what(by, people, person, given, objection):
    assert confirming.objection(Confirmation(by=by, people=people), HELD, person, given) is objection


def test_nobody_confirms_what_they_proposed():
    mine = replace(HELD, proposed_for="dave", proposed_by_person=True, proposed_by="APIKey:other-key")
    assert confirming.objection(Confirmation(), mine, DAVE) is Objection.OWN_PROPOSAL
    assert confirming.objection(Confirmation(), replace(HELD, proposed_by="APIKey:bob"), BOB) is Objection.OWN_PROPOSAL


def test_the_owner_of_a_domain_stands_in_where_nobody_is_concerned():
    needed = Confirmation(by=(Approver(kind=By.OWNER),))
    assert confirming.objection(needed, replace(HELD, about=None), CAROL) is None


def test_what_is_missing_is_said_until_nothing_is():
    needed = Confirmation(by=(Approver(kind=By.OWNER), Approver(kind=By.ROLE, role="lead")), people=2)
    assert confirming.missing(needed, HELD, []) == ("its owner", "a holder of the role lead")
    assert confirming.missing(needed, HELD, [BOB]) == ("a holder of the role lead",)
    assert confirming.missing(needed, HELD, [BOB, CAROL]) == ()
    assert confirming.missing(Confirmation(people=2), HELD, [DAVE, DAVE]) == ("another person",)
    assert confirming.missing(Confirmation(), HELD, []) == ("a person",)


def test_a_confirmation_survives_the_database():
    demand = Demand(
        by=Approver(kind=By.ROLE, role="lead"), four_eyes=True, expires_after=timedelta(days=7), question="?"
    )
    needed = joined([demand, Demand(by=Approver(kind=By.ADMIN))])
    assert Confirmation.of_json(needed.as_json()) == needed
