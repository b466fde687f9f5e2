"""Routes of those who administer a whole workspace: journal and API keys; and who the caller is."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_policy.model import Access
from memwarden_service import api_keys, bodies, journal, keys, service
from memwarden_service.database import Acting, acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.shapes import Entries, Key, Keys, MadeKey, NewKey, NewPersonKey, Page, Verification, Whoami
from memwarden_service.spans import names_shown

router = APIRouter(prefix="/v1")


@router.get("/whoami", response_model=Whoami, tags=["whoami"])
async def whoami(request: Request, subject: Known) -> Whoami:
    """Say who the caller is here, and what they may do in the first thousand domains in which they see a memory."""
    here = service.of(request)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        names = await names_shown(acting.connection, acting)
    held, caller = acting.rights, acting.caller
    everywhere = max((level for level in Access if held.everything(level)), default=Access.NONE)
    return Whoami(
        workspace=subject.workspace,
        actor=caller.actor,
        principal=caller.principal,
        is_person=caller.is_person,
        roles=sorted(held.roles),
        may_claim=sorted(held.may_claim),
        everywhere=everywhere,
        access={name: held.access(name) for name in names},
        revision=acting.in_force.revision,
    )


@router.get("/journal", response_model=Entries, tags=["journal"])
async def list_journal(request: Request, subject: Known, wanted: Annotated[Page, Query()]) -> Entries:
    """List the journal of the workspace, newest first."""
    here = service.of(request)
    cursors = here.cursors(request, subject)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        _need_all(acting)
        rows = await journal.entries(acting, cursors.last(wanted.cursor), wanted.limit)
    page = rows[: wanted.limit]
    more = cursors.after(str(page[-1].seq)) if len(rows) > wanted.limit else None
    return Entries(entries=[journal.shown(row, acting.caller.principal) for row in page], next=more)


@router.get("/journal/verification", response_model=Verification, tags=["journal"])
async def verify_journal(request: Request, subject: Known) -> Verification:
    """Walk the journal's whole chain."""
    here = service.of(request)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        _need_all(acting)
        return await journal.verification(acting)


@router.get("/api-keys", response_model=Keys, tags=["api-keys"])
async def list_api_keys(request: Request, subject: Known, wanted: Annotated[Page, Query()]) -> Keys:
    """List the keys of the workspace, by name."""
    here = service.of(request)
    cursors = here.cursors(request, subject)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        _need_all(acting)
        after = cursors.last(wanted.cursor)
        rows = await api_keys.listed(acting.connection, acting.workspace_id, after, wanted.limit)
    page = rows[: wanted.limit]
    more = cursors.after(page[-1].name) if len(rows) > wanted.limit else None
    return Keys(keys=[Key(**row._asdict()) for row in page], next=more)


@router.post("/api-keys", status_code=201, response_model=MadeKey, openapi_extra=takes(NewKey), tags=["api-keys"])
async def make_api_key(request: Request, subject: Known) -> Response:
    """Make a key for an agent; this answer is the only one that shows it."""
    here = service.of(request)
    wanted = bodies.parse(await bodies.read(request), NewKey)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        _need_all(acting)
        new = NewPersonKey.model_construct(name=wanted.name, user=None, expires_at=wanted.expires_at)
        caller = acting.caller
        made = await api_keys.create(acting.connection, acting.workspace_id, new, caller.actor, caller.principal)
        await journal.append(acting, "api_key.made", made.id, {"name": made.name})
    return JSONResponse(made.model_dump(mode="json"), 201)


@router.delete("/api-keys/{key_id}", status_code=204, response_class=Response, tags=["api-keys"])
async def delete_api_key(request: Request, subject: Known, key_id: str) -> Response:
    """Delete a key: from the next request on it is refused."""
    here = service.of(request)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        _need_all(acting)
        if not keys.is_id(key_id):
            raise hidden()
        await api_keys.delete(acting.connection, acting.workspace_id, key_id)
        await journal.append(acting, "api_key.deleted", key_id, {})
    return Response(status_code=204)


def _need_all(acting: Acting) -> None:
    if not acting.rights.everything(Access.ADMIN):
        raise ProblemError(Kind.FORBIDDEN, "this takes Admin of every domain of the workspace")
