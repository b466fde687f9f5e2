"""The values of screening: what is known of a text's origin, what was seen in it, and how much that worries."""

from dataclasses import dataclass
from enum import StrEnum


class Risk(StrEnum):
    """How much a text worries. It never decides alone: see `judge`."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class SignalKind(StrEnum):
    """What may be seen in a text or in how it arrives."""

    INSTRUCTION = "instruction"
    OVERRIDE = "override"
    HIDDEN_UNICODE = "hidden-unicode"
    ENCODED = "encoded"
    CLAIMED_PERMISSION = "claimed-permission"
    DEFERRED = "deferred"
    OTHER_PERSON = "other-person"
    IDENTITY_CHANGE = "identity-change"
    REPETITION = "repetition"
    BURST = "burst"


class Verdict(StrEnum):
    """What is to be done with a screened text."""

    KEEP = "keep"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a text comes from. Everything here is known from authentication and counting, nothing from the text."""

    source: str  # A source kind, such as tool_result; or attachment.
    principal: str | None = None  # None: nobody is in the session.
    about: str | None = None  # None: about nobody in particular.
    similar_recent: int = 0  # Recent candidates of the same source that say much the same.
    in_window: int = 0  # Candidates of the same source in the window of counting.


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One thing that was seen, in a sentence that quotes nothing of the text."""

    kind: SignalKind
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What screening saw."""

    risk: Risk
    signals: tuple[Signal, ...] = ()
