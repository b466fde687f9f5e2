"""Finds rules that can never match: comparisons that exclude one another, or the selector of their own policy."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from memwarden_policy.attributes import Type
from memwarden_policy.globs import Glob, any_matches
from memwarden_policy.model import Problem
from memwarden_policy.rules import Policy, Selector
from memwarden_policy.structured import Comparison, Moment, Where

# Moments that count from now are compared as they stand at this one; fixed ones are not compared with them.
SOME_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def impossible(policy: Policy) -> Iterator[Problem]:
    """Return a note on each rule of a policy for which it is certain that nothing matches it."""
    for point, index, rule in policy.all_rules:
        if isinstance(rule.condition, Where):
            why = _why(rule.condition, policy.selector)
            if why:
                yield Problem(
                    path=f"spec.{point}[{index}].where", reason="NeverMatches", message=f"never matches: {why}"
                )


def _why(where: Where, selector: Selector) -> str:
    by_name: dict[str, list[Comparison]] = defaultdict(list)
    for each in where.comparisons:
        by_name[each.attribute.short_name].append(each)
    for name, comparisons in by_name.items():
        if _exclude_one_another(comparisons):
            return f"no {name} fulfils all of its comparisons"
        chosen = _choices(comparisons)
        if chosen is not None and not _selected(selector, name, chosen):
            return f"the selector of this policy leaves out every such {name}"
    return ""


def _exclude_one_another(comparisons: Sequence[Comparison]) -> bool:
    kind = comparisons[0].attribute.type
    if kind is Type.BOOL:
        wanted = {each.operand if each.operator == "eq" else not each.operand for each in comparisons}
        return len(wanted) > 1
    chosen = _choices(comparisons)
    if chosen is not None:
        return not chosen
    if kind is Type.STRING:
        return False
    return any(_span(group).is_empty for group in _comparable(comparisons))


def _choices(comparisons: Sequence[Comparison]) -> set[Any] | None:
    """Return the values that are left, where `eq` or `in` names them; None where they are too many to name."""
    named = [_named(each) for each in comparisons if each.operator in ("eq", "in")]
    if not named:
        return None
    left = set.intersection(*(set(each) for each in named))
    # The comparisons hold of a value as they would of the attribute.
    return {value for value in left if all(_holds(each, value) for each in comparisons)}


def _named(comparison: Comparison) -> Collection[Any]:
    return comparison.operand if comparison.operator == "in" else (comparison.operand,)


def _holds(comparison: Comparison, value: Any) -> bool:
    return comparison.compare(value, comparison.operand)


def _selected(selector: Selector, name: str, chosen: Collection[Any]) -> bool:
    """Say whether the selector lets one of these values through."""
    globs: dict[str, Sequence[Glob]] = {"domain": selector.domains, "category": selector.categories}
    if name == "memory_type" and selector.memory_types:
        return any(value in selector.memory_types for value in chosen)
    if globs.get(name):
        return any(any_matches(globs[name], value) for value in chosen)
    return True


@dataclass(slots=True)
class _Span:
    """What is left between the bounds of an attribute."""

    least: Any
    most: Any
    is_open: bool  # True: one of the ends that may meet is left out.

    @property
    def is_empty(self) -> bool:
        if self.least is None or self.most is None:
            return False
        return bool(self.least > self.most) or (bool(self.least == self.most) and self.is_open)


def _comparable(comparisons: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Return the comparisons in groups that stand on one line: numbers, fixed moments, moments counted from now."""
    moving = [each for each in comparisons if isinstance(each.operand, Moment) and each.operand.fixed is None]
    yield moving
    yield [each for each in comparisons if each not in moving]


def _span(comparisons: Sequence[Comparison]) -> _Span:
    lower = [(_place(each), each.operator == "gt") for each in comparisons if each.operator in ("gt", "gte")]
    upper = [(_place(each), each.operator == "lt") for each in comparisons if each.operator in ("lt", "lte")]
    if comparisons and comparisons[0].attribute.type is Type.DOUBLE:
        lower.append((Decimal(0), False))
        upper.append((Decimal(1), False))
    # Of equal bounds the one that leaves its end out is the narrower.
    least = max(lower, default=(None, False))
    most = min(upper, key=lambda each: (each[0], not each[1]), default=(None, False))
    return _Span(least=least[0], most=most[0], is_open=least[1] or most[1])


def _place(comparison: Comparison) -> Any:
    operand = comparison.operand
    return operand.at(SOME_MOMENT) if isinstance(operand, Moment) else operand
