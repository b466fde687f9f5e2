"""Several wordings of one fact do not push out the others."""

from memwarden_policy.retrieval.mmr import DIVERSIFIED_MAX, diversified, likeness
from memwarden_policy.retrieval.reading import read_memory

WORDINGS = (
    "Acme prefers invoices on Mondays.",
    "Acme prefers an invoice on Monday.",
    "Invoices are preferred on Mondays by Acme.",
    "On Mondays Acme prefers its invoices.",
    "Acme: invoices preferred on Monday.",
)
OTHERS = (
    "Acme pays within thirty days.",
    "Acme's accountant is Carla.",
    "Acme moved to Leeds.",
    "Invoices need an order number.",
)


def order(relevance: dict[str, float]) -> list[str]:
    lexemes = {text: frozenset(read_memory(text).frequencies) for text in relevance}
    ranked = sorted(relevance, key=lambda text: -relevance[text])
    return diversified(ranked, relevance.__getitem__, lambda a, b: likeness(lexemes[a], lexemes[b]))


def test_five_wordings_of_one_fact_do_not_push_out_four_others():
    relevance = {text: 1 - at / 100 for at, text in enumerate(WORDINGS)}
    relevance |= {text: 0.6 - at / 100 for at, text in enumerate(OTHERS)}
    first_five = order(relevance)[:5]
    assert first_five[0] == WORDINGS[0]
    assert set(OTHERS) == set(first_five[1:])


def test_what_is_not_alike_keeps_its_order():
    relevance = {text: 1 - at / 10 for at, text in enumerate((*OTHERS, WORDINGS[0]))}
    assert order(relevance) == [*OTHERS, WORDINGS[0]]


def test_nothing_is_lost_or_added():
    many = list(range(DIVERSIFIED_MAX + 10))
    assert sorted(diversified(many, lambda one: 1 / (1 + one), lambda a, b: 1.0)) == many
    assert diversified([], lambda one: 1.0, lambda a, b: 1.0) == []


def test_those_after_the_diversified_keep_their_order():
    many = list(range(DIVERSIFIED_MAX + 10))
    assert diversified(many, lambda one: 1 / (1 + one), lambda a, b: 1.0)[DIVERSIFIED_MAX:] == many[DIVERSIFIED_MAX:]


def test_likeness_is_symmetric_and_bounded():
    assert likeness(frozenset("ab"), frozenset("bc")) == likeness(frozenset("bc"), frozenset("ab")) == 0.5
    assert likeness(frozenset(), frozenset()) == 0.0
    assert likeness(frozenset("a"), frozenset("a")) == 1.0
