"""The tables of what a condition may speak of: names, types and meaning, for `when`, `where` and the docs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final

from memwarden_policy import bounds
from memwarden_policy.envelope import SecurityMode
from memwarden_policy.model import Caller, Candidate, Memory, MemoryType, SourceKind, Status

# What has no term reads as this: later than every moment a rule names.
NO_TERM: Final = datetime(9999, 12, 30, tzinfo=UTC)

Value = str | bool | int | Decimal | datetime | tuple[str, ...]


class Matter(StrEnum):
    """What a condition speaks of: a candidate (rules on writing), or a memory (on reading, updating, deleting)."""

    CANDIDATE = "candidate"
    MEMORY = "memory"


class Type(StrEnum):
    """The type of an attribute, by its CEL name."""

    STRING = "string"
    BOOL = "bool"
    INT = "int"
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
    memory: Memory | None = None  # None: the candidate is proposed. Else it is what this memory states.

    @property
    def matter(self) -> Matter:
        """What the conditions speak of."""
        return Matter.CANDIDATE if self.memory is None else Matter.MEMORY

    @property
    def remembered(self) -> Memory:
        """The memory; the compiler lets no rule on candidates ask for it."""
        if self.memory is None:
            raise AssertionError("a rule on candidates spoke of a memory")
        return self.memory


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing a condition may speak of. In a table of a matter its name begins with the matter."""

    name: str
    type: Type
    meaning: str
    read: Callable[[Facts], Value]
    longest: int = 0  # Of a text in `where`, in characters; 0: no text.
    words: tuple[str, ...] = ()  # Empty: any text. Else the only values there are.

    @property
    def short_name(self) -> str:
        """The name in `where`, where the matter is understood."""
        return self.name.partition(".")[2]

    @property
    def choices_max(self) -> int:
        """How many values `in` takes."""
        if self.words:
            return bounds.WHERE_WORDS_MAX
        return bounds.WHERE_LONG_TEXTS_MAX if self.longest >= bounds.WHERE_LONG_TEXT_MAX else bounds.WHERE_VALUES_MAX


def _has_term(facts: Facts) -> bool:
    return facts.candidate.valid_until is not None


STATED: Final = (
    Attribute(
        "domain",
        Type.STRING,
        "its domain",
        lambda f: f.candidate.domain,
        longest=bounds.DOMAIN_LENGTH_MAX,
    ),
    Attribute(
        "topic",
        Type.STRING,
        'its topic inside the domain, or ""',
        lambda f: f.candidate.topic,
        longest=bounds.TOPIC_LENGTH_MAX,
    ),
    Attribute(
        "memory_type",
        Type.STRING,
        "the layer it belongs to",
        lambda f: f.candidate.memory_type.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in MemoryType),
    ),
    Attribute(
        "category",
        Type.STRING,
        'its category, or ""',
        lambda f: f.candidate.category,
        longest=bounds.CATEGORY_LENGTH_MAX,
    ),
    Attribute(
        "content",
        Type.STRING,
        "the text to remember",
        lambda f: f.candidate.content,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute(
        "source",
        Type.STRING,
        "on whose word it is proposed",
        lambda f: f.candidate.source.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in SourceKind),
    ),
    Attribute(
        "source_uri",
        Type.STRING,
        'where it was found, or ""',
        lambda f: f.candidate.source_uri,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute(
        "confidence",
        Type.DOUBLE,
        "from 0 to 1, in three places: as claimed, or seeded by the source",
        lambda f: f.candidate.confidence,
    ),
    Attribute("is_sensitive", Type.BOOL, "claimed or detected", lambda f: f.candidate.is_sensitive),
    Attribute("tags", Type.STRINGS, "its tags, perhaps none", lambda f: f.candidate.tags),
    Attribute(
        "owner",
        Type.STRING,
        'the person a private memory belongs to, or "" when it is shared',
        lambda f: f.candidate.owner or "",
        longest=bounds.PERSON_LENGTH_MAX,
    ),
    Attribute(
        "about",
        Type.STRING,
        'the person it is about, or ""',
        lambda f: f.candidate.about or "",
        longest=bounds.PERSON_LENGTH_MAX,
    ),
    Attribute(
        "observed_at",
        Type.TIMESTAMP,
        "when it was seen; the moment of the proposal unless stated",
        lambda f: f.candidate.observed_at or f.now,
    ),
    Attribute(
        "subject",
        Type.STRING,
        'whom or what it speaks of, or ""',
        lambda f: f.candidate.subject,
        longest=bounds.SUBJECT_LENGTH_MAX,
    ),
    Attribute(
        "value",
        Type.STRING,
        'its structured value as JSON text without spaces and with sorted names, or ""',
        lambda f: f.candidate.value,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute(
        "reason",
        Type.STRING,
        'why it should be remembered, or ""',
        lambda f: f.candidate.reason,
        longest=bounds.WHERE_LONG_TEXT_MAX,
    ),
    Attribute("has_term", Type.BOOL, "whether a moment is named from which it no longer holds", _has_term),
    Attribute(
        "valid_until",
        Type.TIMESTAMP,
        "that moment; the end of the year 9999 where none is named",
        lambda f: f.candidate.valid_until or NO_TERM,
    ),
    Attribute(
        "security_mode",
        Type.STRING,
        "whether the service can read its words",
        lambda f: f.candidate.envelope.security_mode.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in SecurityMode),
    ),
)

# What only a memory that exists has.
STANDING: Final = (
    Attribute(
        "status",
        Type.STRING,
        "where it stands in its life",
        lambda f: f.remembered.status.value,
        longest=bounds.CATEGORY_LENGTH_MAX,
        words=tuple(each.value for each in Status),
    ),
    Attribute("confirmed", Type.BOOL, "whether a person confirmed it", lambda f: f.remembered.confirmed),
    Attribute("version", Type.INT, "1 at first, one more with each change", lambda f: f.remembered.version),
    Attribute("created_at", Type.TIMESTAMP, "when it came into force", lambda f: f.remembered.created_at),
    Attribute(
        "last_confirmed_at",
        Type.TIMESTAMP,
        "when it was last confirmed; its creation, where it was not",
        lambda f: f.remembered.last_confirmed_at or f.remembered.created_at,
    ),
)

CALLING: Final = (
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


@dataclass(frozen=True, slots=True)
class Table:
    """All that conditions on one matter may speak of."""

    attributes: tuple[Attribute, ...]
    by_name: Mapping[str, Attribute]
    by_short_name: Mapping[str, Attribute]  # What `where` may speak of: the matter alone, not who calls.


def _table(matter: Matter, own: Sequence[Attribute]) -> Table:
    named = tuple(replace(each, name=f"{matter}.{each.name}") for each in own)
    everything = (*named, *CALLING)
    by_name = {each.name: each for each in everything}
    return Table(everything, by_name, {each.short_name: each for each in named})


TABLES: Final[Mapping[Matter, Table]] = {
    Matter.CANDIDATE: _table(Matter.CANDIDATE, STATED),
    Matter.MEMORY: _table(Matter.MEMORY, (*STATED, *STANDING)),
}
