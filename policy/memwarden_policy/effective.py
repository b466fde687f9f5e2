"""The effective policy of a caller: what it may do, and which rules speak of what it does, layer by layer."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memwarden_policy.access import Rights, rights
from memwarden_policy.expressions import Expression
from memwarden_policy.globs import any_matches
from memwarden_policy.model import Access, Caller, Point
from memwarden_policy.rules import Condition, Policy
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.structured import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveRule:
    """One rule, as its author wrote it."""

    name: str
    action: str
    condition: str  # "always", where it has none.


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePolicy:
    """One policy that speaks of what this caller does."""

    layer: str  # "floor" or "namespace".
    policy: str
    priority: int
    mode: str
    domains: tuple[str, ...]  # Empty: all.
    memory_types: tuple[str, ...]
    categories: tuple[str, ...]
    roles: tuple[str, ...]
    rules: dict[str, tuple[EffectiveRule, ...]]  # By point.
    says: tuple[str, ...]  # Beside its rules: provenance, feedback, sourceOfTruth, retention, redaction.


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """All that holds for a caller, in the order in which it is asked."""

    caller: str
    principal: str | None
    roles: tuple[str, ...]
    may_claim: tuple[str, ...]
    on_behalf_of: tuple[str, ...]
    access: tuple[tuple[str, str], ...]  # Globs of domains with what is granted there.
    access_here: str | None  # None: no domain was asked about.
    admission_default: str
    policies: tuple[EffectivePolicy, ...]

    def as_json(self) -> dict[str, Any]:
        """Return a form for machines."""
        return asdict(self) | {"access": [{"domains": glob, "access": access} for glob, access in self.access]}


def explain(ruleset: Ruleset, caller: Caller, now: datetime, domain: str | None = None) -> Effective:
    """Return what holds for the caller; with `domain`, only the policies that can speak there."""
    held = rights(ruleset, caller, now)
    speaking = [each for each in ruleset.policies if _concerns(each, held, domain)]
    ordered = sorted(speaking, key=lambda each: (not each.is_floor, -each.priority, each.address))
    return Effective(
        caller=caller.actor,
        principal=caller.principal,
        roles=tuple(sorted(held.roles)),
        may_claim=tuple(sorted(held.may_claim)),
        on_behalf_of=tuple(sorted(glob.pattern for glob in held.on_behalf_of)),
        access=_access(held),
        access_here=held.access(domain).value if domain is not None else None,
        admission_default=ruleset.store.admission_default.value,
        policies=tuple(_shown(each) for each in ordered),
    )


def _concerns(policy: Policy, held: Rights, domain: str | None) -> bool:
    selector = policy.selector
    if selector.roles and selector.roles.isdisjoint(held.roles):
        return False
    return domain is None or not selector.domains or any_matches(selector.domains, domain)


def _access(held: Rights) -> tuple[tuple[str, str], ...]:
    granted = {(glob.pattern, access.value) for glob, access in held.granted}
    open_reads = {("**", Access.READ.value)} if held.reads_openly else set()
    return tuple(sorted(granted | open_reads))


def _shown(policy: Policy) -> EffectivePolicy:
    selector, provenance = policy.selector, policy.provenance
    beside = {
        "provenance": provenance.trust or provenance.allowed or provenance.blocked or provenance.protections,
        "feedback": policy.feedback,
        "sourceOfTruth": policy.truth,
        "retention": policy.retention,
        "redaction": policy.redaction,
    }
    return EffectivePolicy(
        layer="floor" if policy.is_floor else "namespace",
        policy=policy.address,
        priority=policy.priority,
        mode="Audit" if policy.is_audit else "Enforce",
        domains=_patterns(selector.domains),
        memory_types=tuple(sorted(selector.memory_types)),
        categories=_patterns(selector.categories),
        roles=tuple(sorted(selector.roles)),
        rules={point.value: _rules(policy, point) for point in Point if policy.rules.get(point)},
        says=tuple(name for name, what in beside.items() if what),
    )


def _patterns(globs: Iterable[Any]) -> tuple[str, ...]:
    return tuple(glob.pattern for glob in globs)


def _rules(policy: Policy, point: Point) -> tuple[EffectiveRule, ...]:
    return tuple(
        EffectiveRule(name=rule.name, action=rule.action.value, condition=_condition(rule.condition))
        for rule in policy.rules[point]
    )


def _condition(condition: Condition) -> str:
    if isinstance(condition, Expression):
        return " ".join(condition.text.split())
    return condition.shown if isinstance(condition, Where) else "always"
