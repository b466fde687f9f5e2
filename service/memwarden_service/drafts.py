"""A proposal on its way through the stages of the write path."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from starlette.requests import Request

from memwarden_policy.cutting import NO_CUTS, Cuts
from memwarden_policy.model import Candidate, Decision, Known
from memwarden_policy.records import Said
from memwarden_policy.redaction import Redaction
from memwarden_policy.screening import Screened
from memwarden_service.picture import Picture, Subject
from memwarden_service.shapes import Proposal


class Counts(NamedTuple):
    """What came from a source of late, counted no further than it matters."""

    similar: int = 0
    in_window: int = 0


@dataclass(slots=True)
class Draft:
    """A proposal on its way; each stage fills in what it knows."""

    request: Request
    subject: Subject = field(init=False)
    body: bytes = field(init=False)
    proposal: Proposal = field(init=False)
    redactions: tuple[Redaction, ...] = field(init=False)
    told: Proposal = field(init=False)  # Without what policies, or its owner, let be cut as well.
    told_redactions: tuple[Redaction, ...] = field(init=False, default=())
    cuts: Cuts = field(init=False, default=NO_CUTS)
    screened: Screened = field(init=False)
    counts: Counts = field(init=False, default=Counts())  # It was screened with.
    source_key: bytes | None = field(init=False, default=None)  # None: this source is not counted.
    likeness: bytes = field(init=False, default=b"")
    event_key: bytes | None = field(init=False, default=None)  # None: no event is named.
    idempotency_key: str | None = field(init=False, default=None)  # None: the caller sent none.
    known: Known = field(init=False, default_factory=Known)  # Corrected by the record where it is wrong.
    asked: tuple[int, Said] | None = field(init=False, default=None)  # The revision, and what was said then.
    candidate: Candidate = field(init=False)  # As it is stored.
    content_key: bytes = field(init=False)
    claim_key: bytes = field(init=False)
    picture: Picture = field(init=False)
    decision: Decision = field(init=False)
    state: str = field(init=False)
    answer: dict[str, Any] = field(init=False)

    @property
    def all_redactions(self) -> tuple[Redaction, ...]:
        """What was cut, whoever wanted it."""
        return (*self.redactions, *self.told_redactions)

    @property
    def principal(self) -> str | None:
        """The person in whose session it arrives."""
        return self.subject.on_behalf_of or self.subject.caller.principal

    @property
    def is_private(self) -> bool:
        return self.proposal.private
