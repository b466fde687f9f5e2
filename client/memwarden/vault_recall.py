"""Recalls on the client's machine, by the ranking that the service's search has: no question leaves it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memwarden_policy.retrieval import bm25, decay, intent, ranking
from memwarden_policy.retrieval.embedder import Embedder
from memwarden_policy.retrieval.reading import Document, read_memory, read_question

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A memory with its words in the clear, on this machine."""

    id: str
    version: int
    domain: str
    content: str = field(repr=False)
    value: Any = field(repr=False)
    category: str
    observed_at: datetime
    known_since: datetime  # Or last confirmed.
    confidence: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that answers a question, and why."""

    memory: Opened
    score: float
    because: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Read:
    memory: Opened
    document: Document
    vector: tuple[float, ...]


class LocalIndex:
    """What was opened, read once a version, in memory alone."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._read: dict[str, _Read] = {}

    def __len__(self) -> int:
        return len(self._read)

    def replace(self, memories: Iterable[Opened]) -> None:
        """Hold these memories, and no others."""
        found: dict[str, _Read] = {}
        for memory in memories:
            known = self._read.get(memory.id)
            found[memory.id] = known if known and known.memory == memory else self._learned(memory)
        self._read = found

    def recall(self, question: str, now: datetime, limit: int) -> list[Recalled]:
        """Return the memories that answer best, best first."""
        query = read_question(question, now.date())
        held = list(self._read.values())
        asked = self._embedder.embed([query.meaning])[0]
        rows = [_row(each, query.lexemes, asked, now) for each in held]
        hits = ranking.rank(query, rows, _statistics(held), ranking.Mode.HYBRID, intent.Weights(), now.date())
        return [Recalled(self._read[hit.id].memory, hit.score, hit.because) for hit in hits[:limit] if hit.score > 0]

    def _learned(self, memory: Opened) -> _Read:
        document = read_memory(memory.content)
        return _Read(memory, document, tuple(self._embedder.embed([document.said])[0]))


def _row(each: _Read, lexemes: frozenset[str], asked: list[float], now: datetime) -> ranking.Row:
    memory, document = each.memory, each.document
    age = (now - memory.known_since).total_seconds() / SECONDS_PER_DAY
    return ranking.Row(
        id=memory.id,
        frequencies={lexeme: count for lexeme, count in document.frequencies.items() if lexeme in lexemes},
        length=document.length,
        observed_on=memory.observed_at.date(),
        closeness=sum(a * b for a, b in zip(asked, each.vector, strict=True)),
        speaker=document.speaker,
        asks=document.asks,
        tells_when=document.tells_when,
        tells_number=document.tells_number,
        strength=decay.strength(decay.CURVES.get(memory.category, decay.DEFAULT), age, memory.confidence),
    )


def _statistics(held: list[_Read]) -> bm25.Statistics:
    having = Counter(lexeme for each in held for lexeme in each.document.frequencies)
    mean = sum(each.document.length for each in held) / len(held) if held else 0.0
    return bm25.Statistics(rows=len(held), mean_length=mean, rows_with=having)
