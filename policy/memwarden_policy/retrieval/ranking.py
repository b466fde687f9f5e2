"""Ranks the rows that search gathered: four voices, weighed by the question's intent, each hit with its reasons.

The voices: lexical (a row's own words), semantic (its own meaning), graph (words and meaning of the row and of what was
said around it), and time (the period that a question names, and recency). What else a row shows are signs: who said it,
whether it asks or answers, whether it has the words of time or the number that is asked for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from memwarden_policy.retrieval import bm25, episodes, intent
from memwarden_policy.retrieval.dates import Period
from memwarden_policy.retrieval.reading import Query, Term, without_speakers

SEEDS_PER_VOICE = 20  # likely rows of each voice, whose neighbours are gathered with them
RECENCY_HALVES_IN = 30  # days
TOLD_WITHIN = 7  # days: what happened in a period is often told in the week after it
PERIOD_FADES_IN = 5  # days
# Of reciprocal rank fusion. At 60 and with equal votes, as usual, it is worse than its best voice.
RECIPROCAL_RANK_OFFSET = 5
VOTES_OF_WORDS = 2


class Mode(StrEnum):
    """How to search."""

    KEYWORD = "keyword"  # words only
    SEMANTIC = "semantic"  # words and meaning by reciprocal rank
    HYBRID = "hybrid"  # all voices


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row the reader may see, as search gathers it. Neighbours of likely rows are gathered with them."""

    id: str
    frequencies: Mapping[str, int]  # of the question's lexemes only
    length: int  # words
    observed_on: date
    episode: str = ""  # "": belongs to none
    position: int = 0  # in its episode; neighbours differ by one
    closeness: float | None = None  # cosine with the question; None: no vector yet
    speaker: str = ""
    asks: bool = False
    tells_when: bool = False
    tells_number: bool = False
    strength: float = 1.0  # decay.strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A row with its score and what it is made of."""

    id: str
    score: float
    because: Mapping[str, float] = field(default_factory=dict)  # voice or sign: what it added before decay
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Voices:
    """What each voice says of each row; the best row of a voice has 1."""

    lexical: list[float]
    semantic: list[float]
    words: list[float]  # of the row and its neighbours
    meaning: list[float]
    period: list[float]


