"""BM25: how much the words of a question say about a row, given how rare they are."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from memwarden_policy.retrieval.reading import Term

SATURATION = 0.9  # k1: how soon a repeated word stops adding
LENGTH_SHARE = 0.4  # b: how much a long text has to say more to weigh the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Of the rows a reader may see, never of others: a hidden row must not move a rank."""

    rows: int
    mean_length: float  # words
    rows_with: Mapping[str, int]  # of the question's lexemes: rows that have it


def rarity(term: Term, statistics: Statistics) -> float:
    """Return the inverse document frequency of a term, whose lexemes count as one word. Always positive."""
    having = min(statistics.rows, sum(statistics.rows_with.get(lexeme, 0) for lexeme in term.lexemes))
    return math.log(1 + (statistics.rows - having + 0.5) / (having + 0.5))


def occurrences(term: Term, frequencies: Mapping[str, int]) -> int:
    """Return how often a row has a term, in the lexeme it has most of."""
    if not frequencies:
        return 0
    return max([frequencies.get(lexeme, 0) for lexeme in term.lexemes], default=0)


def saturated(count: float, relative_length: float) -> float:
    """Return the share of a word's rarity that `count` occurrences earn in a text of a length relative to the mean."""
    return count * (SATURATION + 1) / (count + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length))
