"""Finds rules that can never be heard, because an unconditional rule always speaks before or above them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from memwarden_policy.globs import Glob
from memwarden_policy.model import Point, Problem
from memwarden_policy.rules import Policy, Rule, Selector

# Pairs of policies compared in one ruleset, and globs of each: beyond, a silenced rule goes unnoticed.
COMPARISONS_MAX: Final = 20_000
GLOBS_COMPARED_MAX: Final = 16


def shadowed(policies: Iterable[Policy]) -> Iterator[tuple[str, Problem]]:
    """Return notes on rules that never decide, each with the address of its policy."""
    held = [policy for policy in policies if not policy.is_audit]
    for policy, point, loud, rule in islice(_pairs(held), COMPARISONS_MAX):
        if covers(loud.selector, policy.selector):
            yield from _notes(policy, point, loud, rule)


def _pairs(policies: Sequence[Policy]) -> Iterator[tuple[Policy, Point, Policy, Rule]]:
    """Return each policy with each policy of its layer that always speaks, and does so no later."""
    always: dict[tuple[bool, Point], list[tuple[Policy, Rule]]] = defaultdict(list)
    for policy in policies:
        for point in policy.rules:
            rule = _unconditional(policy, point)
            if rule is not None:
                always[policy.is_floor, point].append((policy, rule))
    for policy in policies:
        for point in policy.rules:
            for loud, rule in always[policy.is_floor, point]:
                if loud.priority >= policy.priority:
                    yield policy, point, loud, rule


def _unconditional(policy: Policy, point: Point) -> Rule | None:
    """Return the strictest rule that matches whatever the selector covers."""
    rules = [rule for rule in policy.rules[point] if rule.condition is None]
    return max(rules, key=lambda rule: rule.action.rank, default=None)


def _notes(policy: Policy, point: Point, loud: Policy, by: Rule) -> Iterator[tuple[str, Problem]]:
    is_above = loud.priority > policy.priority
    for index, rule in enumerate(policy.rules[point]):
        if rule is by or (not is_above and rule.action >= by.action):
            continue
        where = f"has priority {loud.priority}" if is_above else "is stricter"
        message = f"never decides: {loud.address}/{by.name} always matches there and {where}"
        yield policy.address, Problem(path=f"spec.{point}[{index}]", reason="Shadowed", message=message)


def covers(wide: Selector, narrow: Selector) -> bool:
    """Say whether it is certain that one selector covers all that the other covers."""
    return (
        _holds(wide.memory_types, narrow.memory_types)
        and _holds(wide.roles, narrow.roles)
        and _globs_cover(wide.domains, narrow.domains)
        and _globs_cover(wide.categories, narrow.categories)
    )


def _holds(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    return not wide or (bool(narrow) and narrow <= wide)


def _globs_cover(wide: Sequence[Glob], narrow: Sequence[Glob]) -> bool:
    if not wide or any(glob.is_everything for glob in wide):
        return True
    if not narrow or len(narrow) > GLOBS_COMPARED_MAX:
        return False
    return all(any(_covers(one, other) for one in wide[:GLOBS_COMPARED_MAX]) for other in narrow)


def _covers(wide: Glob, narrow: Glob) -> bool:
    if wide.pattern == narrow.pattern:
        return True
    if narrow.is_literal:
        return wide.matches(narrow.pattern)
    # `customers/**` covers every glob that begins with `customers/`.
    is_a_beginning = wide.star == "**" and wide.pattern.endswith("**")
    return is_a_beginning and narrow.pattern.partition("*")[0].startswith(wide.pattern.removesuffix("**"))
