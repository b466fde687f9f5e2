"""What remains of a memory by its fact kind and age."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.decay_plot import drawing
from memwarden_policy.retrieval.decay import CURVES, DEFAULT, Curve, remaining, strength

CURVE = Curve(shape=1, scale=100, floor=0.2)


@pytest.mark.parametrize(
    ("age", "expected"),
    [(0, 1.0), (-5, 1.0), (100, 0.2 + 0.8 * 0.36788), (200, 0.2 + 0.8 * 0.13534), (100_000, 0.2)],
)
def test_a_memory_fades_to_its_floor(age, expected):
    assert remaining(CURVE, age) == pytest.approx(expected, abs=1e-4)


def test_a_shape_over_one_holds_first_and_then_falls():
    steep = Curve(shape=3, scale=100, floor=0)
    flat = Curve(shape=0.5, scale=100, floor=0)
    assert remaining(steep, 30) > remaining(flat, 30)
    assert remaining(steep, 200) < remaining(flat, 200)
    assert remaining(steep, 100) == pytest.approx(remaining(flat, 100))


def test_a_commitment_fades_fast_and_a_profile_does_not():
    assert remaining(CURVES["commitment"], 90) < 0.4
    assert remaining(CURVES["profile"], 365) > 0.95


def test_what_is_believed_less_ranks_lower():
    assert strength(DEFAULT, 10, 0.5) == pytest.approx(remaining(DEFAULT, 10) / 2)


@given(kind=st.sampled_from(sorted(CURVES)), age=st.floats(0, 1e6), later=st.floats(0, 1e6))
def test_it_never_rises_and_never_leaves_its_bounds(kind, age, later):
    curve = CURVES[kind]
    assert curve.floor <= remaining(curve, age + later) <= remaining(curve, age) <= 1


def test_the_plot_of_the_documents_shows_these_curves():
    shown = Path(__file__).parents[3] / "docs/decay.svg"
    assert shown.read_text() == drawing(), "python -m local.decay_plot > docs/decay.svg"


def test_the_table_of_the_documents_shows_these_curves():
    page = (Path(__file__).parents[3] / "docs/search.md").read_text()
    for kind, curve in {**CURVES, "any other": DEFAULT}.items():
        assert f"| {kind} | {curve.shape:g} | {curve.scale:g} | {curve.floor:g} |" in page
