"""Routes of candidates: the queue of a reviewer, who is a person."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_policy.model import Access
from memwarden_service import reading, service
from memwarden_service.database import acting_as
from memwarden_service.knowing import Known
from memwarden_service.picture import Subject
from memwarden_service.review import review
from memwarden_service.shapes import Candidate, Candidates, MemoryFilter, Reviewed

router = APIRouter(prefix="/v1/candidates", tags=["candidates"])


@router.get("", response_model=Candidates)
async def list_candidates(request: Request, subject: Known, wanted: Annotated[MemoryFilter, Query()]) -> Candidates:
    """List what waits for this person, newest first."""
    here = service.of(request)
    cursors = here.cursors(request, subject, wanted.domain, wanted.memory_type, wanted.category)
    async with acting_as(here.database, subject, domain=wanted.domain, level=Access.ADMIN) as acting:
        rows = await reading.many(acting, reading.CANDIDATES, wanted, cursors.last(wanted.cursor))
    page = rows[: wanted.limit]
    more = cursors.after(str(page[-1].id)) if len(rows) > wanted.limit else None
    return Candidates(candidates=[Candidate(**reading.shown(row)) for row in page], next=more)


@router.get("/{candidate_id}", response_model=Candidate)
async def get_candidate(request: Request, subject: Known, candidate_id: UUID) -> Response:
    """Return one candidate to a person who may review it."""
    here = service.of(request)
    async with acting_as(here.database, subject, level=Access.ADMIN) as acting:
        row = await reading.one(acting, reading.CANDIDATE, candidate_id)
    tag = reading.etag(row)
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return JSONResponse(Candidate(**reading.shown(row)).model_dump(mode="json"), headers={"ETag": tag})


@router.post("/{candidate_id}/confirm", response_model=Reviewed)
async def confirm_candidate(request: Request, subject: Known, candidate_id: UUID) -> Reviewed:
    """Bring a candidate into force, under the same id. Takes a person who did not propose it."""
    await _review(request, subject, candidate_id, confirms=True)
    return Reviewed(id=candidate_id, status="confirmed")


@router.post("/{candidate_id}/reject", response_model=Reviewed)
async def reject_candidate(request: Request, subject: Known, candidate_id: UUID) -> Reviewed:
    """Refuse a candidate: its text is gone, and it may be proposed again."""
    await _review(request, subject, candidate_id, confirms=False)
    return Reviewed(id=candidate_id, status="rejected")


async def _review(request: Request, subject: Subject, candidate_id: UUID, *, confirms: bool) -> None:
    here = service.of(request)
    if_match = request.headers.get("if-match")
    await review(here.database, subject, candidate_id, confirms=confirms, if_match=if_match)
