"""Outlines for people: the effective policy of a caller, and the impact of a plan."""

from collections.abc import Iterator, Mapping
from typing import Any

from memwarden_policy.effective import Effective, EffectivePolicy

EVERYTHING = "everything"


def effective(shown: Effective) -> str:
    """Return rights first, then the policies in the order in which they speak."""
    return "\n".join(_effective(shown))


def _effective(shown: Effective) -> Iterator[str]:
    acting = f" on behalf of {shown.principal}" if shown.principal else ""
    yield f"{shown.caller}{acting}"
    yield f"  roles: {_listed(shown.roles)}"
    yield f"  access: {_listed(f'{access} in {glob}' for glob, access in shown.access)}"
    if shown.access_here is not None:
        yield f"  access here: {shown.access_here}"
    yield f"  may claim: {_listed(shown.may_claim)}"
    yield f"  may act for: {_listed(shown.on_behalf_of)}"
    for layer in ("floor", "namespace"):
        yield ""
        yield f"{layer}:"
        policies = [each for each in shown.policies if each.layer == layer]
        for policy in policies:
            yield from _policy(policy)
        if not policies:
            yield "  no policy"
    yield ""
    yield f"where no rule of the namespace matches: {shown.admission_default}"


def _policy(policy: EffectivePolicy) -> Iterator[str]:
    trial = ", on trial" if policy.mode == "Audit" else ""
    yield f"  {policy.policy} (priority {policy.priority}{trial}): {_selected(policy)}"
    for point, rules in policy.rules.items():
        for rule in rules:
            yield f"    {point} {rule.name}: {rule.action} when {rule.condition}"
    if policy.says:
        yield f"    and {_listed(policy.says)}"


def _selected(policy: EffectivePolicy) -> str:
    parts = {
        "domains": policy.domains,
        "memory types": policy.memory_types,
        "categories": policy.categories,
        "roles": policy.roles,
    }
    named = [f"{name} {_listed(words)}" for name, words in parts.items() if words]
    return "; ".join(named) or EVERYTHING


def impact(found: Mapping[str, Any]) -> str:
    """Return the counts that are not zero, and the sample."""
    counts = {name: count for name, count in found["counts"].items() if count}
    lines = [f"{found['memories']} memories looked at"]
    lines += [f"  {name}: {count}" for name, count in counts.items()] or ["  nothing changes"]
    if found["sample"]:
        lines += ["for example:"]
    lines += [f"  {each['count']}: {each['memory']} in {each['domain']}: {each['reason']}" for each in found["sample"]]
    return "\n".join(lines)


def _listed(words: Any) -> str:
    return ", ".join(words) or "none"
