"""Reads the rules of a policy, at each of the four points where rules speak."""

from collections.abc import Mapping
from typing import Final

from memwarden_policy import bounds, expressions, structured
from memwarden_policy.attributes import Matter
from memwarden_policy.demands import Approver, By, Demand
from memwarden_policy.expressions import Fault
from memwarden_policy.model import Action, Change, Ordered, Point, Recall, RuleOutcome
from memwarden_policy.rules import Condition, Rule
from memwarden_policy.shapes import DOTTED_NAME, LABEL, Node, duplicates

CONDITION_FIELDS: Final = ("when", "where")
RECALL_FIELDS: Final = ("name", *CONDITION_FIELDS, "action")
CHANGE_FIELDS: Final = (*RECALL_FIELDS, "question", "confirmation", "message")
ADMISSION_FIELDS: Final = (*CHANGE_FIELDS, "reference")
CONFIRMATION_FIELDS: Final = ("by", "role", "fourEyes", "expiresAfter")
FIELDS_OF: Final[Mapping[Point, tuple[str, ...]]] = {
    Point.ADMISSION: ADMISSION_FIELDS,
    Point.RECALL: RECALL_FIELDS,
    Point.UPDATE: CHANGE_FIELDS,
    Point.DELETE: CHANGE_FIELDS,
}
ACTIONS_OF: Final[Mapping[Point, type[Ordered]]] = {
    Point.ADMISSION: Action,
    Point.RECALL: Recall,
    Point.UPDATE: Change,
    Point.DELETE: Change,
}
# The actions that let something wait, and those that refuse it, by their words.
WAITING: Final = (Action.REQUIRE_CONFIRMATION.value, Action.QUARANTINE.value)
REFUSING: Final = Action.REJECT.value


def read(spec: Node, address: str, *, is_counted: bool) -> Mapping[Point, tuple[Rule, ...]]:
    """Return the rules of a policy by point; points without rules are left out."""
    found = {point: _rules(spec, point, address, is_counted=is_counted) for point in Point}
    return {point: rules for point, rules in found.items() if rules}


def _rules(spec: Node, point: Point, address: str, *, is_counted: bool) -> tuple[Rule, ...]:
    nodes = spec.nodes(point, bounds.RULES_PER_POLICY_MAX)
    rules = [_rule(node, point, address, is_counted=is_counted) for node in nodes]
    for index in duplicates(rules, lambda rule: rule.name):
        if rules[index].name:
            nodes[index].problem("name", "Duplicate", f"a rule named `{rules[index].name}` stands before this one")
    return tuple(rules)


def _rule(node: Node, point: Point, address: str, *, is_counted: bool) -> Rule:
    node.knows(*FIELDS_OF[point])
    node.require("name")
    node.require("action")
    name = node.matching("name", LABEL, bounds.RULE_NAME_MAX) or ""
    kind = ACTIONS_OF[point]
    action = node.word("action", kind) or max(kind)
    outcome = RuleOutcome(
        policy=address,
        rule=name,
        action=action,
        counted=is_counted,
        message=_line(node, "message", bounds.MESSAGE_LENGTH_MAX),
        demand=_demand(node),
        reference=node.flag("reference", default=False),
    )
    _judge_extras(node, action)
    matter = Matter.CANDIDATE if point is Point.ADMISSION else Matter.MEMORY
    return Rule(name=name, action=action, condition=condition(node, matter), outcome=outcome)


def _judge_extras(node: Node, action: Ordered) -> None:
    """Report what does not go with the action."""
    for name in ("question", "confirmation"):
        if node.has(name) and action.value not in WAITING:
            node.problem(name, "NotApplicable", f"`{name}` goes with an action that waits: {' or '.join(WAITING)}")
    if node.has("message") and action.value != REFUSING:
        node.problem("message", "NotApplicable", f"`message` goes with the action {REFUSING}")
    if node.has("reference") and action.value == REFUSING:
        node.problem("reference", "NotApplicable", f"`reference` says how to keep, and {REFUSING} keeps nothing")


def _demand(node: Node) -> Demand | None:
    question = _line(node, "question", bounds.QUESTION_LENGTH_MAX)
    inner = node.node("confirmation")
    inner.knows(*CONFIRMATION_FIELDS)
    by = inner.word("by", By)
    role = inner.matching("role", DOTTED_NAME, bounds.ROLE_NAME_MAX)
    if (by is By.ROLE) != inner.has("role"):
        inner.problem("role", "Conflict", "`role` goes with `by: Role`, and with no other")
    if node.has("confirmation") and not inner.values:
        node.problem("confirmation", "Empty", f"say one of {', '.join(CONFIRMATION_FIELDS)}, or leave it out")
    demand = Demand(
        by=Approver(kind=by, role=role or "") if by else None,
        four_eyes=inner.flag("fourEyes", default=False),
        expires_after=inner.duration("expiresAfter"),
        question=question,
    )
    return demand if question or inner.values else None


def _line(node: Node, name: str, longest: int) -> str:
    """Read a text for people: one line."""
    text = node.text(name, longest) or ""
    if not text.isprintable():
        node.problem(name, "InvalidText", "expected one line without control characters")
    return text


def condition(node: Node, matter: Matter) -> Condition:
    """Read `when` or `where`; neither of them always matches."""
    if node.has("when") and node.has("where"):
        node.problem("", "Conflict", "write `when` or `where`, not both")
        return None
    if node.has("where"):
        return _where(node, matter)
    # An expression may be longer than its bound allows: the compiler says so in its own words.
    text = node.text("when", 2**31)
    if text is None:
        return None
    expression = expressions.compiled(text, matter)
    if not isinstance(expression, Fault):
        return expression
    node.problem("when", expression.reason, expression.message)
    return None


def _where(node: Node, matter: Matter) -> Condition:
    where = structured.compiled(node.values["where"], node.at("where"), matter)
    if isinstance(where, structured.Where):
        return where
    for problem in where:
        node.findings.add(problem.path, problem.reason, problem.message)
    return None
