"""When a memory ends: exact at the boundary, the same however often it is asked, and never later by reading."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy import plan, retention
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Candidate, Memory, Resource, SourceKind, StoreDefaults

BORN = datetime(2026, 12, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)


def ruleset(*specs, kind="MemoryPolicy"):
    resources = [
        Resource(kind=kind, namespace="" if kind == "ClusterMemoryPolicy" else "w", name=f"p{index}", spec=spec)
        for index, spec in enumerate(specs)
    ]
    compiled = compile_ruleset(resources, StoreDefaults(), workspace="w")
    assert all(each.accepted for each in compiled.verdicts.values()), compiled.verdicts
    return compiled.ruleset


def keeping(**said):
    return {"retention": said}


def memory(*, confidence="0.9", held=False, delete_at=None, falls=(), category="", confirmed_at=None):
    stated = Candidate(
        domain="d",
        content="c",
        source=SourceKind.AGENT_EXTRACTED,
        confidence=Decimal(confidence),
        category=category,
        delete_at=delete_at,
        observed_at=BORN,
    )
    return Memory(id="m", statement=stated, created_at=BORN, is_held=held, falls=falls, last_confirmed_at=confirmed_at)


def test_a_ttl_is_exact_at_the_boundary():
    rules = ruleset(keeping(ttl="7d"))
    assert not retention.is_over(rules, memory(), BORN + 7 * DAY - TICK)
    assert retention.is_over(rules, memory(), BORN + 7 * DAY)
    assert retention.ending(rules, memory()).by == "MemoryPolicy/p0: ttl"


def test_the_shortest_of_several_wins_whatever_their_priority_and_a_permanent_one_gives_no_term():
    rules = ruleset({"priority": 100, **keeping(permanentUntilRevoked=True)}, {"priority": 1, **keeping(ttl="3d")})
    assert retention.ending(rules, memory()).at == BORN + 3 * DAY
    assert retention.ending(ruleset(keeping(permanentUntilRevoked=True)), memory()) is None


def test_a_namespace_does_not_loosen_the_floor():
    floor = Resource(kind="ClusterMemoryPolicy", namespace="", name="floor", spec=keeping(ttl="2d"))
    own = Resource(kind="MemoryPolicy", namespace="w", name="own", spec=keeping(ttl="30d"))
    rules = compile_ruleset([floor, own], StoreDefaults(), workspace="w").ruleset
    assert retention.ending(rules, memory()).at == BORN + 2 * DAY


def test_a_deletion_date_needs_no_policy():
    assert retention.is_over(ruleset(), memory(delete_at=BORN + DAY), BORN + DAY)
    assert not retention.is_over(ruleset(), memory(delete_at=BORN + DAY), BORN + DAY - TICK)


def layered(floor, own):
    """Compile policies of the floor and of the namespace together."""
    layers = (("ClusterMemoryPolicy", "", floor), ("MemoryPolicy", "w", own))
    resources = [
        Resource(kind=kind, namespace=namespace, name=f"p{index}", spec=spec)
        for kind, namespace, specs in layers
        for index, spec in enumerate(specs)
    ]
    return compile_ruleset(resources, StoreDefaults(), workspace="w").ruleset


def test_a_hold_of_a_namespace_does_not_loosen_the_floor():
    own = [keeping(ttl="1d"), keeping(legalHold=True)]
    assert retention.ending(layered([], own), memory(delete_at=BORN)) is None
    kept = retention.ending(layered([keeping(ttl="9d")], own), memory(delete_at=BORN))
    assert (kept.at, kept.by) == (BORN + 9 * DAY, "ClusterMemoryPolicy/p0: ttl")
    assert retention.ending(layered([keeping(ttl="9d"), keeping(legalHold=True)], own), memory()) is None


@pytest.mark.parametrize("how", ["memory", "policy"])
def test_a_legal_hold_beats_them_all(how):
    rules = ruleset(keeping(ttl="1d"), *([keeping(legalHold=True)] if how == "policy" else []))
    held = memory(held=how == "memory", delete_at=BORN + DAY)
    assert retention.ending(rules, held) is None


def test_low_confidence_counts_from_the_moment_it_fell():
    rules = ruleset(keeping(lowConfidence={"below": 0.3, "for": "30d"}))
    assert retention.ending(rules, memory(confidence="0.3")) is None
    assert retention.ending(rules, memory(confidence="0.299")).at == BORN + 30 * DAY
    falls = ((Decimal("0.9"), BORN + DAY), (Decimal("0.25"), BORN + 5 * DAY))
    assert retention.ending(rules, memory(confidence="0.1", falls=falls)).at == BORN + 31 * DAY


def test_low_confidence_has_numbers_of_its_own_where_none_are_given():
    rules = ruleset({"retention": {"lowConfidence": {"action": "Delete"}}})
    assert retention.ending(rules, memory(confidence="0.2")).at == BORN + 30 * DAY


def test_a_rule_ends_a_memory_from_the_moment_at_which_all_of_it_holds():
    where = {"last_confirmed_at": {"lt": "now() - 30d"}, "category": {"eq": "mood"}}
    rules = ruleset(keeping(rules=[{"name": "never-confirmed", "where": where, "action": "Delete"}]))
    assert retention.ending(rules, memory()) is None
    ends = retention.ending(rules, memory(category="mood"))
    assert (ends.at, ends.by) == (BORN + 30 * DAY + TICK, "MemoryPolicy/p0/never-confirmed")
    again = memory(category="mood", confirmed_at=BORN + DAY)
    assert retention.ending(rules, again).at == BORN + 31 * DAY + TICK


def test_an_audit_policy_ends_nothing_and_a_selector_says_what_is_meant():
    assert retention.ending(ruleset({"mode": "Audit", **keeping(ttl="1d")}), memory()) is None
    assert retention.ending(ruleset({"selector": {"domains": ["other"]}, **keeping(ttl="1d")}), memory()) is None


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"ttl": "7 days"}, "spec.retention.ttl"),
        ({"ttl": "7d", "permanentUntilRevoked": True}, "spec.retention.permanentUntilRevoked"),
        ({"lowConfidence": {"below": 2}}, "spec.retention.lowConfidence.below"),
        ({"lowConfidence": {"action": "Hide"}}, "spec.retention.lowConfidence.action"),
        ({"rules": []}, "spec.retention.rules"),
        ({"rules": [{"name": "a", "action": "Delete"}]}, "spec.retention.rules[0].where"),
        (
            {"rules": [{"name": "a", "action": "Delete", "where": {"created_at": {"gt": "now() - 1d"}}}]},
            "spec.retention.rules[0].where.created_at.gt",
        ),
        (
            {"rules": [{"name": "a", "action": "Delete", "where": {"content": {"eq": "x"}}}]},
            "spec.retention.rules[0].where.content",
        ),
        ({"for": "7d"}, "spec.retention.for"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_path(said, path):
    resource = Resource(kind="MemoryPolicy", namespace="w", name="p", spec=keeping(**said))
    (verdict,) = compile_ruleset([resource], StoreDefaults(), workspace="w").verdicts.values()
    assert path in [each.path for each in verdict.problems]


def test_a_policy_with_retention_names_no_roles():
    resource = Resource(
        kind="MemoryPolicy", namespace="w", name="p", spec={"selector": {"roles": ["lead"]}, **keeping(ttl="7d")}
    )
    (verdict,) = compile_ruleset([resource], StoreDefaults(), workspace="w").verdicts.values()
    assert [each.path for each in verdict.problems] == ["spec.selector.roles"]


def test_a_plan_counts_what_would_be_over():
    old, young = memory(), replace(memory(), id="n", created_at=BORN + 9 * DAY)
    found = plan.impact(ruleset(), ruleset(keeping(ttl="7d")), [old, young], BORN + 10 * DAY)
    assert found.counts["wouldExpire"] == 1
    assert [(each.memory, each.reason) for each in found.sample] == [("m", "MemoryPolicy/p0: ttl")]


retentions = st.sampled_from(
    [
        keeping(ttl="7d"),
        keeping(ttl="30d"),
        keeping(permanentUntilRevoked=True),
        keeping(lowConfidence={"below": 0.5, "for": "2d"}),
        keeping(rules=[{"name": "r", "action": "Delete", "where": {"last_confirmed_at": {"lte": "now() - 5d"}}}]),
        keeping(rules=[{"name": "r", "action": "Delete", "where": {"confirmed": {"eq": False}}}]),
    ]
)
memories = st.builds(
    memory,
    confidence=st.sampled_from(["0.1", "0.499", "0.5", "1"]),
    held=st.booleans(),
    delete_at=st.none() | st.sampled_from([BORN, BORN + 3 * DAY]),
    confirmed_at=st.none() | st.sampled_from([BORN, BORN + 4 * DAY]),
)
clocks = st.integers(0, 40 * 86_400).map(lambda seconds: BORN + timedelta(seconds=seconds))


@given(st.lists(retentions, max_size=3), memories, clocks, clocks)
def test_what_has_ended_stays_ended_at_any_clock(specs, each, one, other):
    rules, (early, late) = ruleset(*specs), sorted((one, other))
    assert retention.is_over(rules, each, early) <= retention.is_over(rules, each, late)
    assert retention.ending(rules, each) == retention.ending(rules, each)
    ends = retention.ending(rules, each)
    if ends is not None:
        assert retention.is_over(rules, each, ends.at)
        assert not retention.is_over(rules, each, ends.at - TICK)


@given(st.lists(retentions, max_size=3), retentions, memories, clocks)
def test_one_more_retention_keeps_nothing_longer_and_a_hold_keeps_everything(specs, more, each, clock):
    fewer, all_of_them = ruleset(*specs), ruleset(*specs, more)
    assert retention.is_over(fewer, each, clock) <= retention.is_over(all_of_them, each, clock)
    assert not retention.is_over(ruleset(*specs, more, keeping(legalHold=True)), each, clock)


@given(st.lists(retentions, max_size=2), st.lists(st.just(keeping(legalHold=True)) | retentions, max_size=3), memories)
def test_no_namespace_prolongs_what_the_floor_ends(floor, own, each):
    alone, both = (retention.ending(rules, each) for rules in (layered(floor, []), layered(floor, own)))
    if alone is not None and alone.by != "delete_at":
        assert both is not None
        assert both.at <= alone.at
