"""A search over a handful of memories, by the engine that the service uses."""

from collections.abc import Callable, Sequence
from datetime import date

import pytest

from memwarden_policy.retrieval import bm25, intent, ranking
from memwarden_policy.retrieval.embedder import StaticEmbedder
from memwarden_policy.retrieval.ranking import Hit, Mode, Row
from memwarden_policy.retrieval.reading import Document, read_memory, read_question

TODAY = date(2026, 12, 1)


def row_of(at: int, document: Document, **changes: object) -> Row:
    given = {
        "id": f"{at:03d}",
        "frequencies": document.frequencies,
        "length": document.length,
        "observed_on": TODAY,
        "speaker": document.speaker,
        "asks": document.asks,
        "tells_when": document.tells_when,
        "tells_number": document.tells_number,
    }
    return Row(**{**given, **changes})


def statistics_of(documents: Sequence[Document]) -> bm25.Statistics:
    having: dict[str, int] = {}
    for document in documents:
        for lexeme in document.frequencies:
            having[lexeme] = having.get(lexeme, 0) + 1
    mean = sum(document.length for document in documents) / len(documents)
    return bm25.Statistics(rows=len(documents), mean_length=mean, rows_with=having)


@pytest.fixture
def search() -> Callable[..., list[Hit]]:
    """Return a search: memories, a question, a mode, and what rows have besides their text (by index)."""

    def searched(
        memories: Sequence[str],
        question: str,
        mode: Mode = Mode.KEYWORD,
        rows: Sequence[dict] = (),
        weights: intent.Weights | None = None,
    ) -> list[Hit]:
        documents = [read_memory(memory) for memory in memories]
        query = read_question(question, TODAY)
        closeness: list[float | None] = [None] * len(memories)
        if mode is not Mode.KEYWORD:
            asked, *said = StaticEmbedder().embed([query.meaning, *(document.said for document in documents)])
            closeness = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in said]
        given = [
            row_of(at, document, **{"closeness": closeness[at], **(rows[at] if rows else {})})
            for at, document in enumerate(documents)
        ]
        return ranking.rank(query, given, statistics_of(documents), mode, weights or intent.Weights(), TODAY)

    return searched
