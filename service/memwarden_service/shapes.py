"""The shapes of requests and answers of the public API."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memwarden_policy import bounds
from memwarden_policy.model import MemoryType, SourceKind
from memwarden_service.envelope_shapes import EnvelopeShown, EnvelopeWanted
from memwarden_service.text import is_clean, normalised

PAGE_MAX = 100
PAGE_DEFAULT = 50
CURSOR_LENGTH_MAX = 512
EVENT_ID_LENGTH_MAX = 253
SESSION_LENGTH_MAX = 253
MOMENT_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
EARLIEST = datetime.fromisoformat("0001-01-02T00:00:00+00:00")
LATEST = datetime.fromisoformat("9999-12-30T00:00:00+00:00")


def _name(value: object) -> object:
    if isinstance(value, str):
        value = normalised(value)
        if not is_clean(value) or value != value.strip():
            raise ValueError("no control characters and no space at the ends")
    return value


def tidied_content(value: object) -> object:
    """Return a text in Unicode NFC, and everything else as it is."""
    return normalised(value) if isinstance(value, str) else value


def _moment(value: object) -> object:
    """A moment is RFC 3339 text; a bare number could mean seconds or milliseconds."""
    if value is not None and not (isinstance(value, str) and MOMENT_FORM.fullmatch(value)):
        raise ValueError("must be a text as RFC 3339 has it")
    return value


def _number(value: object) -> object:
    """A number is no text, and no truth either."""
    if isinstance(value, (str, bool)):
        raise ValueError("must be a number")  # noqa: TRY004 - the checker takes a ValueError
    return value


def _text(longest: int, *, shortest: int = 1) -> StringConstraints:
    return StringConstraints(min_length=shortest, max_length=longest)


TIDY = BeforeValidator(_name)
Topic = Annotated[str, _text(bounds.TOPIC_LENGTH_MAX, shortest=0), TIDY]
CategoryName = Annotated[str, _text(bounds.CATEGORY_LENGTH_MAX, shortest=0), TIDY]
SourceUri = Annotated[str, _text(bounds.SOURCE_URI_LENGTH_MAX), TIDY]
EventId = Annotated[str, _text(EVENT_ID_LENGTH_MAX), TIDY]
SessionName = Annotated[str, _text(SESSION_LENGTH_MAX), TIDY]
Tag = Annotated[str, _text(bounds.TAG_LENGTH_MAX), TIDY]
Subject = Annotated[str, _text(bounds.SUBJECT_LENGTH_MAX, shortest=0), TIDY]
Reason = Annotated[str, _text(bounds.REASON_LENGTH_MAX, shortest=0), TIDY]
Person = Annotated[str, _text(bounds.PERSON_LENGTH_MAX), TIDY]
KeyName = Annotated[str, _text(bounds.NAME_MAX), StringConstraints(pattern=r"^[^/]+$"), TIDY]
# No empty segments and no stars: a domain is never mistaken for a glob.
DOMAIN_FORM = r"^[^/*]+(/[^/*]+)*$"
Domain = Annotated[
    str,
    _text(bounds.DOMAIN_LENGTH_MAX),
    StringConstraints(pattern=DOMAIN_FORM),
    TIDY,
]
Moment = Annotated[AwareDatetime, BeforeValidator(_moment), Field(ge=EARLIEST, le=LATEST)]


class Strict(BaseModel):
    """Unknown fields are an error, and no type becomes another."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Proposal(Strict):
    """A memory as an agent proposes it."""

    domain: Domain = Field(description="The subject inside the workspace, such as `customers/acme`.")
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=bounds.CONTENT_LENGTH_MAX), BeforeValidator(tidied_content)
    ] = Field(description="What is to be remembered. Put into Unicode NFC.")
    source: SourceKind = Field(description="On whose word. A caller claims only what a grant lets it claim.")
    topic: Topic = ""
    memory_type: MemoryType = MemoryType.SEMANTIC
    category: CategoryName = ""
    source_uri: SourceUri | None = None
    source_event_id: EventId | None = Field(
        default=None, description="The event this comes from: the same event again is answered as the first time."
    )
    confidence: Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=1)] | None = Field(
        default=None, description="Three places count. Absent: the seed of the source kind."
    )
    is_sensitive: Annotated[bool, Field(strict=True)] = False
    tags: Annotated[tuple[Tag, ...], Field(max_length=bounds.TAGS_MAX)] = ()
    private: Annotated[bool, Field(strict=True)] = Field(
        default=False, description="Only the person on whose behalf it is proposed ever sees it."
    )
    about: Person | None = Field(default=None, description="The person it is about.")
    observed_at: Moment | None = None
    session: SessionName | None = Field(
        default=None, description="The conversation or run it was said in: search knows what was said around it."
    )
    subject: Subject = Field(default="", description="Whom or what it speaks of, such as a customer's number.")
    value: Any = Field(default=None, description="A structured value: JSON, at most 8 deep and 4096 characters.")
    reason: Reason = Field(default="", description="Why it should be remembered.")
    valid_until: Moment | None = Field(default=None, description="The first moment at which it no longer holds.")
    delete_at: Moment | None = Field(default=None, description="From when it is to be gone, with its past.")
    envelope: EnvelopeWanted | None = Field(
        default=None, description="How it is handled, for its whole life. Absent: in the clear, and served."
    )


