"""The graph of episodes: what is said around a row is part of what it means, less the farther away it was said.

The edges are the order in which an episode was written: a row hears at most four rows back and three on. What crosses
them are occurrences of words and closeness of meanings, of rows that the reader may see, and only when the question is
asked: a row that is hidden, superseded or erased says nothing through its neighbours."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BEFORE = (0.6, 0.4, 0.3, 0.2)  # how much of the row before is heard, of the one before that, ...
AFTER = (0.3, 0.2, 0.1)
# A row of no episode hears nobody, and would lose to any talk about its subject, whose words are heard again and again.
# It says on purpose what it says: each of its words counts as often as one that half the surroundings repeat.
TIMES_A_LONE_ROW_IS_HEARD = 2.0
# How alike two neighbours are, on average: so long is the sum of their vectors, which therefore need not be read.
LIKENESS_OF_NEIGHBOURS = 0.35

Place = tuple[str, int]  # an episode ("": none), and a position in it
_HEARD_FROM = (
    *((on, weight) for on, weight in enumerate(BEFORE, 1)),
    *((-on, weight) for on, weight in enumerate(AFTER, 1)),
)


def surroundings(place: Place) -> tuple[Place, ...]:
    """Return the places that a row hears: gathered with every likely row."""
    episode, position = place
    return tuple((episode, position - step) for step, _ in _HEARD_FROM) if episode else ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Who hears whom among gathered rows, by their index."""

    listeners: tuple[tuple[tuple[int, float], ...], ...]  # of each row: who hears it, and how much of it
    previous: tuple[int | None, ...]  # the row just before; None: none was gathered
    shares: tuple[float, ...]  # of each row: 1 for itself and what it hears
    squares: tuple[float, ...]  # the same, each share squared

    def spread(self, numbers: Iterable[tuple[int, float]]) -> dict[int, float]:
        """Return, for each row that has a number or hears of one, the sum of what it has and hears."""
        total: dict[int, float] = {}
        for index, number in numbers:
            total[index] = total.get(index, 0.0) + number
            for listener, share in self.listeners[index]:
                total[listener] = total.get(listener, 0.0) + share * number
        return total

    def mean(self, numbers: Sequence[float]) -> list[float]:
        """Return the mean of what each row has and hears, by share."""
        sums = self.spread(enumerate(numbers))
        return [sums[at] / share for at, share in enumerate(self.shares)]

    def closeness(self, numbers: Sequence[float]) -> list[float]:
        """Return how close each row's vector, with those it hears added, is to the question: from the cosines alone."""
        sums = self.spread(enumerate(numbers))
        lengths = (
            math.sqrt(square + LIKENESS_OF_NEIGHBOURS * (share * share - square))
            for share, square in zip(self.shares, self.squares, strict=True)
        )
        return [sums[at] / length for at, length in enumerate(lengths)]


def graph(places: Sequence[Place]) -> Graph:
    """Join rows by their places."""
    at = {place: index for index, place in enumerate(places) if place[0]}
    listeners = tuple(_listeners(place, at) for place in places)
    shares, squares = [1.0] * len(places), [1.0] * len(places)
    for heard in listeners:
        for listener, share in heard:
            shares[listener] += share
            squares[listener] += share * share
    previous = tuple(at.get((episode, position - 1)) if episode else None for episode, position in places)
    return Graph(listeners, previous, tuple(shares), tuple(squares))


def _listeners(place: Place, at: Mapping[Place, int]) -> tuple[tuple[int, float], ...]:
    episode, position = place
    if not episode:
        return ()
    found = [(at.get((episode, position + step)), share) for step, share in _HEARD_FROM]
    return tuple((index, share) for index, share in found if index is not None)
