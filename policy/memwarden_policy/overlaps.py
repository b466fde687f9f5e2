"""Notes on policies that provably overlap and disagree: information for both authors, no reason to refuse."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Final

from memwarden_policy import bounds
from memwarden_policy.globs import Glob
from memwarden_policy.model import Problem
from memwarden_policy.rules import Policy, Rule, Selector

# Selectors compared with one another in one ruleset, and globs of each: beyond, an overlap goes unnoticed.
COMPARISONS_MAX: Final = 20_000
GLOBS_COMPARED_MAX: Final = 8

Place = tuple[Policy, int, Rule]


def notes_on(policies: Iterable[Policy]) -> Mapping[str, tuple[Problem, ...]]:
    """Return the notes of each policy, by its address.

    Two rules disagree where priority and condition are the same, the selectors have a candidate in common, and the
    actions differ.
    """
    notes: dict[str, list[Problem]] = defaultdict(list)
    for one, other in islice(_pairs(policies), COMPARISONS_MAX):
        if one[2].action is not other[2].action and overlap(one[0].selector, other[0].selector):
            _note(one, other, notes[one[0].address])
            _note(other, one, notes[other[0].address])
    return {address: tuple(found) for address, found in notes.items()}


def _pairs(policies: Iterable[Policy]) -> Iterator[tuple[Place, Place]]:
    """Return the pairs of rules of two policies that have priority and condition in common."""
    groups: dict[Hashable, list[Place]] = defaultdict(list)
    for policy in policies:
        kind = policy.address.partition("/")[0]
        for index, rule in enumerate(policy.rules if not policy.is_audit else ()):
            groups[kind, policy.priority, rule.condition].append((policy, index, rule))
    for places in groups.values():
        if len({rule.action for _, _, rule in places}) > 1:
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


def _note(mine: Place, theirs: Place, found: list[Problem]) -> None:
    """Add one note to a rule, about the first rule it disagrees with."""
    _, index, rule = mine
    policy, _, other = theirs
    path = f"spec.admission[{index}]"
    if len(found) >= bounds.NOTES_PER_OBJECT_MAX or any(note.path == path for note in found):
        return
    winner = max(rule.action, other.action)
    message = f"{policy.address}/{other.name} says {other.action} of some of the same candidates; {winner} wins"
    found.append(Problem(path=path, reason="Contradicts", message=message))
