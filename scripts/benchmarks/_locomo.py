"""LoCoMo's conversations as memories, searched as the service searches them, and what a ranking of them is worth.

The data is read from ../shared/data/locomo, or from MEMWARDEN_DATA/locomo, and never copied: its licence forbids."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import numpy as np

from memwarden_policy.retrieval import bm25, episodes, intent, mmr, ranking
from memwarden_policy.retrieval.embedder import StaticEmbedder
from memwarden_policy.retrieval.ranking import Hit, Mode, Row
from memwarden_policy.retrieval.reading import Document, Query, read_memory, read_question, without_speakers

DATA = Path(os.environ.get("MEMWARDEN_DATA", Path(__file__).parents[3] / "shared/data")) / "locomo"
TODAY = date(2026, 12, 1)
DISCOUNTS = 1 / np.log2(np.arange(10) + 2)
Numbers = np.ndarray


@dataclass(frozen=True, kw_only=True)
class Turn:
    place: tuple[str, int]
    day: date
    text: str
    document: Document


@dataclass(frozen=True, kw_only=True)
class Conversation:
    name: str
    turns: list[Turn]
    vectors: Numbers
    questions: list[str]
    asked: Numbers  # vectors of the questions
    evidence: list[frozenset[int]]


def conversations() -> list[Conversation]:
    """Read every conversation there is."""
    return [_conversation(path) for path in sorted(DATA.glob("*.json"))]


def _conversation(path: Path) -> Conversation:
    data = json.loads(path.read_text())
    body = data.get("conversation", data)
    sessions = sorted(int(found[1]) for key in body if (found := re.fullmatch(r"session_(\d+)", key)))
    turns, at = [], {}
    for session in sessions:
        day = datetime.strptime(body[f"session_{session}_date_time"].split(" on ")[1], "%d %B, %Y").date()  # noqa: DTZ007 - a day
        for position, turn in enumerate(body[f"session_{session}"]):
            at[turn["dia_id"]] = len(turns)
            text = f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}".strip()
            turns.append(Turn(place=(str(session), position), day=day, text=text, document=read_memory(text)))
    found = [(qa["question"], _evidence(qa, at)) for qa in data["qa"]]
    asked = [(question, evidence) for question, evidence in found if evidence]
    embed = StaticEmbedder().embed
    return Conversation(
        name=path.stem,
        turns=turns,
        vectors=np.array(embed([turn.document.said for turn in turns])),
        questions=[question for question, _ in asked],
        asked=np.array(embed([_meaning(question, turns) for question, _ in asked])),
        evidence=[evidence for _, evidence in asked],
    )


def _meaning(question: str, turns: list[Turn]) -> str:
    speakers = frozenset(turn.document.speaker for turn in turns)
    return without_speakers(read_question(question, TODAY), speakers).meaning


def _evidence(qa: dict, at: dict[str, int]) -> frozenset[int]:
    named = re.findall(r"D\d+:\d+", " ".join(map(str, qa.get("evidence") or [])))
    return frozenset(at[name] for name in named if name in at)


def figures_of(orders: Sequence[Sequence[int]], evidence: Sequence[frozenset[int]]) -> Numbers:
    """Return R@5, R@10 and nDCG@10 of each question."""
    rows = []
    for order, wanted in zip(orders, evidence, strict=True):
        hits = np.array([at in wanted for at in order[:10]] + [False] * (10 - len(order[:10])))
        ideal = DISCOUNTS[: len(wanted)].sum()
        rows.append([hits[:5].sum() / len(wanted), hits.sum() / len(wanted), (hits * DISCOUNTS).sum() / ideal])
    return np.array(rows)


class Product:
    """Searches a conversation as the service does: seeds of each voice, their neighbours, then the ranking."""

    def __init__(self, conversation: Conversation, seeds: int = ranking.SEEDS_PER_VOICE) -> None:
        self.conversation, self.seeds = conversation, seeds
        turns = conversation.turns
        self.mean_length = sum(turn.document.length for turn in turns) / len(turns)
        self.at = {turn.place: index for index, turn in enumerate(turns)}
        self.having: dict[str, list[int]] = {}
        for index, turn in enumerate(turns):
            for lexeme in turn.document.frequencies:
                self.having.setdefault(lexeme, []).append(index)
        self.asked = [self._gathered(number) for number in range(len(conversation.questions))]

    def _gathered(self, number: int) -> tuple[Query, list[Row], bm25.Statistics]:
        """Return a question with the turns that may answer it."""
        conversation = self.conversation
        query = read_question(conversation.questions[number], TODAY)
        having = {lexeme: len(self.having.get(lexeme, ())) for lexeme in query.lexemes}
        statistics = bm25.Statistics(rows=len(conversation.turns), mean_length=self.mean_length, rows_with=having)
        closeness = conversation.vectors @ conversation.asked[number]
        seeds = {*self._lexical_seeds(query, statistics), *np.argsort(-closeness, kind="stable")[: self.seeds].tolist()}
        seeds |= set(self._period_seeds(query, closeness))
        around = {
            self.at.get(place, -1) for seed in seeds for place in episodes.surroundings(conversation.turns[seed].place)
        }
        chosen = sorted((seeds | around) - {-1})
        return query, [self._row(at, float(closeness[at]), query) for at in chosen], statistics

    def _lexical_seeds(self, query: Query, statistics: bm25.Statistics) -> list[int]:
        scores: dict[int, float] = {}
        for term in query.terms:
            rarity = bm25.rarity(term, statistics)
            for at in {at for lexeme in term.lexemes for at in self.having.get(lexeme, ())}:
                document = self.conversation.turns[at].document
                count = bm25.occurrences(term, document.frequencies)
                share = bm25.saturated(count, document.length / self.mean_length)
                scores[at] = scores.get(at, 0.0) + rarity * share
        return sorted(scores, key=lambda at: (-scores[at], at))[: self.seeds]

    def _period_seeds(self, query: Query, closeness: Numbers) -> list[int]:
        if not query.periods:
            return []
        days = [
            ranking.nearness(turn.day, query.periods) + 0.01 * closeness[at]
            for at, turn in enumerate(self.conversation.turns)
        ]
        return np.argsort(-np.array(days), kind="stable")[: self.seeds].tolist()

    def _row(self, at: int, closeness: float, query: Query) -> Row:
        turn = self.conversation.turns[at]
        document = turn.document
        return Row(
            id=f"{at:06d}",
            frequencies={one: count for one, count in document.frequencies.items() if one in query.lexemes},
            length=document.length,
            observed_on=turn.day,
            episode=turn.place[0],
            position=turn.place[1],
            closeness=closeness,
            speaker=document.speaker,
            asks=document.asks,
            tells_when=document.tells_when,
            tells_number=document.tells_number,
        )

    def orders(self, mode: Mode, weights: intent.Weights) -> list[list[int]]:
        """Return for each question the turns, best first."""
        ranked = (ranking.rank(query, rows, statistics, mode, weights, TODAY) for query, rows, statistics in self.asked)
        return [[int(hit.id) for hit in self._diversified(hits)[:10]] for hits in ranked]

    def _diversified(self, hits: list[Hit]) -> list[Hit]:
        turns = self.conversation.turns
        lexemes = {hit.id: frozenset(turns[int(hit.id)].document.frequencies) for hit in hits[: mmr.DIVERSIFIED_MAX]}
        best = hits[0].score or 1.0
        return mmr.diversified(
            hits, lambda hit: hit.score / best, lambda a, b: mmr.likeness(lexemes[a.id], lexemes[b.id])
        )
