"""Routes of memories: propose, list, get, change, give feedback, look back."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_policy.model import Point
from memwarden_service import bodies, care, feeding, holding, reading, service
from memwarden_service.change_shapes import Altered, Deletion, Edit, FeedbackBody, History, HoldBody, Lifting, Version
from memwarden_service.changing import Changing, Result, Wish, change
from memwarden_service.database import acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.picture import Subject
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.shapes import Memories, MemoriesFilter, Memory, Page, Proposal, Written
from memwarden_service.spans import RowOf, Table
from memwarden_service.write import canonical, propose

router = APIRouter(prefix="/v1/memories", tags=["memories"])
STATUS = {"confirmed": 201, "held": 202, "changed": 200, "revoked": 200}
NEWEST = 2**31 - 1
WAITS: dict[int | str, dict[str, Any]] = {202: {"model": Altered}}


@router.post(
    "", status_code=201, response_model=Written, responses={202: {"model": Written}}, openapi_extra=takes(Proposal)
)
async def propose_memory(request: Request) -> Response:
    """Propose a memory: 201 it is in force, 202 a person has to look at it, 403 a policy refuses it."""
    answer = await propose(service.of(request).writing, request)
    if answer["status"] == "refused":
        members = {name: answer[name] for name in ("decision", "rules", "redactions")}
        raise ProblemError(Kind.POLICY_REFUSED, answer["reason"], members=members)
    where = {"Location": f"/v1/memories/{answer['id']}"} if answer["status"] == "confirmed" else {}
    return JSONResponse(answer, STATUS[answer["status"]], headers=where)


@router.get("", response_model=Memories)
async def list_memories(request: Request, subject: Known, wanted: Annotated[MemoriesFilter, Query()]) -> Memories:
    """List the memories in force that the caller may read, newest first."""
    here = service.of(request)
    cursors = here.cursors(request, subject, wanted.domain, wanted.memory_type, wanted.category, wanted.local)
    async with acting_as(here.database, subject, domain=wanted.domain) as acting:
        page, last = await reading.memories(acting, wanted, cursors.last(wanted.cursor))
        await reading.note_sensitive(acting, [each.row for each in page])
    more = cursors.after(last) if last is not None else None
    return Memories(memories=[Memory(**reading.flagged(each)) for each in page], next=more)


@router.get("/{memory_id}", response_model=Memory)
async def get_memory(request: Request, subject: Known, memory_id: UUID) -> Response:
    """Return one memory; with If-None-Match, 304 while it is the same."""
    here = service.of(request)
    async with acting_as(here.database, subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
        found = await reading.memory(acting, memory_id)
        tag = reading.etag(found.row)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        await reading.note_sensitive(acting, [found.row])
    return JSONResponse(Memory(**reading.flagged(found)).model_dump(mode="json"), headers={"ETag": tag})


@router.patch("/{memory_id}", response_model=Altered, responses=WAITS, openapi_extra=takes(Edit))
async def edit_memory(request: Request, subject: Known, memory_id: UUID) -> Response:
    """Put a new version in place (If-Match, if wanted): 200 it is in force, 202 a person has to look at it first."""
    wanted = care.changed(bodies.parse(await bodies.read(request), Edit))
    fields = wanted.model_fields_set & {"content", "value", "valid_until", "delete_at"}
    if not fields:
        raise ProblemError(Kind.INVALID, faults=[Fault("body", "Missing", "says nothing that would differ")])
    wish = Wish(
        kind=Point.UPDATE,
        source=wanted.source,
        reason=wanted.reason,
        content=wanted.content,
        value=canonical(wanted.value, "body.value") if "value" in fields else None,
        valid_until=wanted.valid_until,
        delete_at=wanted.delete_at,
        vector=wanted.vector,
    )
    result = await change(_changing(request, subject), memory_id, wish)
    return _altered(result.as_json(memory_id), result)


@router.delete("/{memory_id}", response_model=Altered, responses=WAITS)
async def delete_memory(
    request: Request, subject: Known, memory_id: UUID, wanted: Annotated[Deletion, Query()]
) -> Response:
    """Revoke a memory: from now on it is served to nobody; its history says what it was."""
    wish = Wish(kind=Point.DELETE, source=wanted.source, reason=care.changed(wanted).reason)
    result = await change(_changing(request, subject), memory_id, wish)
    return _altered(result.as_json(memory_id), result)


@router.post("/{memory_id}/feedback", response_model=Altered, responses=WAITS, openapi_extra=takes(FeedbackBody))
async def give_feedback(request: Request, subject: Known, memory_id: UUID) -> Response:
    """Say of a memory that it is right, wrong, should read otherwise, or should go. Takes a person."""
    body = await bodies.read(request)
    wanted = care.changed(bodies.parse(body, FeedbackBody))
    by = _changing(request, subject)
    given = feeding.Given(
        memory=memory_id,
        feedback_id=wanted.feedback_id,
        kind=wanted.kind,
        request=feeding.request_hash(by.hash_key, body),
        content=wanted.content,
        reason=wanted.reason,
    )
    return _altered(*await feeding.give(by, given))


@router.put("/{memory_id}/hold", status_code=204, response_class=Response, openapi_extra=takes(HoldBody))
async def put_hold(request: Request, subject: Known, memory_id: UUID) -> Response:
    """Put a memory on legal hold: no retention and no deletion ends it. Takes a person with Admin of the domain."""
    wanted = care.changed(bodies.parse(await bodies.read(request), HoldBody))
    await holding.put(_changing(request, subject), memory_id, wanted.reason)
    return Response(status_code=204)


@router.delete("/{memory_id}/hold", status_code=204, response_class=Response)
async def lift_hold(request: Request, subject: Known, memory_id: UUID, wanted: Annotated[Lifting, Query()]) -> Response:
    """Lift a legal hold, also of the past versions; what is due by now ends."""
    await holding.lift(_changing(request, subject), memory_id, care.changed(wanted).reason)
    return Response(status_code=204)


@router.get("/{memory_id}/history", response_model=History)
async def get_history(request: Request, subject: Known, memory_id: UUID, wanted: Annotated[Page, Query()]) -> History:
    """List the versions of a memory, newest first, with who changed it and why."""
    here = service.of(request)
    cursors = here.cursors(request, subject)
    before = int(cursors.last(wanted.cursor) or NEWEST)
    async with acting_as(here.database, subject, row=RowOf(Table.VERSION, memory_id)) as acting:
        page, last = await reading.history(acting, memory_id, before, wanted.limit)
        await reading.note_sensitive(acting, [each.row for each in page[:1]])
    more = cursors.after(str(last)) if last is not None else None
    return History(versions=[Version(**reading.version(each)) for each in page], next=more)


def _changing(request: Request, subject: Subject) -> Changing:
    here, if_match = service.of(request), request.headers.get("if-match")
    return Changing(database=here.database, subject=subject, hash_key=here.settings.hash_key, if_match=if_match)


def _altered(answer: dict[str, Any], result: Result | None) -> Response:
    if result is not None and result.status == "refused":
        members = {"decision": str(result.decision), "rules": list(result.rules)}
        raise ProblemError(Kind.POLICY_REFUSED, result.reason, members=members)
    return JSONResponse(answer, STATUS[answer["status"]])
