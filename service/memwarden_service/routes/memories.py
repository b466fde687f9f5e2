"""Routes of memories: propose, list, get."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_service import reading, service
from memwarden_service.database import acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.problems import Kind, ProblemError
from memwarden_service.shapes import Memories, Memory, MemoryFilter, Proposal, Written
from memwarden_service.spans import RowOf, Table
from memwarden_service.write import propose

router = APIRouter(prefix="/v1/memories", tags=["memories"])
STATUS = {"confirmed": 201, "held": 202}


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
async def list_memories(request: Request, subject: Known, wanted: Annotated[MemoryFilter, Query()]) -> Memories:
    """List the memories in force that the caller may read, newest first."""
    here = service.of(request)
    cursors = here.cursors(request, subject, wanted.domain, wanted.memory_type, wanted.category)
    async with acting_as(here.database, subject, domain=wanted.domain) as acting:
        rows = await reading.many(acting, reading.MEMORIES, wanted, cursors.last(wanted.cursor))
        page = rows[: wanted.limit]
        await reading.note_sensitive(acting, page)
    more = cursors.after(str(page[-1].id)) if len(rows) > wanted.limit else None
    return Memories(memories=[Memory(**reading.shown(row)) for row in page], next=more)


@router.get("/{memory_id}", response_model=Memory)
async def get_memory(request: Request, subject: Known, memory_id: UUID) -> Response:
    """Return one memory; with If-None-Match, 304 while it is the same."""
    here = service.of(request)
    async with acting_as(here.database, subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
        row = await reading.one(acting, reading.MEMORY, memory_id)
        tag = reading.etag(row)
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        await reading.note_sensitive(acting, [row])
    return JSONResponse(Memory(**reading.shown(row)).model_dump(mode="json"), headers={"ETag": tag})
