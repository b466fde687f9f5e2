"""Ranks the rows that search gathered: four voices, weighed by the question's intent, each hit with its reasons."""

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
RECIPROCAL_RANK_OFFSET = 10  # k of reciprocal rank fusion: at 60 it is worse than its best voice


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
        hits = _by_reciprocal_rank(rows, spoken)
    else:
        weighed = intent.weights_for(query.intent, weights)
        given = signs(query, rows, graph, weighed, today)
        hits = [_hit(row, _said(spoken, at, weighed, mode) | given[at]) for at, row in enumerate(rows)]
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
    for term in terms:
        rarity = bm25.rarity(term, statistics)
        counts = {at: count for at, row in enumerate(rows) if (count := bm25.occurrences(term, row.frequencies))}
        for at, count in counts.items():
            own[at] += rarity * bm25.saturated(count, own_length[at])
        for at, total in graph.spread(counts.items()).items():
            heard[at] += rarity * bm25.saturated(total, length[at])
    return own, heard


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


def _said(spoken: Voices, at: int, weights: intent.Weights, mode: Mode) -> dict[str, float]:
    has_meaning = mode is Mode.HYBRID and any(spoken.semantic)
    share = weights.meaning if has_meaning else 0.0
    return {
        "lexical": weights.lexical * spoken.lexical[at],
        "semantic": weights.semantic * spoken.semantic[at] if has_meaning else 0.0,
        "graph": weights.graph * ((1 - share) * spoken.words[at] + share * spoken.meaning[at]),
        "period": weights.period * spoken.period[at] if mode is Mode.HYBRID else 0.0,
    }


def signs(
    query: Query, rows: Sequence[Row], graph: episodes.Graph, weights: intent.Weights, today: date
) -> list[dict[str, float]]:
    """Return what each row's signs add, besides what it says."""
    named = {speaker: query.words.issuperset(speaker.split()) for speaker in {row.speaker for row in rows} if speaker}
    return [
        {
            "said_by": weights.said_by * named.get(row.speaker, False),
            "answers": weights.answers * (before is not None and rows[before].asks),
            "asks": weights.asks * row.asks,
            "tells_when": weights.tells_when * row.tells_when,
            "tells_number": weights.tells_number * row.tells_number,
            "recency": weights.recency * 0.5 ** (max(0, (today - row.observed_on).days) / RECENCY_HALVES_IN),
        }
        for row, before in zip(rows, graph.previous, strict=True)
    ]


def _hit(row: Row, because: dict[str, float]) -> Hit:
    return Hit(
        id=row.id,
        score=max(0.0, sum(because.values())) * row.strength,
        because={name: share for name, share in because.items() if share},
        strength=row.strength,
    )


def _by_reciprocal_rank(rows: Sequence[Row], spoken: Voices) -> list[Hit]:
    ranks = {"graph": _ranks(spoken.words), "semantic": _ranks(spoken.meaning)}
    return [
        _hit(row, {name: 1 / (RECIPROCAL_RANK_OFFSET + places[at]) for name, places in ranks.items()})
        for at, row in enumerate(rows)
    ]


def _ranks(scores: Sequence[float]) -> list[int]:
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    places = [0] * len(scores)
    for place, at in enumerate(order, 1):
        places[at] = place
    return places
