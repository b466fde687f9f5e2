"""Reads what a policy says of sources, of feedback, and of the source of truth."""

from typing import Final

from memwarden_policy import bounds, globs, ruling
from memwarden_policy.attributes import Matter
from memwarden_policy.model import SourceKind
from memwarden_policy.rules import Detection, FeedbackNumbers, Protection, Provenance, SourceOfTruth
from memwarden_policy.shapes import Node

PROVENANCE_FIELDS: Final = ("trust", "allowedSources", "blockedSources", "protect")
PROTECTION_FIELDS: Final = ("statedBy", "from")
FEEDBACK_FIELDS: Final = ("confirm", "reject", "edit", "onReject")
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


def _detection(node: Node) -> Detection:
    node.knows(*DETECTION_FIELDS)
    node.require("category")
    if not node.has("when") and not node.has("where"):
        node.problem("when", "Required", "say by `when` or `where` how the category is known")
    category = node.text("category", bounds.CATEGORY_LENGTH_MAX) or ""
    return Detection(category=category, condition=ruling.condition(node, Matter.CANDIDATE))
