"""What policies let be cut beside secrets: the strictest of all that cover a statement, and nothing without one."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from memwarden_policy import cutting, plan
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Candidate, Memory, Resource, SourceKind, StoreDefaults

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
BADGE = {"kind": "badge-number", "pattern": r"\bB-[0-9]{6}\b", "action": "Redact"}
SEALED = {"kind": "case-file", "pattern": r"\bSEALED-[0-9]+\b", "action": "Reject"}
MAIL = "Write to ada.k@mailhaus.de."


def compiled(*said, kind="MemoryPolicy", **more):
    resources = [
        Resource(
            kind=kind,
            namespace="" if kind == "ClusterMemoryPolicy" else "w",
            name=f"p{index}",
            spec={**more, "redaction": each},
        )
        for index, each in enumerate(said)
    ]
    return compile_ruleset(resources, StoreDefaults(), workspace="w")


def stated(content=MAIL, domain="d"):
    return Candidate(domain=domain, content=content, source=SourceKind.AGENT_EXTRACTED, confidence=Decimal("0.7"))


def cut(ruleset, content):
    wanted = cutting.cuts(ruleset, stated(content), frozenset())
    done = cutting.cut(content, wanted) if wanted.is_anything else None
    refused = list(cutting.refusals(wanted, done.redactions)) if done else []
    return (done.value if done else content), [each.address for each in refused]


@pytest.mark.parametrize(
    ("said", "content", "left", "refused"),
    [
        ([], MAIL, MAIL, []),
        ([{"ownerPII": "Keep"}], MAIL, MAIL, []),
        ([{"ownerPII": "Redact"}], MAIL, "Write to [REDACTED:email].", []),
        ([{"ownerPII": "Keep"}, {"ownerPII": "Redact"}], MAIL, "Write to [REDACTED:email].", []),
        (
            [{"ownerPII": "Redact"}, {"ownerPII": "Reject"}],
            MAIL,
            "Write to [REDACTED:email].",
            ["MemoryPolicy/p1/redaction.ownerPII"],
        ),
        ([{"ownerPII": "Reject"}], "Nobody's.", "Nobody's.", []),
        ([{"rules": [BADGE]}], "Badge B-123456.", "Badge [REDACTED:badge-number].", []),
        ([{"rules": [BADGE]}, {"rules": [BADGE]}], "Badge B-123456.", "Badge [REDACTED:badge-number].", []),
    ],
)
def test_the_strictest_holds(said, content, left, refused):
    assert cut(compiled(*said).ruleset, content) == (left, refused)


def test_what_is_on_trial_or_elsewhere_cuts_nothing():
    assert cut(compiled({"ownerPII": "Redact"}, mode="Audit").ruleset, MAIL)[0] == MAIL
    assert cut(compiled({"ownerPII": "Redact"}, selector={"domains": ["other"]}).ruleset, MAIL)[0] == MAIL


def test_the_floor_cuts_whatever_a_namespace_says():
    assert cut(compiled({"ownerPII": "Redact"}, kind="ClusterMemoryPolicy").ruleset, MAIL)[0] != MAIL


def test_cutting_twice_changes_nothing_more():
    ruleset = compiled({"ownerPII": "Redact", "rules": [BADGE, SEALED]}).ruleset
    once = cut(ruleset, f"{MAIL} Badge B-123456, +49 30 901820, SEALED-7.")[0]
    assert cut(ruleset, once)[0] == once
    assert "ada" not in once


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"secrets": "Never"}, "spec.redaction.secrets"),
        ({"ownerPII": "Hide"}, "spec.redaction.ownerPII"),
        ({"rules": []}, "spec.redaction.rules"),
        ({"rules": [{**BADGE, "pattern": "("}]}, "spec.redaction.rules[0]"),
        ({"rules": [{**BADGE, "pattern": ".*"}]}, "spec.redaction.rules[0]"),
        ({"rules": [{**BADGE, "kind": "email"}]}, "spec.redaction.rules[0]"),
        ({"rules": [BADGE, BADGE]}, "spec.redaction.rules[1]"),
        ({"rules": [{**BADGE, "action": "Keep"}]}, "spec.redaction.rules[0].action"),
        ({"rules": [{"kind": "x"}]}, "spec.redaction.rules[0].pattern"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_path(said, path):
    (verdict,) = compiled(said).verdicts.values()
    assert path in [each.path for each in verdict.problems]


def test_a_plan_counts_what_would_be_cut():
    memories = [Memory(id=str(n), statement=stated(text), created_at=NOW) for n, text in enumerate([MAIL, "Nothing."])]
    found = plan.impact(compiled().ruleset, compiled({"ownerPII": "Redact"}).ruleset, memories, NOW)
    assert found.counts["wouldRedact"] == 1
    assert [each.memory for each in found.sample if each.count == "wouldRedact"] == ["0"]
