"""The blend of plain rankers that search has to beat: BM25 in three widths, wordllama in two, the speaker; by hand."""

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import Stemmer
from wordllama import WordLlama

from benchmarks._locomo import Conversation, Numbers, figures_of
from memwarden_policy.retrieval.stopwords import ENGLISH

SATURATION, LENGTH_SHARE = 1.2, 0.75
STOPWORDS = frozenset(ENGLISH.split())
STEMMER = Stemmer.Stemmer("english")


def hand_blend(conversation: Conversation) -> Numbers:
    """Return the figures of each question."""
    texts = [turn.text for turn in conversation.turns]
    widths = {steps: Bm25(conversation, steps) for steps in ((0,), (-2, -1, 0), (-1, 0, 1))}
    model = _wordllama()
    vectors, asked = model.embed(texts, norm=True), model.embed(conversation.questions, norm=True)
    behind = np.array(
        [vectors[at] + 0.5 * vectors[at - 1] if _has(conversation, at, -1) else vectors[at] for at in range(len(texts))]
    )
    behind /= np.linalg.norm(behind, axis=1, keepdims=True)
    orders = []
    for question, vector in zip(conversation.questions, asked, strict=True):
        own, previous, both = (_spread(width.scores(question)) for width in widths.values())
        named = np.array([turn.document.speaker in question.lower() for turn in conversation.turns])
        blend = (
            0.3 * own + 0.4 * previous + 0.1 * both + 0.1 * _spread(vectors @ vector) + 0.1 * _spread(behind @ vector)
        )
        orders.append(np.argsort(-(blend + 0.08 * named), kind="stable")[:10].tolist())
    return figures_of(orders, conversation.evidence)


def _wordllama() -> WordLlama:
    found = find_spec("wordllama")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("wordllama is a dependency")
    return WordLlama.load(cache_dir=Path(found.origin).parent, disable_download=True)


def _has(conversation: Conversation, at: int, step: int) -> bool:
    turns = conversation.turns
    return 0 <= at + step < len(turns) and turns[at].place[0] == turns[at + step].place[0]


def _spread(scores: Numbers) -> Numbers:
    width = scores.max() - scores.min()
    return (scores - scores.min()) / width if width else scores * 0


def _lexemes(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", re.sub(r"'\w+", "", text.lower().replace("\u2019", "'")))
    return STEMMER.stemWords([word for word in words if word not in STOPWORDS])


class Bm25:
    """BM25 over each turn with the turns at the given steps from it, within its session."""

    def __init__(self, conversation: Conversation, steps: tuple[int, ...]) -> None:
        own = [_lexemes(turn.text) for turn in conversation.turns]
        near = [[at + step for step in steps if _has(conversation, at, step)] for at in range(len(own))]
        self.bags = [Counter(lexeme for at in around for lexeme in own[at]) for around in near]
        self.having = Counter(lexeme for lexemes in own for lexeme in set(lexemes))
        lengths = np.array([sum(bag.values()) for bag in self.bags])
        self.damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / lengths.mean())

    def scores(self, question: str) -> Numbers:
        total = np.zeros(len(self.bags))
        for lexeme in set(_lexemes(question)):
            counts = np.array([bag[lexeme] for bag in self.bags], dtype=float)
            rarity = np.log(1 + (len(self.bags) - self.having[lexeme] + 0.5) / (self.having[lexeme] + 0.5))
            total += rarity * counts * (SATURATION + 1) / (counts + self.damping)
        return total
