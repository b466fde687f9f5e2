"""Maximal marginal relevance: five wordings of one fact do not push out four others."""

from collections.abc import Callable, Sequence
from typing import TypeVar

RELEVANCE_SHARE = 0.6
# Two rows that share less than this are about different things, and neither stands in the other's way.
LIKENESS_MIN = 0.5
DIVERSIFIED_MAX = 30  # hits: three pages of ten; those after them keep their order

Item = TypeVar("Item")


def diversified(
    hits: Sequence[Item], relevance: Callable[[Item], float], alike: Callable[[Item, Item], float]
) -> list[Item]:
    """Return the hits, best first, each weighed against those already chosen. Relevance is at most 1, sorted."""
    left, rest = list(hits[:DIVERSIFIED_MAX]), list(hits[DIVERSIFIED_MAX:])
    chosen: list[Item] = []
    nearest = [0.0] * len(left)
    while left:
        best = max(range(len(left)), key=lambda at: _worth(relevance(left[at]), nearest[at]))
        taken = left.pop(best)
        nearest.pop(best)
        chosen.append(taken)
        nearest = [max(near, alike(taken, other)) for near, other in zip(nearest, left, strict=True)]
    return chosen + rest


def _worth(relevance: float, nearest: float) -> float:
    excess = max(0.0, nearest - LIKENESS_MIN) / (1 - LIKENESS_MIN)
    return RELEVANCE_SHARE * relevance - (1 - RELEVANCE_SHARE) * excess


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of lexemes that two rows have in common (Dice), between 0 and 1."""
    size = len(one) + len(other)
    return 2 * len(one & other) / size if size else 0.0
