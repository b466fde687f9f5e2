"""What is in force, read back from the rows, as the operator and its status show it."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from memwarden_service.admin_shapes import (
    HeldStore,
    InForceShape,
    JudgedObject,
    Namespace,
    Offered,
    ProblemShape,
    RulesetState,
    WorkspaceState,
)
from memwarden_service.database import Database, acting_as_operator
from memwarden_service.problems import hidden
from memwarden_service.rulesets import InForce

READ_TRIES_MAX = 5
RESOLVE = text("select workspace_id, revision from memwarden.resolve(:name)")
LIST = text("select id, name, revision from memwarden.list_workspaces(:after, :limit)")
OBJECTS = text("""
  select r.revision as ruleset_revision, o.kind, o.namespace, o.name, o.offered_uid, o.accepted, o.offered_generation,
    o.offered_digest, o.spec is not null as is_in_force, o.generation, o.digest, o.revision, o.problems, o.notes
  from memwarden.ruleset r left join memwarden.policy_object o on o.workspace_id = r.workspace_id
  where r.workspace_id = :workspace order by o.kind, o.namespace, o.name
""")


async def find(database: Database, name: str) -> UUID:
    """Return the id of an open workspace; raises ProblemError when there is none of this name."""
    async with acting_as_operator(database, None) as connection:
        row = (await connection.execute(RESOLVE, {"name": name})).one_or_none()
    if row is None:
        raise hidden()
    found: UUID = row.workspace_id
    return found


async def state(database: Database, name: str, workspace: UUID) -> RulesetState:
    """Return what is in force in a workspace, with the verdict on each object, at one revision."""
    for _ in range(READ_TRIES_MAX):
        async with acting_as_operator(database, workspace) as connection:
            rows = list(await connection.execute(OBJECTS, {"workspace": workspace}))
        if not rows:
            raise hidden()
        in_force = await _in_force(database, workspace, rows[0].ruleset_revision)
        if in_force.revision == rows[0].ruleset_revision:
            break
    return RulesetState(
        namespace=Namespace(name=name, uid=workspace),
        revision=in_force.revision,
        digest=in_force.digest,
        drifted=in_force.is_drifted,
        store=_store(in_force),
        objects=[_judged(row) for row in rows if row.kind is not None],
    )


async def states(database: Database, after: str, limit: int) -> list[WorkspaceState]:
    """Return a page of open workspaces and one more, by name."""
    async with acting_as_operator(database, None) as connection:
        rows = list(await connection.execute(LIST, {"after": after, "limit": limit + 1}))
    found = []
    for row in rows:
        in_force = await _in_force(database, row.id, row.revision)
        found.append(
            WorkspaceState(
                namespace=Namespace(name=row.name, uid=row.id),
                revision=in_force.revision,
                digest=in_force.digest,
                drifted=in_force.is_drifted,
            )
        )
    return found


async def _in_force(database: Database, workspace: UUID, revision: int) -> InForce:
    return database.rulesets.get(workspace, revision) or await database.in_force(workspace)


def _store(in_force: InForce) -> HeldStore:
    store = in_force.ruleset.store
    return HeldStore(
        namespace=store.namespace,
        name=store.name,
        uid=store.uid,
        admission_default=store.admission_default,
        reads=store.reads,
    )


def _judged(row: Row[Any]) -> JudgedObject:
    in_force = None
    if row.is_in_force:
        in_force = InForceShape(generation=row.generation, digest=row.digest, revision=row.revision)
    return JudgedObject(
        kind=row.kind,
        namespace=row.namespace,
        name=row.name,
        uid=row.offered_uid,
        accepted=row.accepted,
        offered=Offered(generation=row.offered_generation, digest=row.offered_digest),
        in_force=in_force,
        problems=[ProblemShape(**each) for each in row.problems],
        notes=[ProblemShape(**each) for each in row.notes],
    )
