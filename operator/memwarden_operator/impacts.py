"""What a generation of a policy does to the memories that exist, as its status says it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from memwarden_operator import conditions
from memwarden_operator.answers import Counted
from memwarden_operator.shapes import PolicyObject
from memwarden_policy.model import Kind

POLICIES: Final = (Kind.MEMORY_POLICY, Kind.CLUSTER_MEMORY_POLICY)
SHOWN: Final = (
    "wouldReject",
    "wouldQuarantine",
    "wouldRequireConfirmation",
    "wouldHide",
    "wouldFlag",
    "wouldExpire",
    "wouldRedact",
)


def of(counted: Iterable[Counted], generation: int) -> dict[str, Any]:
    """Return what a status says, given what was counted in each workspace; nothing counted: there are no memories."""
    sums: Counter[str] = Counter()
    for each in counted:
        sums.update(each.counts)
        sums["memories"] += each.memories
    return {"observedGeneration": generation, **{name: sums[name] for name in ("memories", *SHOWN)}}


def is_due(each: PolicyObject, status: Mapping[str, Any]) -> bool:
    """Say whether the generation of an object is in force by this status, and was not counted yet."""
    generation = each.resource.generation
    if each.resource.kind not in POLICIES or status.get("observedGeneration") != generation:
        return False
    is_ready = conditions.find(status, "Ready").get("status") == "True"
    return is_ready and (status.get("impact") or {}).get("observedGeneration") != generation
