"""Retrieval on LoCoMo's conversations without a language model: each voice alone, fused, fitted leaving one out."""

from dataclasses import asdict

import numpy as np

from benchmarks import Figure
from benchmarks._hand_blend import hand_blend
from benchmarks._locomo import TODAY, Conversation, Numbers, Product, conversations, figures_of
from memwarden_policy.retrieval import episodes, intent, ranking
from memwarden_policy.retrieval.ranking import Mode

MEASURES = ("R@5", "R@10", "nDCG@10")
GOALS = (0.71, 0.79, 0.61)
ABOVE_THE_HAND_BLEND = 0.02
STEPS = (-0.2, -0.1, -0.05, 0.05, 0.1, 0.2)
GAIN_MIN = 0.001  # a step of the fit that brings less is noise
FITTING_ROUNDS_MAX = 3
VOICES = ("lexical", "semantic", "words", "meaning", "period")
SIGNS = ("said_by", "answers", "asks", "tells_when", "tells_number")
EVERY_SIGN = intent.Weights(**dict.fromkeys((*SIGNS, "recency"), 1.0))
SHIPPED = {
    "lexical": intent.Weights().lexical,
    "semantic": intent.Weights().semantic,
    "words": intent.Weights().graph * (1 - intent.Weights().meaning),
    "meaning": intent.Weights().graph * intent.Weights().meaning,
    **{name: getattr(intent.Weights(), name) for name in ("period", "recency", *SIGNS)},
}
CHANGES = {
    "of the graph voice alone": dict.fromkeys(("lexical", "semantic", "period", "recency", *SIGNS), 0.0),
    "without episodes": {
        "lexical": SHIPPED["lexical"] + SHIPPED["words"],
        "semantic": SHIPPED["semantic"] + SHIPPED["meaning"],
        "words": 0.0,
        "meaning": 0.0,
        "answers": 0.0,
    },
    "without vectors": {"semantic": 0.0, "meaning": 0.0},
    "without signs": dict.fromkeys(SIGNS, 0.0),
    **{f"without {name}": {name: 0.0} for name in ("period", *SIGNS)},
}
Featured = tuple[Conversation, list[list[int]], list[dict[str, Numbers]]]  # turns gathered, and what is said of them


def run() -> list[Figure]:
    """Measure. The goals hold for search as shipped, and for its structure fitted without the tested conversation."""
    products = [Product(conversation) for conversation in conversations()]
    hand = _mean([hand_blend(product.conversation) for product in products])
    features = [_features(product) for product in products]

    def with_weights(weights: dict[str, float]) -> Numbers:
        return _mean([_worth(each, weights) for each in features])

    def searched(mode: Mode) -> Numbers:
        return _mean([figures_of(each.orders(mode, intent.Weights()), each.conversation.evidence) for each in products])

    goals = [max(goal, blend + ABOVE_THE_HAND_BLEND) for goal, blend in zip(GOALS, hand, strict=True)]
    shown = [_figures("hand blend of plain rankers", hand)]
    shown += [_figures(f"voice alone: {voice}", with_weights({voice: 1.0})) for voice in VOICES]
    shown += [_figures(f"shipped weights {name}", with_weights(SHIPPED | changed)) for name, changed in CHANGES.items()]
    shown += [_figures("mode keyword", searched(Mode.KEYWORD)), _figures("mode semantic", searched(Mode.SEMANTIC))]
    shown += [_figures("weights fitted without the tested conversation", _left_out(features), goals)]
    shown += [_figures("mode hybrid, as shipped", searched(Mode.HYBRID), goals)]
    return [figure for figures in shown for figure in figures]


def _figures(name: str, worth: Numbers, goals: list[float] | tuple[None, ...] = (None, None, None)) -> list[Figure]:
    return [
        Figure(name=f"{name}, {measure}", value=round(float(value), 4), unit="share", better="higher", goal=goal)
        for measure, value, goal in zip(MEASURES, worth, goals, strict=True)
    ]


def _mean(worth: list[Numbers]) -> Numbers:
    return np.concatenate(worth).mean(axis=0)


def _features(product: Product) -> Featured:
    """Return, for each question, the turns gathered and what every voice and sign says of them."""
    chosen, said = [], []
    for query, rows, statistics in product.asked:
        graph = episodes.graph([(row.episode, row.position) for row in rows])
        spoken = ranking.voices(query, rows, statistics, graph)
        features = {name: np.array(numbers) for name, numbers in asdict(spoken).items()}
        weights = intent.weights_for(query.intent, EVERY_SIGN)
        signs = ranking.signs(query, rows, graph, weights, TODAY)
        features |= {name: np.array(column) for name, column in signs.items()}
        chosen.append([int(row.id) for row in rows])
        said.append(features)
    return product.conversation, chosen, said


def _worth(featured: Featured, weights: dict[str, float]) -> Numbers:
    conversation, chosen, said = featured
    orders = []
    for turns, features in zip(chosen, said, strict=True):
        scores = sum(weight * features[name] for name, weight in weights.items() if weight)
        orders.append([turns[at] for at in np.argsort(-scores, kind="stable")[:10]])
    return figures_of(orders, conversation.evidence)


def _left_out(features: list[Featured]) -> Numbers:
    """Return the worth of weights that were fitted on all conversations but the one they are tested on."""
    found = []
    for at, tested in enumerate(features):
        fitted = _fitted([each for other, each in enumerate(features) if other != at])
        found.append(_worth(tested, fitted))
    return _mean(found)


def _fitted(features: list[Featured]) -> dict[str, float]:
    """Climb, one weight and one step at a time, from words and meaning alone."""
    weights = dict.fromkeys((*VOICES, *SIGNS), 0.0) | {"words": 0.5, "meaning": 0.3}
    best = _mean([_worth(each, weights) for each in features]).sum()
    for _ in range(FITTING_ROUNDS_MAX):
        before = best
        for name in weights:
            for step in STEPS:
                tried = weights | {name: weights[name] + step}
                worth = _mean([_worth(each, tried) for each in features]).sum()
                if worth > best + GAIN_MIN:
                    weights, best = tried, worth
                    break
        if best == before:
            break
    return weights
