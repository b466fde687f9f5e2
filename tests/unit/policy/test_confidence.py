"""Confidence: three places, and the numbers people expect."""

from decimal import Decimal

import pytest

from memwarden_policy import confidence
from memwarden_policy.model import SourceKind

SEEDS = {
    SourceKind.USER_STATED: "1.000",
    SourceKind.USER_CONFIRMED: "1.000",
    SourceKind.SYSTEM_RULE: "1.000",
    SourceKind.AGENT_EXTRACTED: "0.700",
    SourceKind.IMPORTED: "0.600",
    SourceKind.RETRIEVAL: "0.600",
    SourceKind.REASONING: "0.600",
    SourceKind.TOOL_RESULT: "0.500",
}


@pytest.mark.parametrize("source", SourceKind)
def test_every_source_has_its_seed(source):
    assert str(confidence.seed(source)) == SEEDS[source]


@pytest.mark.parametrize(
    ("number", "rounded"),
    [(0.8, "0.800"), (1, "1.000"), (0, "0.000"), (0.7004, "0.700"), (0.7006, "0.701"), (0.29999999999999999, "0.300")],
)
def test_a_number_is_taken_as_it_is_written(number, rounded):
    assert confidence.rounded(number) == Decimal(rounded)
    assert str(confidence.rounded(number)) == rounded


def test_sums_are_exact():
    assert confidence.rounded(0.7) + confidence.rounded(0.1) == confidence.rounded(0.8)
