"""Routes of candidates: the queue of a reviewer, who is a person."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_policy.confirming import Person
from memwarden_policy.model import Access
from memwarden_service import bodies, care, reading, rows, service
from memwarden_service.database import acting_as
from memwarden_service.edit import edit
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.picture import Subject
from memwarden_service.problems import ProblemError
from memwarden_service.review import Reviewing, approvals, confirm, need_person, reject
from memwarden_service.review_shapes import (
    Asked,
    Bulk,
    BulkAnswer,
    BulkItem,
    Candidate,
    CandidateFilter,
    Candidates,
    Change,
    Edited,
    Rejection,
    Reviewed,
)
from memwarden_service.spans import RowOf, Table
from memwarden_service.write import canonical

router = APIRouter(prefix="/v1/candidates", tags=["candidates"])


@router.get("", response_model=Candidates)
async def list_candidates(request: Request, subject: Known, wanted: Annotated[CandidateFilter, Query()]) -> Candidates:
    """List what waits for this person, newest first."""
    here = service.of(request)
    filters = wanted.model_dump(exclude={"limit", "cursor"}).values()
    cursors = here.cursors(request, subject, *filters)
    async with acting_as(here.database, subject, domain=wanted.domain, level=Access.ADMIN) as acting:
        found = await reading.many(acting, reading.CANDIDATES, wanted, cursors.last(wanted.cursor))
        page = found[: wanted.limit]
        given = {row.id: await approvals(acting, row.id) for row in page if rows.needed(row).people > 1}
    more = cursors.after(str(page[-1].id)) if len(found) > wanted.limit else None
    return Candidates(candidates=[_shown(row, given.get(row.id, ())) for row in page], next=more)


@router.post("/bulk", response_model=BulkAnswer, openapi_extra=takes(Bulk))
async def review_several(request: Request, subject: Known) -> BulkAnswer:
    """Say the same of several candidates; each is reviewed by itself, and has an answer of its own."""
    wanted = care.changed(bodies.parse(await bodies.read(request), Bulk))
    need_person(subject)
    reviewing = _reviewing(request, subject)
    async with acting_as(reviewing.database, subject, level=Access.NONE):
        pass  # A stranger learns that here, not item by item.
    results = [await _reviewed(reviewing, wanted, each) for each in dict.fromkeys(wanted.ids)]
    return BulkAnswer(results=results)


@router.get("/{candidate_id}", response_model=Candidate)
async def get_candidate(request: Request, subject: Known, candidate_id: UUID) -> Response:
    """Return one candidate to a person who may review it."""
    here = service.of(request)
    row_of = RowOf(Table.CANDIDATE, candidate_id)
    async with acting_as(here.database, subject, row=row_of, level=Access.ADMIN) as acting:
        row = await reading.one(acting, reading.CANDIDATE, candidate_id)
        given = await approvals(acting, candidate_id)
    tag = reading.etag(row)
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return JSONResponse(_shown(row, given).model_dump(mode="json"), headers={"ETag": tag})


@router.post("/{candidate_id}/confirm", response_model=Reviewed)
async def confirm_candidate(request: Request, subject: Known, candidate_id: UUID) -> Reviewed:
    """Bring a candidate into force, under the same id. Takes people who did not propose it."""
    return _answer(candidate_id, await confirm(_reviewing(request, subject), candidate_id))


@router.post("/{candidate_id}/edit", response_model=Reviewed, openapi_extra=takes(Edited))
async def edit_candidate(request: Request, subject: Known, candidate_id: UUID) -> Reviewed:
    """Put other words in its place, and confirm them."""
    wanted = care.changed(bodies.parse(await bodies.read(request), Edited))
    value = canonical(wanted.value, "body.value") if "value" in wanted.model_fields_set else None
    return _answer(candidate_id, await edit(_reviewing(request, subject), candidate_id, wanted.content, value))


@router.post("/{candidate_id}/reject", response_model=Reviewed, openapi_extra=takes(Rejection, required=False))
async def reject_candidate(request: Request, subject: Known, candidate_id: UUID) -> Reviewed:
    """Refuse a candidate: its text is gone, and the same claim does not come back."""
    wanted = care.changed(await bodies.optional(request, Rejection))
    await reject(_reviewing(request, subject), candidate_id, wanted.reason)
    return Reviewed(id=candidate_id, status="rejected")


def _reviewing(request: Request, subject: Subject) -> Reviewing:
    here = service.of(request)
    if_match = request.headers.get("if-match")
    return Reviewing(database=here.database, subject=subject, hash_key=here.settings.hash_key, if_match=if_match)


def _answer(candidate_id: UUID, lacking: tuple[str, ...]) -> Reviewed:
    return Reviewed(id=candidate_id, status="approved" if lacking else "confirmed", missing=list(lacking))


async def _reviewed(reviewing: Reviewing, wanted: Bulk, candidate_id: UUID) -> BulkItem:
    try:
        if wanted.action == "reject":
            await reject(reviewing, candidate_id, wanted.reason)
            return BulkItem(id=candidate_id, status="rejected")
        lacking = await confirm(reviewing, candidate_id)
    except ProblemError as problem:
        return BulkItem(
            id=candidate_id, status="problem", problem=problem.kind.uri, detail=problem.detail or problem.kind.title
        )
    return BulkItem(id=candidate_id, status="approved" if lacking else "confirmed", missing=list(lacking))


def _shown(row: Row[Any], given: tuple[Person, ...]) -> Candidate:
    needed = rows.needed(row)
    change = None
    if row.change is not None:
        change = Change(kind=row.change, memory=row.target, version=row.target_version)
    asks = Asked(by=[each.shown for each in needed.by], people=needed.people, questions=list(needed.questions))
    approved_by = [each.actor for each in given]
    return Candidate(**{**reading.shown(row), "change": change, "asks": asks, "approved_by": approved_by})
