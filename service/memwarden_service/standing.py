"""What is in force, read back from the rows, as the operator and its status show it."""

import contextlib
import logging
from typing import Any
from uuid import UUID

from pydantic import ValidationError
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
from memwarden_service.database import Database, acting_as_operator, counting_as_operator, version_of
from memwarden_service.problems import hidden
from memwarden_service.rulesets import InForce, Version

READ_TRIES_MAX = 5
# What code raises that meets a row it did not expect.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
LOG = logging.getLogger("memwarden.rulesets")
RESOLVE = text("select workspace_id from memwarden.resolve(:name)")
LIST = text("select id, name, revision, moved_in, digest from memwarden.list_workspaces(:after, :limit)")
OBJECTS = text("""
  select r.revision as ruleset_revision, r.moved_in, r.digest as ruleset_digest, o.kind, o.namespace, o.name,
    o.offered_uid, o.accepted, o.offered_generation,
    o.offered_digest, o.spec is not null as is_in_force, o.generation, o.digest, o.revision, o.problems, o.notes
  from memwarden.ruleset r left join memwarden.policy_object o on o.workspace_id = r.workspace_id
  where r.workspace_id = :workspace order by o.kind, o.namespace, o.name
""")

HOLDS_MEMORIES = text("""
  select exists (select from memwarden.memory m where m.workspace_id = :workspace and memwarden.is_standing(m))
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
        version = (rows[0].ruleset_revision, rows[0].moved_in, rows[0].ruleset_digest)
        in_force = await _in_force(database, workspace, version)
        if in_force.version == version:
            break
    return RulesetState(
        namespace=Namespace(name=name, uid=workspace),
        revision=in_force.revision,
        digest=in_force.digest,
        drifted=in_force.is_drifted,
        holds_memories=await _holds_memories(database, workspace),
        store=_store(in_force),
        objects=[_judged(row) for row in rows if row.kind is not None],
    )


async def states(database: Database, after: str, limit: int) -> list[WorkspaceState]:
    """Return a page of open workspaces and one more, by name."""
    async with acting_as_operator(database, None) as connection:
        rows = list(await connection.execute(LIST, {"after": after, "limit": limit + 1}))
    found = []
    for row in rows:
        namespace = Namespace(name=row.name, uid=row.id)
        try:
            in_force = await _in_force(database, row.id, version_of(row))
        except UNREADABLE as error:
            # One workspace does not take the list from all others; the operator puts what is drifted again.
            LOG.exception("a ruleset cannot be read", extra={"error": type(error).__name__})
            found.append(WorkspaceState(namespace=namespace, revision=row.revision, digest="", drifted=True))
            continue
        found.append(
            WorkspaceState(
                namespace=namespace,
                revision=in_force.revision,
                digest=in_force.digest,
                drifted=in_force.is_drifted,
            )
        )
    return found


async def _holds_memories(database: Database, workspace: UUID) -> bool:
    async with counting_as_operator(database, workspace) as connection:
        return bool((await connection.execute(HOLDS_MEMORIES, {"workspace": workspace})).scalar_one())


async def _in_force(database: Database, workspace: UUID, version: Version) -> InForce:
    return database.rulesets.get(workspace, version) or await database.in_force(workspace)


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
        problems=_told(row.problems),
        notes=_told(row.notes),
    )


def _told(value: Any) -> list[ProblemShape]:
    """Return what a row tells; a hand-edited one may hold anything, and is mended by the next put."""
    told = []
    for each in value if isinstance(value, list) else ():
        with contextlib.suppress(ValidationError):
            told.append(ProblemShape.model_validate(each))
    return told
