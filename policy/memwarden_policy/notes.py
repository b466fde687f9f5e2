"""Notes on policies: what provably contradicts, is silenced, or never matches. Information, no reason to refuse."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from memwarden_policy import bounds
from memwarden_policy.impossible import impossible
from memwarden_policy.model import Problem
from memwarden_policy.overlaps import contradictions
from memwarden_policy.rules import Policy
from memwarden_policy.shadows import shadowed


def notes_on(policies: Iterable[Policy]) -> Mapping[str, tuple[Problem, ...]]:
    """Return the notes of each policy, by its address: at most one on a rule, the first that is found."""
    held = tuple(policies)
    notes: dict[str, dict[str, Problem]] = defaultdict(dict)
    for address, note in chain(_impossible(held), contradictions(held), shadowed(held)):
        mine = notes[address]
        if len(mine) < bounds.NOTES_PER_OBJECT_MAX:
            mine.setdefault(note.path, note)
    return {address: tuple(found.values()) for address, found in notes.items()}


def _impossible(policies: Iterable[Policy]) -> Iterator[tuple[str, Problem]]:
    return ((policy.address, note) for policy in policies for note in impossible(policy))
