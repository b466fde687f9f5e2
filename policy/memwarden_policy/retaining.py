"""Reads what a policy says of retention."""

from datetime import timedelta
from decimal import Decimal
from typing import Final

from memwarden_policy import bounds, structured
from memwarden_policy.attributes import Matter
from memwarden_policy.rules import EndRule, LowConfidence, Retention
from memwarden_policy.shapes import LABEL, Node, duplicates
from memwarden_policy.structured import Comparison

FIELDS: Final = ("ttl", "permanentUntilRevoked", "lowConfidence", "legalHold", "rules")
LOW_FIELDS: Final = ("below", "for", "action")
RULE_FIELDS: Final = ("name", "where", "action")
DELETE: Final = "Delete"
LOW_BELOW: Final = Decimal("0.3")
LOW_LASTING: Final = timedelta(days=30)
# With `now()` on the right these hold from some moment on; the others would end something that was spared before.
ONWARD: Final = ("lt", "lte")
# Whom a memory is read by, and its words, end nothing.
UNASKED: Final = ("content", "value", "reason")


def retention(node: Node) -> Retention | None:
    """Read `retention`; None: the policy says nothing of it."""
    node.knows(*FIELDS)
    node.filled("rules")
    if not node.values:
        return None
    found = Retention(
        ttl=node.duration("ttl"),
        is_permanent=node.flag("permanentUntilRevoked", default=False),
        low=_low(node),
        legal_hold=node.flag("legalHold", default=False),
        rules=_rules(node),
    )
    if found.is_permanent and found.ttl is not None:
        node.problem(
            "permanentUntilRevoked", "Conflict", "`ttl` gives a term, and `permanentUntilRevoked` says there is none"
        )
    return found


def judge_selector(selector: Node, retention: Node) -> None:
    """Report a policy that would let a memory end by who holds a role."""
    if retention.values and selector.has("roles"):
        selector.problem(
            "roles", "NotApplicable", "`retention` speaks of memories, whoever proposed them: leave `roles` out"
        )


def _low(node: Node) -> LowConfidence | None:
    inner = node.node("lowConfidence")
    inner.knows(*LOW_FIELDS)
    _judge_action(inner)
    if not node.has("lowConfidence"):
        return None
    below, lasting = inner.number("below", 0, 1), inner.duration("for")
    return LowConfidence(
        below=LOW_BELOW if below is None else below, lasting=LOW_LASTING if lasting is None else lasting
    )


def _rules(node: Node) -> tuple[EndRule, ...]:
    nodes = node.nodes("rules", bounds.RETENTION_RULES_MAX)
    rules = [each for each in (_rule(one) for one in nodes) if each is not None]
    for index in duplicates(rules, lambda rule: rule.name):
        nodes[index].problem("name", "Duplicate", f"a rule named `{rules[index].name}` stands before this one")
    return tuple(rules)


def _rule(node: Node) -> EndRule | None:
    node.knows(*RULE_FIELDS)
    for name in RULE_FIELDS:
        node.require(name)
    _judge_action(node)
    name = node.matching("name", LABEL, bounds.RULE_NAME_MAX) or ""
    if not node.has("where"):
        return None
    where = structured.compiled(node.values["where"], node.at("where"), Matter.MEMORY)
    if not isinstance(where, structured.Where):
        for problem in where:
            node.findings.add(problem.path, problem.reason, problem.message)
        return None
    for each in where.comparisons:
        _judge_comparison(node, each)
    return EndRule(name=name, where=where)


def _judge_comparison(node: Node, comparison: Comparison) -> None:
    name = comparison.attribute.short_name
    if comparison.is_relative and comparison.operator not in ONWARD:
        message = "beside `now()` use lt or lte: what has ended stays ended"
        node.problem(f"where.{name}.{comparison.operator}", "InvalidOperator", message)
    if name in UNASKED or not comparison.attribute.name.startswith(f"{Matter.MEMORY}."):
        node.problem(
            f"where.{name}",
            "NotApplicable",
            f"`{name}` ends no memory: speak of what it is, not of its words or its caller",
        )


def _judge_action(node: Node) -> None:
    action = node.values.get("action")
    if action is not None and action != DELETE:
        shown = f"`{action[:100]}`" if isinstance(action, str) else "this"
        node.problem("action", "UnknownValue", f"{shown} is not {DELETE}, the one thing that retention does")
