"""Routes of policies: what is enforced, what holds for whom, and what a change would do."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy import text
from starlette.requests import Request

from memwarden_policy.effective import explain
from memwarden_policy.model import Access, ActorKind, Caller, Kind, Resource
from memwarden_service import bodies, planning, service
from memwarden_service.database import Acting, acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.policy_shapes import (
    About,
    EffectiveShape,
    ImpactShape,
    PlanBody,
    Policies,
    PolicyShape,
)
from memwarden_service.problems import Kind as Problem
from memwarden_service.problems import ProblemError
from memwarden_service.shapes import Page

router = APIRouter(prefix="/v1/policies", tags=["policies"])
IN_FORCE = text("""
  select o.kind, o.namespace, o.name, o.generation, o.digest, o.revision, o.spec from memwarden.policy_object o
  where o.workspace_id = :workspace and o.spec is not null
    and (o.kind, o.namespace, o.name) > (:kind, :namespace, :name)
  order by o.kind, o.namespace, o.name limit :limit
""")


@router.get("", response_model=Policies)
async def list_policies(request: Request, subject: Known, wanted: Annotated[Page, Query()]) -> Policies:
    """List the objects as they are enforced, by kind and name."""
    here = service.of(request)
    cursors = here.cursors(request, subject)
    kind, namespace, name = json.loads(cursors.last(wanted.cursor) or '["", "", ""]')
    async with acting_as(here.database, subject, level=Access.ADMIN) as acting:
        _need_all(acting)
        after = {"kind": kind, "namespace": namespace, "name": name}
        values = {"workspace": acting.workspace_id, **after, "limit": wanted.limit + 1}
        found = list(await acting.connection.execute(IN_FORCE, values))
    page = found[: wanted.limit]
    more = None
    if len(found) > wanted.limit:
        more = cursors.after(json.dumps([page[-1].kind, page[-1].namespace, page[-1].name]))
    return Policies(policies=[PolicyShape(**row._asdict()) for row in page], next=more)


@router.get("/effective", response_model=EffectiveShape)
async def get_effective(request: Request, subject: Known, wanted: Annotated[About, Query()]) -> dict[str, Any]:
    """Say what holds for a caller, layer by layer; for others than oneself this takes Admin of every domain."""
    here = service.of(request)
    async with acting_as(here.database, subject, level=Access.NONE) as acting:
        caller = acting.caller
        if wanted.subject is not None or wanted.on_behalf_of is not None:
            _need_all(acting)
            caller = _caller(wanted, acting.caller)
    return explain(acting.in_force.ruleset, caller, acting.now, wanted.domain).as_json()


@router.post("/plan", response_model=ImpactShape, openapi_extra=takes(PlanBody))
async def plan(request: Request, subject: Known) -> dict[str, Any]:
    """Count what the offered objects would do to the memories that the caller may read, before they are applied."""
    here = service.of(request)
    wanted = bodies.parse(await bodies.read(request), PlanBody, number=bodies.binary)
    async with acting_as(here.database, subject, level=Access.ADMIN) as acting:
        _need_all(acting)
        held = await planning.held(acting.connection, acting.workspace_id)
    after = await held.with_([_resource(each, held.workspace) for each in wanted.objects])
    async with acting_as(here.database, subject, level=Access.ADMIN) as acting:
        _need_all(acting)
        rulesets = (acting.in_force.ruleset, after)
        found = await planning.compared(acting.connection, acting.workspace_id, rulesets, acting.now)
    return found.as_json()


def _resource(planned: Any, workspace: str) -> Resource:
    namespace = "" if planned.kind == Kind.CLUSTER_MEMORY_POLICY else workspace
    return Resource(kind=planned.kind, namespace=namespace, name=planned.name, spec=planned.spec)


def _caller(wanted: About, own: Caller) -> Caller:
    if wanted.subject is None:
        kind, name = own.actor_kind, own.actor_name
        return Caller(actor_kind=kind, actor_name=name, principal=wanted.on_behalf_of, groups=own.groups)
    word, _, name = wanted.subject.partition(":")
    if word == "serviceAccount":
        namespace, _, account = name.partition("/")
        return Caller.service_account(namespace, account, principal=wanted.on_behalf_of)
    is_person = word == "user"
    return Caller(
        actor_kind=ActorKind.API_KEY,
        actor_name=f"{name}-key" if is_person else name,
        principal=name if is_person else wanted.on_behalf_of,
        is_person=is_person,
    )


def _need_all(acting: Acting) -> None:
    if not acting.rights.everything(Access.ADMIN):
        raise ProblemError(Problem.FORBIDDEN, "this takes Admin of every domain of the workspace")
