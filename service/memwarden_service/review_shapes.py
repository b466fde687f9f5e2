"""The shapes of the review: what waits, what it needs, and a person's word on it."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from memwarden_policy import bounds
from memwarden_policy.model import SourceKind
from memwarden_service.shapes import TIDY, MemoryFilter, Moment, Statement, Strict, tidied_content

REVIEWED_AT_ONCE_MAX = 50
REASON_LENGTH_MAX = 256
PROPOSER_LENGTH_MAX = 2 * bounds.NAME_MAX
Why = Annotated[str, StringConstraints(min_length=1, max_length=REASON_LENGTH_MAX), TIDY]
Content = Annotated[
    str, StringConstraints(min_length=1, max_length=bounds.CONTENT_LENGTH_MAX), BeforeValidator(tidied_content)
]
Proposer = Annotated[str, StringConstraints(min_length=1, max_length=PROPOSER_LENGTH_MAX), TIDY]


class Asked(BaseModel):
    """What a confirmation needs."""

    by: list[str]
    people: int
    questions: list[str]


class Change(BaseModel):
    """The change of a memory that waits."""

    kind: Literal["edit", "delete"]
    memory: UUID
    version: int


class Candidate(Statement):
    """A proposal that waits for a person."""

    state: Literal["pending", "quarantined"]
    asks: Asked
    approved_by: list[str]
    expires_at: datetime
    change: Change | None


class Candidates(BaseModel):
    """A page of candidates, newest first."""

    candidates: list[Candidate]
    next: str | None


class CandidateFilter(MemoryFilter):
    """Which candidates."""

    source: SourceKind | None = None
    state: Literal["pending", "quarantined"] | None = None
    proposed_by: Proposer | None = None
    proposed_after: Moment | None = None
    proposed_before: Moment | None = None


class Reviewed(BaseModel):
    """The answer to a review: `approved` is a yes that is not enough yet."""

    id: UUID
    status: Literal["confirmed", "approved", "rejected"]
    missing: list[str] = Field(default_factory=list)


class Rejection(Strict):
    """A no, and why."""

    reason: Why | None = Field(default=None, description="Is written down in the journal.")


class Edited(Strict):
    """Other words, which are then confirmed."""

    content: Content
    value: Any = Field(default=None, description="Absent: it stays.")


class Bulk(Strict):
    """The same word on several candidates."""

    action: Literal["confirm", "reject"]
    ids: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=REVIEWED_AT_ONCE_MAX)]
    reason: Why | None = None


class BulkItem(BaseModel):
    """What became of one of them; `problem` is the type of the problem that it alone would have had."""

    id: UUID
    status: Literal["confirmed", "approved", "rejected", "problem"]
    missing: list[str] = Field(default_factory=list)
    problem: str | None = None
    detail: str | None = None


class BulkAnswer(BaseModel):
    """One answer for each that was named, in their order."""

    results: list[BulkItem]
