"""Benchmarks: each module has a `run` that returns figures, as ratios in one run where machines differ."""

from typing import Literal, TypedDict


class Figure(TypedDict):
    """One measured number beside its goal."""

    name: str
    value: float
    unit: str
    better: Literal["lower", "higher"]
    goal: float | None  # None: reported, without a goal.
