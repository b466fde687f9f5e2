"""Confidence: a decimal of three places, seeded by the source kind where the caller claims none."""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from memwarden_policy.model import SourceKind

PLACES: Final = Decimal("0.001")

SEEDS: Final = {
    SourceKind.USER_STATED: Decimal("1.000"),
    SourceKind.USER_CONFIRMED: Decimal("1.000"),
    SourceKind.SYSTEM_RULE: Decimal("1.000"),
    SourceKind.AGENT_EXTRACTED: Decimal("0.700"),
    SourceKind.IMPORTED: Decimal("0.600"),
    SourceKind.RETRIEVAL: Decimal("0.600"),
    SourceKind.REASONING: Decimal("0.600"),
    SourceKind.TOOL_RESULT: Decimal("0.500"),
}


def seed(source: SourceKind) -> Decimal:
    """Return the confidence of a candidate whose caller claims none."""
    return SEEDS[source]


def rounded(value: Decimal | float) -> Decimal:
    """Return a finite number at three places, by its shortest decimal form: 0.8 is 0.800, whatever the binary says."""
    return Decimal(str(value)).quantize(PLACES, rounding=ROUND_HALF_EVEN)