def rank(
    query: Query, rows: Sequence[Row], statistics: bm25.Statistics, mode: Mode, weights: intent.Weights, today: date
) -> list[Hit]:
    """Return a hit for every row, best first; rows of the same score by their id, so that pages are stable."""
    graph = episodes.graph([(row.episode, row.position) for row in rows])
    spoken = voices(query, rows, statistics, graph)
    if mode is Mode.SEMANTIC:
        columns = _reciprocal_ranks(spoken)
    else:
        weighed = intent.weights_for(query.intent, weights)
        columns = _said(spoken, weighed, mode) | signs(query, rows, graph, weighed, today)
    heard = {name: column for name, column in columns.items() if any(column)}
    totals = [max(0.0, sum(shares)) for shares in zip(*heard.values(), strict=True)] or [0.0] * len(rows)
    hits = [
        Hit(
            id=row.id,
            score=totals[at] * row.strength,
            because={name: column[at] for name, column in heard.items() if column[at]},
            strength=row.strength,
        )
        for at, row in enumerate(rows)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def voices(query: Query, rows: Sequence[Row], statistics: bm25.Statistics, graph: episodes.Graph) -> Voices:
    """Return what each voice alone says."""
    subject = without_speakers(query, frozenset(row.speaker for row in rows))
    lexical, words = _words(subject.terms, rows, statistics, graph)
    closeness = [row.closeness or 0.0 for row in rows]
    has_meaning = any(closeness)
    return Voices(
        lexical=_scaled(lexical),
        semantic=_scaled(closeness),
        words=_scaled(words),
        meaning=_scaled(graph.closeness(closeness)) if has_meaning else closeness,
        period=[nearness(row.observed_on, query.periods) for row in rows],
    )


def _words(
    terms: Sequence[Term], rows: Sequence[Row], statistics: bm25.Statistics, graph: episodes.Graph
) -> tuple[list[float], list[float]]:
    """Return BM25 over each row's own words, and over what it hears with them."""
    own_length = [row.length / (statistics.mean_length or 1.0) for row in rows]
    length = graph.mean(own_length)
    own, heard = [0.0] * len(rows), [0.0] * len(rows)
    for term, counts in _counted(terms, rows).items():
        rarity = bm25.rarity(term, statistics)
        for at, count in counts.items():
            own[at] += rarity * bm25.saturated(count, own_length[at])
        told = (
            (at, count if rows[at].episode else count * episodes.TIMES_A_LONE_ROW_IS_HEARD)
            for at, count in counts.items()
        )
        for at, total in graph.spread(told).items():
            heard[at] += rarity * bm25.saturated(total, length[at])
    return own, heard


def _counted(terms: Sequence[Term], rows: Sequence[Row]) -> dict[Term, dict[int, int]]:
    """Return for each term the rows that have it, and how often: in the lexeme that they have most of."""
    terms_with: dict[str, list[Term]] = {}
    for term in terms:
        for lexeme in term.lexemes:
            terms_with.setdefault(lexeme, []).append(term)
    found: dict[Term, dict[int, int]] = {term: {} for term in terms}
    for at, row in enumerate(rows):
        for lexeme, count in row.frequencies.items():
            for term in terms_with.get(lexeme, ()):
                found[term][at] = max(count, found[term].get(at, 0))
    return found


def _scaled(numbers: Sequence[float]) -> list[float]:
    most = max(numbers, default=0.0)
    return [max(0.0, number) / most for number in numbers] if most > 0 else [0.0] * len(numbers)


def nearness(day: date, periods: Sequence[Period]) -> float:
    """Return 1 for a day in a period or in the week after it, and less the farther from all of them."""
    return max((_nearness_of(day, period) for period in periods), default=0.0)


def _nearness_of(day: date, period: Period) -> float:
    early = max(0, (period.first - day).days)
    late = max(0, (day - period.last).days - TOLD_WITHIN)
    return math.exp(-(early * 2 + late) / PERIOD_FADES_IN)


def _said(spoken: Voices, weights: intent.Weights, mode: Mode) -> dict[str, list[float]]:
    hears_meaning = mode is Mode.HYBRID and any(spoken.semantic)
    meaning = weights.graph * weights.meaning if hears_meaning else 0.0
    words = weights.graph - meaning
    said = {
        "lexical": [weights.lexical * share for share in spoken.lexical],
        "graph": [words * word + meaning * near for word, near in zip(spoken.words, spoken.meaning, strict=True)],
    }
    if hears_meaning:
        said["semantic"] = [weights.semantic * share for share in spoken.semantic]
    if mode is Mode.HYBRID:
        said["period"] = [weights.period * share for share in spoken.period]
    return said


def signs(
    query: Query, rows: Sequence[Row], graph: episodes.Graph, weights: intent.Weights, today: date
) -> dict[str, list[float]]:
    """Return what each row's signs add, besides what it says."""
    named = {speaker: query.words.issuperset(speaker.split()) for speaker in {row.speaker for row in rows} if speaker}
    ages = (max(0, (today - row.observed_on).days) for row in rows)
    return {
        "said_by": [weights.said_by * named.get(row.speaker, False) for row in rows],
        "answers": [weights.answers * (at is not None and rows[at].asks) for at in graph.previous],
        "asks": [weights.asks * row.asks for row in rows],
        "tells_when": [weights.tells_when * row.tells_when for row in rows],
        "tells_number": [weights.tells_number * row.tells_number for row in rows],
        "recency": [weights.recency * 0.5 ** (age / RECENCY_HALVES_IN) for age in ages],
    }


def _reciprocal_ranks(spoken: Voices) -> dict[str, list[float]]:
    return {
        "words": [VOTES_OF_WORDS * vote for vote in _votes(spoken.words)],
        "meaning": _votes(spoken.meaning),
    }


def _votes(scores: Sequence[float]) -> list[float]:
    """Return the vote of each row by its place; a row of which a voice says nothing has none, equals have the same."""
    places = {score: place for place, score in reversed(list(enumerate(sorted(scores, reverse=True), 1)))}
    return [1 / (RECIPROCAL_RANK_OFFSET + places[score]) if score > 0 else 0.0 for score in scores]
