"""How a memory fades when nobody confirms or recalls it: a Weibull curve by fact kind, used in ranking only."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What remains after `scale` days is a third of what can fade; a shape over 1 holds first and then falls."""

    shape: float
    scale: float  # days
    floor: float  # what never fades: between 0 and 1


DEFAULT = Curve(shape=0.8, scale=730, floor=0.7)
CURVES: Mapping[str, Curve] = MappingProxyType(
    {
        "profile": Curve(shape=0.8, scale=3_650, floor=0.9),
        "convention": Curve(shape=0.9, scale=1_460, floor=0.8),
        "decision": Curve(shape=0.9, scale=1_825, floor=0.8),
        "preference": Curve(shape=0.9, scale=730, floor=0.7),
        "event": Curve(shape=0.7, scale=365, floor=0.7),
        "commitment": Curve(shape=1.5, scale=30, floor=0.3),
    }
)


def remaining(curve: Curve, age: float) -> float:
    """Return what remains, between the floor and 1, `age` days after the last confirmation or recall."""
    return curve.floor + (1 - curve.floor) * math.exp(-((max(0.0, age) / curve.scale) ** curve.shape))


def strength(curve: Curve, age: float, veracity: float) -> float:
    """Return the factor of a memory's rank: what remains of it, times how far its source is believed (0 to 1)."""
    return remaining(curve, age) * veracity
