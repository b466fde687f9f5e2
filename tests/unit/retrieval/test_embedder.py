"""The builtin embedder: from the wheel alone, one vector a text, near texts near."""

import subprocess
import sys

import pytest

from memwarden_policy.retrieval.embedder import DIMENSIONS, StaticEmbedder


def closeness(one: str, other: str) -> float:
    a, b = StaticEmbedder().embed([one, other])
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_a_vector_has_its_dimensions_and_unit_length():
    (vector,) = StaticEmbedder().embed(["The customer prefers invoices on Mondays."])
    assert len(vector) == DIMENSIONS
    assert sum(number * number for number in vector) == pytest.approx(1, abs=1e-5)


def test_near_texts_are_nearer_than_far_ones():
    assert closeness("the cat sleeps", "a kitten naps") > closeness("the cat sleeps", "the invoice was paid") + 0.2


def test_function_words_do_not_matter():
    assert closeness("cat and dog", "the cat with a dog") == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("nothing", ["", "   ", "!?.", "\n"])
def test_a_text_that_says_nothing_is_zero(nothing):
    assert StaticEmbedder().embed([nothing]) == [[0.0] * DIMENSIONS]


def test_no_texts_no_vectors():
    assert StaticEmbedder().embed([]) == []


def test_whoever_only_decides_does_not_load_numpy():
    program = (
        "import sys, memwarden_policy.decide, memwarden_policy.retrieval.ranking, memwarden_policy.retrieval.embedder;"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
