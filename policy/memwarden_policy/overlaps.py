"""Finds rules of two policies that provably overlap and disagree."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from typing import Final

from memwarden_policy.globs import Glob
from memwarden_policy.model import Point, Problem
from memwarden_policy.rules import Policy, Rule, Selector

# Selectors compared with one another in one ruleset, and globs of each: beyond, an overlap goes unnoticed.
COMPARISONS_MAX: Final = 20_000
GLOBS_COMPARED_MAX: Final = 8

Place = tuple[Policy, Point, int, Rule]


def contradictions(policies: Iterable[Policy]) -> Iterator[tuple[str, Problem]]:
    """Return notes on rules that disagree, each with the address of its policy.

    Two rules disagree where priority and condition are the same, the selectors have a candidate in common, and the
    actions differ.
    """
    for one, other in islice(_pairs(policies), COMPARISONS_MAX):
        if one[3].action is not other[3].action and overlap(one[0].selector, other[0].selector):
            yield one[0].address, _note(one, other)
            yield other[0].address, _note(other, one)


def _pairs(policies: Iterable[Policy]) -> Iterator[tuple[Place, Place]]:
    """Return the pairs of rules of two policies that have point, priority and condition in common."""
    groups: dict[Hashable, list[Place]] = defaultdict(list)
    for policy in policies:
        for point, index, rule in policy.all_rules if not policy.is_audit else ():
            groups[policy.is_floor, policy.priority, point, rule.condition].append((policy, point, index, rule))
    for places in groups.values():
        if len({place[3].action for place in places}) > 1:
            yield from ((one, other) for one, other in combinations(places, 2) if one[0] is not other[0])


def overlap(one: Selector, other: Selector) -> bool:
    """Say whether a candidate is known that both selectors cover."""
    return (
        _share(one.memory_types, other.memory_types)
        and _share(one.roles, other.roles)
        and _globs_share(one.domains, other.domains)
        and _globs_share(one.categories, other.categories)
    )


def _share(one: frozenset[str], other: frozenset[str]) -> bool:
    return not one or not other or not one.isdisjoint(other)


def _globs_share(one: Sequence[Glob], other: Sequence[Glob]) -> bool:
    if not one or not other:
        return True
    pairs = product(one[:GLOBS_COMPARED_MAX], other[:GLOBS_COMPARED_MAX])
    return any(left.matches(right.example) or right.matches(left.example) for left, right in pairs)


def _note(mine: Place, theirs: Place) -> Problem:
    policy, point, _, other = theirs
    winner = max(mine[3].action, other.action)
    what = "candidates" if point is Point.ADMISSION else "memories"
    message = f"{policy.address}/{other.name} says {other.action} of some of the same {what}; {winner} wins"
    return Problem(path=f"spec.{point}[{mine[2]}]", reason="Contradicts", message=message)
