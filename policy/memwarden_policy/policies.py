"""Reads the spec of a MemoryPolicy or ClusterMemoryPolicy into a compiled policy."""

from typing import Final

from memwarden_policy import bounds, expressions, globs, structured
from memwarden_policy.expressions import Fault
from memwarden_policy.model import Action, Kind, MemoryType, Mode, Resource, RuleOutcome
from memwarden_policy.rules import Condition, Policy, Rule, Selector
from memwarden_policy.shapes import DOTTED_NAME, LABEL, Findings, Node, duplicates

FIELDS: Final = ("priority", "mode", "active", "selector", "admission")
SELECTOR_FIELDS: Final = ("domains", "memoryTypes", "categories", "roles")
RULE_FIELDS: Final = ("name", "when", "where", "action")


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
        rules=_rules(spec, address, is_counted=not is_audit),
    )
    is_active = spec.flag("active", default=True)
    if is_active and not spec.values.get("admission"):
        spec.problem("admission", "SaysNothing", "add a rule to `admission`, or set `active` to false")
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


def _rules(spec: Node, policy: str, *, is_counted: bool) -> tuple[Rule, ...]:
    nodes = spec.nodes("admission", bounds.RULES_PER_POLICY_MAX)
    rules = [_rule(node, policy, is_counted=is_counted) for node in nodes]
    for index in duplicates(rules, lambda rule: rule.name):
        if rules[index].name:
            nodes[index].problem("name", "Duplicate", f"a rule named `{rules[index].name}` stands before this one")
    return tuple(rules)


def _rule(node: Node, policy: str, *, is_counted: bool) -> Rule:
    node.knows(*RULE_FIELDS)
    node.require("name")
    node.require("action")
    name = node.matching("name", LABEL, bounds.RULE_NAME_MAX) or ""
    action = node.word("action", Action) or Action.REJECT
    outcome = RuleOutcome(policy=policy, rule=name, action=action, counted=is_counted)
    return Rule(name=name, action=action, condition=_condition(node), outcome=outcome)


def _condition(node: Node) -> Condition:
    if node.has("when") and node.has("where"):
        node.problem("", "Conflict", "write `when` or `where`, not both")
        return None
    if node.has("where"):
        return _where(node)
    # An expression may be longer than its bound allows: the compiler says so in its own words.
    text = node.text("when", 2**31)
    if text is None:
        return None
    expression = expressions.compiled(text)
    if not isinstance(expression, Fault):
        return expression
    node.problem("when", expression.reason, expression.message)
    return None


def _where(node: Node) -> Condition:
    where = structured.compiled(node.values["where"], node.at("where"))
    if isinstance(where, structured.Where):
        return where
    for problem in where:
        node.findings.add(problem.path, problem.reason, problem.message)
    return None
