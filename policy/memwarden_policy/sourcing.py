"""Reads what a policy says of sources, of feedback, and of the source of truth."""

from typing import Final

from memwarden_policy import bounds, globs, ruling
from memwarden_policy.attributes import Matter
from memwarden_policy.model import SourceKind
from memwarden_policy.redaction import CustomRule, Registry, RuleError
from memwarden_policy.redaction.model import KIND_LENGTH_MAX
from memwarden_policy.redaction.registry import CUSTOM_PATTERN_LENGTH_MAX, CUSTOM_RULES_MAX
from memwarden_policy.rules import (
    Contact,
    Detection,
    FeedbackNumbers,
    Protection,
    Provenance,
    Redacting,
    SourceOfTruth,
)
from memwarden_policy.shapes import Node

PROVENANCE_FIELDS: Final = ("trust", "allowedSources", "blockedSources", "protect")
PROTECTION_FIELDS: Final = ("statedBy", "from")
FEEDBACK_FIELDS: Final = ("confirm", "reject", "edit", "onReject")
REDACTION_FIELDS: Final = ("secrets", "ownerPII", "rules")
REDACTION_RULE_FIELDS: Final = ("kind", "pattern", "action")
ALWAYS: Final = "Always"
TRUTH_FIELDS: Final = ("categories", "detect")
DETECTION_FIELDS: Final = ("category", *ruling.CONDITION_FIELDS)


def provenance(node: Node) -> Provenance:
    """Read `provenance`."""
    node.knows(*PROVENANCE_FIELDS)
    trust = node.node("trust")
    trust.knows(*(kind.value for kind in SourceKind))
    numbers = {kind: trust.number(kind.value, 0, 1) for kind in SourceKind if trust.has(kind.value)}
    for name in ("allowedSources", "blockedSources", "protect"):
        node.filled(name)
    return Provenance(
        trust={kind: number for kind, number in numbers.items() if number is not None},
        allowed=_globs(node, "allowedSources", bounds.SOURCES_MAX, bounds.SOURCE_GLOB_LENGTH_MAX),
        blocked=_globs(node, "blockedSources", bounds.SOURCES_MAX, bounds.SOURCE_GLOB_LENGTH_MAX),
        protections=tuple(_protection(each) for each in node.nodes("protect", bounds.PROTECTIONS_MAX)),
    )


def _globs(node: Node, name: str, most: int, longest: int) -> tuple[globs.Glob, ...]:
    return tuple(globs.compiled(each) for each in node.texts(name, most, longest))


def _protection(node: Node) -> Protection:
    node.knows(*PROTECTION_FIELDS)
    node.require("statedBy")
    for name in PROTECTION_FIELDS:
        node.filled(name)
    return Protection(
        stated_by=frozenset(node.words("statedBy", SourceKind, bounds.SOURCE_KINDS_MAX)),
        against=frozenset(node.words("from", SourceKind, bounds.SOURCE_KINDS_MAX)),
    )


def feedback(node: Node) -> FeedbackNumbers | None:
    """Read `feedback`."""
    node.knows(*FEEDBACK_FIELDS)
    on_reject = node.text("onReject", bounds.NAME_MAX)
    if on_reject not in (None, "Keep", "Delete"):
        node.problem("onReject", "UnknownValue", f"`{on_reject}` is not one of Keep, Delete")
    if not node.values:
        return None
    return FeedbackNumbers(
        confirm=node.number("confirm", 0, 1),
        reject=node.number("reject", -1, 0),
        edit=node.number("edit", 0, 1),
        deletes_on_reject=on_reject == "Delete",
    )


def truth(node: Node) -> SourceOfTruth | None:
    """Read `sourceOfTruth`."""
    node.knows(*TRUTH_FIELDS)
    if not node.values:
        return None
    node.require("categories")
    node.filled("categories")
    return SourceOfTruth(
        categories=_globs(node, "categories", bounds.TRUTH_CATEGORIES_MAX, bounds.CATEGORY_LENGTH_MAX),
        detections=tuple(_detection(each) for each in node.nodes("detect", bounds.DETECTIONS_MAX)),
    )


def redaction(node: Node) -> Redacting | None:
    """Read `redaction`; None: the policy says nothing of it."""
    node.knows(*REDACTION_FIELDS)
    node.filled("rules")
    if not node.values:
        return None
    if node.values.get("secrets") not in (None, ALWAYS):
        node.problem("secrets", "UnknownValue", f"secrets are cut {ALWAYS}: a policy cannot let them through")
    found: list[CustomRule] = []
    for each in node.nodes("rules", CUSTOM_RULES_MAX):
        rule = _redaction_rule(each)
        if rule is None:
            continue
        try:
            Registry(tuple(found)).with_rules([rule])
        except RuleError as error:
            each.problem("", "InvalidRule", str(error))
        else:
            found.append(rule)
    return Redacting(contact=node.word("ownerPII", Contact) or Contact.KEEP, rules=tuple(found))


def _redaction_rule(node: Node) -> CustomRule | None:
    node.knows(*REDACTION_RULE_FIELDS)
    for name in REDACTION_RULE_FIELDS:
        node.require(name)
    kind = node.text("kind", KIND_LENGTH_MAX)
    pattern = node.text("pattern", CUSTOM_PATTERN_LENGTH_MAX)
    action = node.text("action", bounds.NAME_MAX)
    if action not in (None, Contact.REDACT, Contact.REJECT):
        node.problem("action", "UnknownValue", f"`{action}` is not one of {Contact.REDACT}, {Contact.REJECT}")
    if kind is None or pattern is None:
        return None
    return CustomRule(kind=kind, pattern=pattern, skip=action == Contact.REJECT)


def _detection(node: Node) -> Detection:
    node.knows(*DETECTION_FIELDS)
    node.require("category")
    if not node.has("when") and not node.has("where"):
        node.problem("when", "Required", "say by `when` or `where` how the category is known")
    category = node.text("category", bounds.CATEGORY_LENGTH_MAX) or ""
    return Detection(category=category, condition=ruling.condition(node, Matter.CANDIDATE))
