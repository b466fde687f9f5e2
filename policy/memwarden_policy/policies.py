"""Reads the spec of a MemoryPolicy or ClusterMemoryPolicy into a compiled policy."""

from typing import Final

from memwarden_policy import bounds, globs, retaining, ruling, sourcing
from memwarden_policy.model import Kind, MemoryType, Mode, Resource
from memwarden_policy.rules import Policy, Selector
from memwarden_policy.shapes import DOTTED_NAME, LABEL, Findings, Node

# A policy without any of these says nothing.
SAYING: Final = (
    "admission",
    "recall",
    "update",
    "delete",
    "provenance",
    "feedback",
    "sourceOfTruth",
    "retention",
    "redaction",
)
FIELDS: Final = ("priority", "mode", "active", "selector", *SAYING)
SELECTOR_FIELDS: Final = ("domains", "memoryTypes", "categories", "roles")


def read(resource: Resource, findings: Findings) -> Policy | None:
    """Return the policy, or None where it is not active. With problems in `findings` the answer means nothing."""
    spec = Node("spec", resource.spec, findings)
    is_floor = resource.kind == Kind.CLUSTER_MEMORY_POLICY
    spec.knows(*FIELDS, *(() if is_floor else ("storeRef",)))
    read_store_reference(spec)
    address = f"{resource.kind}/{resource.name}"
    is_audit = spec.word("mode", Mode) is Mode.AUDIT
    policy = Policy(
        address=address,
        priority=spec.whole("priority", bounds.PRIORITY_MIN, bounds.PRIORITY_MAX),
        is_audit=is_audit,
        selector=_selector(spec.node("selector")),
        rules=ruling.read(spec, address, is_counted=not is_audit),
        provenance=sourcing.provenance(spec.node("provenance")),
        feedback=sourcing.feedback(spec.node("feedback")),
        truth=sourcing.truth(spec.node("sourceOfTruth")),
        retention=retaining.retention(spec.node("retention")),
        redaction=sourcing.redaction(spec.node("redaction")),
    )
    retaining.judge_selector(spec.node("selector"), spec.node("retention"))
    is_active = spec.flag("active", default=True)
    if is_active and not any(spec.values.get(name) for name in SAYING):
        message = f"add a rule to `admission`, or one of {', '.join(SAYING[1:])}, or set `active` to false"
        spec.problem("admission", "SaysNothing", message)
    return policy if is_active else None


def read_store_reference(spec: Node) -> None:
    """Judge `storeRef`; the core itself has no use for it."""
    reference = spec.node("storeRef")
    if spec.has("storeRef"):
        reference.knows("namespace", "name")
        reference.require("name")
        reference.matching("name", DOTTED_NAME, bounds.NAME_MAX)
        reference.matching("namespace", LABEL, bounds.NAMESPACE_MAX)


def _selector(node: Node) -> Selector:
    node.knows(*SELECTOR_FIELDS)
    domains = node.texts("domains", bounds.SELECTOR_DOMAINS_MAX, bounds.DOMAIN_LENGTH_MAX)
    categories = node.texts("categories", bounds.SELECTOR_CATEGORIES_MAX, bounds.CATEGORY_LENGTH_MAX)
    memory_types = node.words("memoryTypes", MemoryType, bounds.SELECTOR_MEMORY_TYPES_MAX)
    return Selector(
        domains=tuple(globs.compiled(each) for each in domains),
        memory_types=frozenset(memory_types),
        categories=tuple(globs.compiled(each) for each in categories),
        roles=frozenset(node.texts("roles", bounds.SELECTOR_ROLES_MAX, bounds.ROLE_NAME_MAX)),
    )
