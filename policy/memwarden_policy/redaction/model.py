"""The values of redaction: what a rule is, what was cut out, and what is left."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

Span = tuple[int, int]

KIND_LENGTH_MAX = 48
PLACEHOLDER = r"\[REDACTED:[a-z][a-z0-9-]{0,47}\]"
REACH_BYTES = 512


class Category(StrEnum):
    """What sort of thing a kind is; it decides what happens to the whole text."""

    CREDENTIAL = "credential"
    CLOUD = "cloud"
    PRIVATE_KEY = "private-key"
    PAYMENT = "payment"
    ONE_TIME_CODE = "one-time-code"
    CONTACT = "contact"
    CUSTOM = "custom"


# A text that holds one of these was most likely never meant to be remembered.
SKIPPED = frozenset({Category.CLOUD, Category.PRIVATE_KEY})


class Match(Protocol):
    """The part of an RE2 match that a rule looks at; offsets are bytes."""

    def group(self, group: int = 0, /) -> bytes | None: ...
    def span(self, group: int = 0, /) -> Span: ...
    def groups(self) -> tuple[bytes | None, ...]: ...


# Says where in a match the secret lies. None: nowhere; an empty span: nowhere, and nothing more before its end.
Locate = Callable[[Match], Span | None]


def whole(match: Match) -> Span | None:
    """Locate the secret: the first group that took part, else everything."""
    for index, group in enumerate(match.groups(), 1):
        if group is not None:
            return match.span(index)
    return match.span()


@dataclass(frozen=True, slots=True)
class Lead:
    """A short expression that tells where to look closely.

    The pattern begins `width` bytes before the lead's end: 0: behind it; its whole length: together with it.
    """

    expression: str
    width: int = 0
    caseless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How one kind is recognised: a lead found in one pass over the text, then a pattern anchored at it."""

    kind: str
    category: Category
    pattern: str
    leads: tuple[Lead, ...] = ()  # Empty: the pattern is searched for in the whole text, if the gate is in it.
    gate: str = ""  # Empty: the pattern itself.
    locate: Locate = whole
    apart: bool = True  # Whether a letter or digit right before the match forbids it.
    closed: bool = False  # Whether a letter or digit right after the match forbids it.
    splits: bool = False  # Whether the kind is also recognised when broken over lines.
    reach: int = REACH_BYTES
    rank: int = 0  # Of overlapping findings the lowest rank names the cut.


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What was cut of one kind: how often and how long, never what."""

    kind: str
    category: Category
    count: int
    lengths: tuple[int, ...]  # Characters of each cut, in the order of the text.


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitized:
    """A text without its secrets."""

    text: str
    redactions: tuple[Redaction, ...] = ()

    @property
    def applied(self) -> bool:
        """Whether anything was cut."""
        return bool(self.redactions)

    @property
    def skip(self) -> bool:
        """Whether the candidate is to be skipped altogether: it held a private key or a cloud secret."""
        return skips(self.redactions)

    @property
    def has_one_time_code(self) -> bool:
        """Whether a one-time code was cut: such a text is worthless in minutes."""
        return any(each.category is Category.ONE_TIME_CODE for each in self.redactions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedValue:
    """A JSON-like value without its secrets."""

    value: object
    redactions: tuple[Redaction, ...] = ()

    @property
    def applied(self) -> bool:
        """Whether anything was cut."""
        return bool(self.redactions)

    @property
    def skip(self) -> bool:
        """Whether the candidate is to be skipped altogether."""
        return skips(self.redactions)


class TextTooLongError(ValueError):
    """The text, or all texts of a value together, are longer than is looked through."""


class ValueTooDeepError(ValueError):
    """The value is nested deeper, or has more parts, than is looked through."""


class RuleError(ValueError):
    """A rule that a store wants to add cannot be taken; the message says why."""


def skips(redactions: Iterable[Redaction]) -> bool:
    """Say whether these redactions mean that nothing of the text is to be kept."""
    return any(each.category in SKIPPED for each in redactions)


def placeholder(kind: str) -> str:
    """Return what stands in the text instead of a secret of this kind."""
    return f"[REDACTED:{kind}]"