class Redacted(BaseModel):
    """What was cut out of a proposal before anything else: never the secret."""

    kind: str
    count: int


class Written(BaseModel):
    """The answer to a proposal that was taken."""

    id: UUID
    status: Literal["confirmed", "held"]
    decision: UUID
    redactions: list[Redacted]


class Statement(BaseModel):
    """What was proposed, by whom."""

    id: UUID
    domain: str
    topic: str
    memory_type: str
    category: str
    content: str
    subject: str
    value: Any
    source: str
    source_uri: str | None
    confidence: float
    is_sensitive: bool
    tags: list[str]
    private: bool
    about: str | None
    reason: str
    session: str | None
    observed_at: datetime
    valid_until: datetime | None
    delete_at: datetime | None
    proposed_by: str
    proposed_for: str | None
    proposed_at: datetime
    decision: UUID
    version: int
    envelope: EnvelopeShown


class Flag(BaseModel):
    """Why a reader should be careful."""

    rules: list[str]


class Hold(BaseModel):
    """Who keeps a memory from being deleted, since when, and why."""

    by: str
    at: datetime
    reason: str


class Memory(Statement):
    """A statement in force; `ends_at` is when a retention ends it, absent until that was reckoned."""

    status: Literal["confirmed", "needs_verification"]
    confirmed_by: str | None
    last_confirmed_at: datetime | None
    in_force_from: datetime
    ends_at: datetime | None
    ends_by: str | None
    hold: Hold | None
    flag: Flag | None


class Entry(BaseModel):
    """One line of the journal."""

    seq: int
    at: datetime
    action: str
    actor: str
    principal: str | None
    object: str | None
    decision: UUID | None
    revision: int | None
    detail: dict[str, Any]
    hash: str


class Verification(BaseModel):
    """What a walk along the whole journal found."""

    ok: bool
    entries: int
    first_bad_seq: int | None
    head_matches: bool


class NewKey(Strict):
    """A key to be made for an agent."""

    name: KeyName
    expires_at: Moment | None = None


class NewPersonKey(NewKey):
    """A key to be made by the operator; with `user` it is that person's own."""

    user: Person | None = None


class Key(BaseModel):
    """What is known of a key."""

    id: str
    name: str
    user: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None


class MadeKey(BaseModel):
    """A new key; this answer is the only one that shows it."""

    id: str
    name: str
    user: str | None
    key: str
    expires_at: datetime | None


class Whoami(BaseModel):
    """Who the caller is to this workspace."""

    workspace: str
    actor: str
    principal: str | None
    is_person: bool
    roles: list[str]
    may_claim: list[str]
    everywhere: str
    access: dict[str, str]
    revision: int


class Page(Strict):
    """A part of a list."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MAX)] = PAGE_DEFAULT
    cursor: Annotated[str, StringConstraints(max_length=CURSOR_LENGTH_MAX, pattern=r"^[A-Za-z0-9_-]+$")] | None = None


class MemoryFilter(Page):
    """Which memories."""

    domain: Domain | None = None
    memory_type: MemoryType | None = None
    category: CategoryName | None = None


class MemoriesFilter(MemoryFilter):
    """Which memories, and whether to be recalled by the caller alone."""

    local: bool = Field(
        default=False, description="The caller's own memories that are `client_local_only`, and no others."
    )


class Memories(BaseModel):
    """A page of memories, newest first."""

    memories: list[Memory]
    next: str | None


class Entries(BaseModel):
    """A page of the journal, newest first."""

    entries: list[Entry]
    next: str | None


class Keys(BaseModel):
    """The keys of a workspace."""

    keys: list[Key]
    next: str | None
