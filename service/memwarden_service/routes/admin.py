"""Routes of the operator: rulesets, workspaces, people's keys."""

import json
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_service import api_keys, bodies, planning, service, standing
from memwarden_service.admin_shapes import FENCE_MAX, NamespaceName, PutRuleset, RulesetState, Workspaces
from memwarden_service.database import acting_as_operator, counting_as_operator
from memwarden_service.journal import APPEND
from memwarden_service.knowing import Operator
from memwarden_service.openapi import takes
from memwarden_service.pages import Cursors
from memwarden_service.policy_shapes import Counts, ObjectName
from memwarden_service.problems import Fault, Kind, ProblemError, hidden
from memwarden_service.replace import close, replace
from memwarden_service.shapes import MadeKey, NewPersonKey, Page

router = APIRouter(prefix="/admin/v1/workspaces", tags=["admin"])
InPath = Annotated[NamespaceName, Path()]
FenceNumber = Annotated[int, Query(ge=0, le=FENCE_MAX)]


@router.get("", response_model=Workspaces)
async def list_workspaces(request: Request, operator: Operator, wanted: Annotated[Page, Query()]) -> Workspaces:
    """List the open workspaces, by name."""
    here = service.of(request)
    cursors = Cursors(hash_key=here.settings.hash_key, of=("workspaces", operator))
    found = await standing.states(here.database, cursors.last(wanted.cursor) or "", wanted.limit)
    page = found[: wanted.limit]
    more = cursors.after(page[-1].namespace.name) if len(found) > wanted.limit else None
    return Workspaces(workspaces=page, next=more)


@router.put("/{namespace}/ruleset", response_model=RulesetState, openapi_extra=takes(PutRuleset))
async def put_ruleset(request: Request, operator: Operator, namespace: InPath) -> Response:
    """Put everything that is to be in force in a workspace; answers with a verdict on each object."""
    here = service.of(request)
    body = await bodies.read(request, bodies.ADMIN_BODY_BYTES_MAX)
    wanted = bodies.parse(body, PutRuleset, number=bodies.binary, check_text=False)
    if wanted.namespace.name != namespace:
        raise ProblemError(
            Kind.INVALID, faults=[Fault("body.namespace.name", "OtherName", "is not that of the address")]
        )
    await replace(here.database, wanted, body, operator)
    state = await standing.state(here.database, namespace, wanted.namespace.uid)
    return JSONResponse(state.model_dump(mode="json"))


@router.get("/{namespace}/ruleset", response_model=RulesetState)
async def get_ruleset(request: Request, _: Operator, namespace: InPath) -> RulesetState:
    """Return what is in force in a workspace, computed from the rows."""
    here = service.of(request)
    return await standing.state(here.database, namespace, await standing.find(here.database, namespace))


@router.get("/{namespace}/impact", response_model=Counts)
async def get_impact(
    request: Request, _: Operator, namespace: InPath, wanted: Annotated[ObjectName, Query()]
) -> Counts:
    """Count what one object in force does to the shared memories that exist, compared with the rules without it.

    A policy in Audit mode is counted as if it were enforced.
    """
    here = service.of(request)
    workspace = await standing.find(here.database, namespace)
    key = (wanted.kind, "" if wanted.kind == "ClusterMemoryPolicy" else namespace, wanted.name)
    async with acting_as_operator(here.database, workspace) as connection:
        held = await planning.held(connection, workspace)
    if key not in held.objects:
        raise hidden()
    rulesets = (await held.without(key), await held.enforcing(key))
    async with counting_as_operator(here.database, workspace) as connection:
        found = await planning.compared(connection, workspace, rulesets, datetime.now(UTC))
    generation, counts = held.objects[key].generation, dict(found.counts)
    return Counts(generation=generation, revision=held.revision, memories=found.memories, counts=counts)


@router.delete("/{namespace}", status_code=204, response_class=Response)
async def close_workspace(
    request: Request, operator: Operator, namespace: InPath, uid: UUID, term: FenceNumber, counter: FenceNumber
) -> Response:
    """Close a workspace whose namespace is gone: nobody reaches it any more."""
    here = service.of(request)
    if await standing.find(here.database, namespace) != uid:
        raise hidden()
    if not await close(here.database, uid, (term, counter), operator):
        raise hidden()
    return Response(status_code=204)


@router.post("/{namespace}/api-keys", status_code=201, response_model=MadeKey, openapi_extra=takes(NewPersonKey))
async def make_person_key(request: Request, operator: Operator, namespace: InPath) -> Response:
    """Make a key; with `user` it is that person's own, and calls made with it are theirs."""
    here = service.of(request)
    wanted = bodies.parse(await bodies.read(request), NewPersonKey)
    workspace = await standing.find(here.database, namespace)
    async with acting_as_operator(here.database, workspace) as connection:
        made = await api_keys.create(connection, workspace, wanted, operator)
        entry = {"action": "api_key.made", "actor": operator, "principal": None, "object": made.id, "decision": None}
        detail = {"name": made.name, "user": made.user}
        await connection.execute(APPEND, {"entry": json.dumps({**entry, "revision": None, "detail": detail})})
    return JSONResponse(made.model_dump(mode="json"), 201)
