"""Screening: how much a proposed memory worries, and what that means for its source."""

from memwarden_policy.screening.model import Context, Risk, Screened, Signal, SignalKind, Verdict
from memwarden_policy.screening.screen import CARRIED, judge, screen

__all__ = ["CARRIED", "Context", "Risk", "Screened", "Signal", "SignalKind", "Verdict", "judge", "screen"]
