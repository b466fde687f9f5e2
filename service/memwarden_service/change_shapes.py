"""The shapes of changes: edits, feedback, history, and what was decided."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from memwarden_policy.model import SourceKind
from memwarden_service.envelope_shapes import Vector
from memwarden_service.review_shapes import Content, Why
from memwarden_service.shapes import TIDY, Domain, Flag, Moment, Statement, Strict

FEEDBACK_ID_LENGTH_MAX = 128
FeedbackId = Annotated[str, StringConstraints(min_length=1, max_length=FEEDBACK_ID_LENGTH_MAX), TIDY]


class Edit(Strict):
    """What differs in the next version; what is absent stays."""

    content: Content | None = None
    value: Any = Field(default=None, description="Absent: it stays.")
    valid_until: Moment | None = None
    delete_at: Moment | None = None
    vector: Vector = Field(default=(), description="Of the new words, where a vault memory opted in to be found by it.")
    source: SourceKind = Field(
        default=SourceKind.AGENT_EXTRACTED,
        description="On whose word; a person with their own key speaks for themselves.",
    )
    reason: Why | None = Field(default=None, description="Is written down in the journal.")


class FeedbackBody(Strict):
    """What a person says of a memory."""

    feedback_id: FeedbackId = Field(description="The same one again is answered as the first time.")
    kind: Literal["confirm", "reject", "edit", "delete"]
    content: Content | None = Field(default=None, description="The new text, with `edit`.")
    reason: Why | None = Field(default=None, description="Is written down in the journal.")

    @model_validator(mode="after")
    def _only_an_edit_has_content(self) -> "FeedbackBody":
        if (self.kind == "edit") != (self.content is not None):
            raise ValueError("`content` goes with `edit`")
        return self


class Deletion(Strict):
    """On whose word a memory is revoked, and why."""

    source: SourceKind = SourceKind.AGENT_EXTRACTED
    reason: Why | None = None


class HoldBody(Strict):
    """Why a memory is to be kept whatever a retention says."""

    reason: Annotated[Why, Field(description="Such as the number of the case. Is written down in the journal.")]


class Lifting(Strict):
    """Why a hold is lifted."""

    reason: Why | None = None


class Altered(BaseModel):
    """The answer to a change; `candidate` is the id under which it waits for a person."""

    id: UUID
    status: Literal["changed", "revoked", "held"]
    decision: UUID
    version: int
    confidence: float
    candidate: UUID | None


class Version(Statement):
    """One version of a memory; the first of a history may still be in force."""

    status: Literal["confirmed", "needs_verification", "deactivated", "superseded", "revoked", "expired"]
    confirmed_by: str | None
    last_confirmed_at: datetime | None
    since: datetime
    changed_by: str | None
    change_reason: str | None
    ended_at: datetime | None
    ended_by: str | None
    ended_reason: str | None
    successor: UUID | None
    flag: Flag | None


class History(BaseModel):
    """A page of versions, newest first."""

    versions: list[Version]
    next: str | None


class Where(Strict):
    """Where a decision was taken."""

    domain: Domain | None = Field(default=None, description="Needed where nothing was ever kept in the domain.")


class RuleShape(BaseModel):
    """What one rule said."""

    rule: str
    action: str
    counted: bool
    failed: bool
    note: str | None


class DecisionShape(BaseModel):
    """A decision with every rule that took part."""

    id: UUID
    domain: str | None
    point: Literal["admission", "update", "delete"]
    action: str
    explanation: str
    rules: list[RuleShape]
    detected: list[str]
    actor: str
    principal: str | None
    revision: int
    at: datetime
