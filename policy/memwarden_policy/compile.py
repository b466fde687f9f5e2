"""Compiles the objects of a workspace into a ruleset, with a verdict on each; a bad one is left out, nothing raises."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memwarden_policy import bounds, domains, granting, policies
from memwarden_policy.digest import retention_digest
from memwarden_policy.grants import Grant, Grants
from memwarden_policy.model import Kind, Resource, ResourceKey, StoreDefaults, Verdict
from memwarden_policy.notes import notes_on
from memwarden_policy.records import Domain
from memwarden_policy.rules import Policy
from memwarden_policy.ruleset import Ruleset, layered
from memwarden_policy.selection import Index
from memwarden_policy.shapes import Findings

OVER_THE_BOUNDS: Final = {
    "objects": ("TooManyObjects", f"{bounds.OBJECTS_PER_WORKSPACE_MAX} policies and grants"),
    "rules": ("TooManyRules", f"{bounds.RULES_PER_WORKSPACE_MAX} rules"),
    "cost": ("TooExpensive", f"conditions and globs that cost {bounds.COST_PER_WORKSPACE_MAX} together"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A ruleset of all that was accepted, and the verdict on each object that was offered."""

    ruleset: Ruleset
    verdicts: Mapping[ResourceKey, Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One object, read: what it compiled to and what is wrong with it."""

    resource: Resource
    findings: Findings
    policy: Policy | None = None  # None: a grant, a policy that is not active, or a bad object.
    grant: Grant | None = None  # None: another kind, or a bad object.
    domain: Domain | None = None  # None: another kind, or a bad object.


def compile_ruleset(resources: Sequence[Resource], store: StoreDefaults, *, workspace: str) -> Compiled:
    """Compile the policies and grants of one workspace together with the floor (its objects have no namespace)."""
    ordered = sorted(resources, key=lambda each: (each.namespace, each.kind, each.name))
    judged = [_judge(resource, workspace) for resource in ordered]
    _refuse_twins(judged)
    _refuse_what_is_over_the_bounds(judged)
    accepted = [each for each in judged if not each.findings.problems]
    in_force = [each.policy for each in accepted if each.policy is not None]
    notes = notes_on(in_force)
    verdicts = {
        each.resource.key: Verdict(
            accepted=not each.findings.problems,
            problems=tuple(each.findings.problems),
            notes=notes.get(each.policy.address, ()) if each.policy and not each.findings.problems else (),
        )
        for each in judged
    }
    ruleset = Ruleset(
        workspace=workspace,
        store=store,
        policies=tuple(in_force),
        layers=layered(in_force),
        grants=Grants(each.grant for each in accepted if each.grant is not None),
        domains=tuple(each.domain for each in accepted if each.domain is not None),
        redacting=Index(each for each in in_force if each.redaction is not None and not each.is_audit),
        retaining=Index(each for each in in_force if _retains(each)),
        retention_digest=retention_digest(
            (each.resource.key, each.resource.spec) for each in accepted if each.policy and _retains(each.policy)
        ),
    )
    return Compiled(ruleset=ruleset, verdicts=verdicts)


def _judge(resource: Resource, workspace: str) -> Judged:
    findings = Findings()
    home = "" if resource.kind == Kind.CLUSTER_MEMORY_POLICY else workspace
    if resource.namespace != home:
        wanted = f"expected namespace `{home}`" if home else "a ClusterMemoryPolicy has no namespace"
        findings.add("metadata.namespace", "WrongNamespace", f"{wanted}, found `{resource.namespace}`")
    match resource.kind:
        case Kind.MEMORY_POLICY | Kind.CLUSTER_MEMORY_POLICY:
            return Judged(resource=resource, findings=findings, policy=policies.read(resource, findings))
        case Kind.MEMORY_ACCESS_GRANT:
            return Judged(resource=resource, findings=findings, grant=granting.read(resource, findings))
        case Kind.MEMORY_DOMAIN:
            return Judged(resource=resource, findings=findings, domain=domains.read(resource, findings))
    findings.add("kind", "UnknownKind", f"`{resource.kind[:100]}` is no part of a ruleset")
    return Judged(resource=resource, findings=findings)


def _refuse_twins(judged: Sequence[Judged]) -> None:
    counts = Counter(each.resource.key for each in judged)
    for each in judged:
        if counts[each.resource.key] > 1:
            each.findings.add("metadata.name", "Duplicate", "another object of this kind has the same name")


def _refuse_what_is_over_the_bounds(judged: Sequence[Judged]) -> None:
    """Refuse the last objects in order of name, the floor first: the same ones on every replica."""
    room = Counter(
        objects=bounds.OBJECTS_PER_WORKSPACE_MAX,
        rules=bounds.RULES_PER_WORKSPACE_MAX,
        cost=bounds.COST_PER_WORKSPACE_MAX,
    )
    for each in judged:
        if each.findings.problems:
            continue
        needed = Counter(objects=1, rules=each.policy.size if each.policy else 0, cost=_cost(each))
        short = [name for name in room if needed[name] > room[name]]
        if short:
            reason, limit = OVER_THE_BOUNDS[short[0]]
            each.findings.add("", reason, f"a workspace holds at most {limit}, counted in order of name")
        else:
            room.subtract(needed)


def _retains(policy: Policy) -> bool:
    return policy.retention is not None and not policy.is_audit


def _cost(judged: Judged) -> int:
    part = judged.policy or judged.grant
    return part.cost if part else 0
