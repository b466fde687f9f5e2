"""A person's word on a candidate: confirm or reject."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from memwarden_policy.access import Rights
from memwarden_policy.model import Access, Caller
from memwarden_service import journal, metrics, reading
from memwarden_service.database import Acting, Database, acting_as
from memwarden_service.picture import Subject
from memwarden_service.problems import Kind, ProblemError, hidden

REVIEW = text("select memwarden.review(:id, :confirmed_by, cast(:entry as jsonb))")


async def review(
    database: Database, subject: Subject, candidate_id: UUID, *, confirms: bool, if_match: str | None
) -> None:
    """Confirm or reject a candidate.

    Args:
        database: where.
        subject: who.
        candidate_id: which.
        confirms: False: reject, and forget its text.
        if_match: the entity tag that was read; None: whatever it is now.

    Raises:
        ProblemError: not this person, not this candidate, or it changed since.
    """
    if not subject.caller.is_person:
        raise ProblemError(Kind.PERSON_REQUIRED)
    async with acting_as(database, subject, level=Access.ADMIN) as acting:
        # Two reviews at once: the second waits here, and then finds no candidate.
        await journal.lock(acting)
        held = await reading.one(acting, reading.CANDIDATE, candidate_id)
        problem = objection(held, acting.caller, acting.rights, confirms=confirms)
        if problem is not None:
            raise problem
        if if_match is not None and if_match not in ("*", reading.etag(held)):
            raise ProblemError(Kind.STALE_VERSION)
        await _act(acting, held, confirms=confirms)
    metrics.REVIEWS.labels("confirmed" if confirms else "rejected").inc()


def objection(held: Row[Any], caller: Caller, rights: Rights, *, confirms: bool) -> ProblemError | None:
    """Say why this caller may not review the candidate; None: they may. Who proposed it may take it back."""
    person = caller.principal if caller.is_person else None
    if person is None:
        return ProblemError(Kind.PERSON_REQUIRED)
    is_theirs = person == held.about or (held.private and person == held.proposed_for)
    if not is_theirs and rights.access(held.domain) < Access.ADMIN:
        return hidden()
    is_own = held.proposed_by == caller.actor or (held.proposed_by_person and held.proposed_for == person)
    if confirms and is_own:
        return ProblemError(Kind.OWN_PROPOSAL)
    return None


async def _act(acting: Acting, held: Row[Any], *, confirms: bool) -> None:
    action = "candidate.confirmed" if confirms else "candidate.rejected"
    detail = {journal.PRIVATE: True} if held.private else {}
    values = {
        "id": held.id,
        "confirmed_by": acting.caller.actor if confirms else None,
        "entry": journal.line(acting, action, str(held.id), detail),
    }
    if not (await acting.connection.execute(REVIEW, values)).scalar_one():
        raise hidden()
