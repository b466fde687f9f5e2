"""The one table of what a condition may speak of: names, types and meaning, for `when`, `where` and the docs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final

from memwarden_policy import bounds
from memwarden_policy.model import Caller, Candidate, MemoryType, SourceKind

CANDIDATE_PREFIX = "candidate."

Value = str | bool | Decimal | datetime | tuple[str, ...]


class Type(StrEnum):
    """The type of an attribute, by its CEL name."""

    STRING = "string"
    BOOL = "bool"
    DOUBLE = "double"
    TIMESTAMP = "timestamp"
    STRINGS = "list(string)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the conditions of one decision see."""

    candidate: Candidate
    caller: Caller
    roles: frozenset[str]
    now: datetime


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing a condition may speak of."""

    name: str
    type: Type
    meaning: str
    read: Callable[[Facts], Value]
    longest: int = 0  # Of a text in `where`, in characters; 0: no text.
    words: tuple[str, ...] = ()  # Empty: any text. Else the only values there are.

    @property
    def short_name(self) -> str:
        """The name in `where`, where the candidate is understood."""
        return self.name.removeprefix(CANDIDATE_PREFIX)

    @property
    def choices_max(self) -> int:
        """How many values `in` takes."""
        if self.words:
            return bounds.WHERE_WORDS_MAX
        return bounds.WHERE_LONG_TEXTS_MAX if self.longest >= bounds.WHERE_LONG_TEXT_MAX else bounds.WHERE_VALUES_MAX


ATTRIBUTES: Final = (
    Attribute(
        "candidate.domain",
        Type.STRING,
        "the domain it is proposed for",
        lambda f: f.candidate.domain,
        longest=bounds.DOMAIN_LENGTH_MAX,
    ),
    Attribute(
        "candidate.topic",
        Type.STRING,
        'its topic inside the domain, or ""',
        lambda f: f.candidate.topic,
        longest=bounds.TOPIC_LENGTH_MAX,
    ),
    Attribute(
        "candidate.memory_type",
        Type.STRING,
        "the layer it belongs to",
        lambda f: f.candidate.memory_type.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in MemoryType),
    ),
    Attribute(
        "candidate.category",
        Type.STRING,
        'its category, or ""',
        lambda f: f.candidate.category,
        longest=bounds.CATEGORY_LENGTH_MAX,
    ),
    Attribute(
        "candidate.content",
        Type.STRING,
        "the text to remember",
        lambda f: f.candidate.content,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute(
        "candidate.source",
        Type.STRING,
        "on whose word it is proposed",
        lambda f: f.candidate.source.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in SourceKind),
    ),
    Attribute(
        "candidate.source_uri",
        Type.STRING,
        'where it was found, or ""',
        lambda f: f.candidate.source_uri,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute(
        "candidate.confidence",
        Type.DOUBLE,
        "from 0 to 1, in three places: as claimed, or seeded by the source",
        lambda f: f.candidate.confidence,
    ),
    Attribute("candidate.is_sensitive", Type.BOOL, "claimed or detected", lambda f: f.candidate.is_sensitive),
    Attribute("candidate.tags", Type.STRINGS, "its tags, perhaps none", lambda f: f.candidate.tags),
    Attribute(
        "candidate.owner",
        Type.STRING,
        'the person a private memory belongs to, or "" when it is shared',
        lambda f: f.candidate.owner or "",
        longest=bounds.PERSON_LENGTH_MAX,
    ),
    Attribute(
        "candidate.about",
        Type.STRING,
        'the person it is about, or ""',
        lambda f: f.candidate.about or "",
        longest=bounds.PERSON_LENGTH_MAX,
    ),
    Attribute(
        "candidate.observed_at",
        Type.TIMESTAMP,
        "when it was seen; the moment of the proposal unless stated",
        lambda f: f.candidate.observed_at or f.now,
    ),
    Attribute("actor.kind", Type.STRING, "ServiceAccount or APIKey", lambda f: f.caller.actor_kind.value),
    Attribute(
        "actor.name",
        Type.STRING,
        "namespace/name of a ServiceAccount, the name of an API key",
        lambda f: f.caller.actor_name,
    ),
    Attribute(
        "actor.roles",
        Type.STRINGS,
        "the roles the actor holds in the workspace, sorted",
        lambda f: tuple(sorted(f.roles)),
    ),
    Attribute(
        "principal",
        Type.STRING,
        'the person on whose behalf, known from authentication, or ""',
        lambda f: f.caller.principal or "",
    ),
    Attribute("now", Type.TIMESTAMP, "the moment of the decision", lambda f: f.now),
)

BY_NAME: Final[Mapping[str, Attribute]] = {each.name: each for each in ATTRIBUTES}
# What `where` may speak of: the candidate alone.
BY_SHORT_NAME: Final[Mapping[str, Attribute]] = {
    each.short_name: each for each in ATTRIBUTES if each.name.startswith(CANDIDATE_PREFIX)
}
