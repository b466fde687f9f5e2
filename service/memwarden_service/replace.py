"""Puts a ruleset into force: verdicts outside, then one transaction behind the fence."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memwarden_policy.model import Resource, ResourceKey, StoreDefaults
from memwarden_service import metrics
from memwarden_service.admin_shapes import PutRuleset
from memwarden_service.database import Database, acting_as_operator
from memwarden_service.journal import APPEND, LOCK
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.verdicts import Plan, judge, plan

PASS_FENCE = text("select memwarden.pass_fence(:term)")
OPEN = text("select memwarden.open_workspace(:workspace, :name)")
CLOSE = text("select memwarden.close_workspace(:workspace)")
BEGIN = text("""
  insert into memwarden.ruleset (workspace_id, digest, store) values (:workspace, '', '{}') on conflict do nothing
""")
HELD = text("""
  select r.revision, r.digest, r.store, r.fence_term, r.fence_counter, r.fence_body from memwarden.ruleset r
  where r.workspace_id = :workspace for update
""")
HELD_OBJECTS = text("select * from memwarden.policy_object o where o.workspace_id = :workspace")
FENCE = text("""
  update memwarden.ruleset r set fence_term = :term, fence_counter = :counter, fence_body = :body
  where r.workspace_id = :workspace
""")
MOVE = text("""
  update memwarden.ruleset r set revision = :revision, moved_in = pg_current_xact_id()::text::bigint, digest = :digest,
    store = cast(:store as jsonb), applied_at = now() where r.workspace_id = :workspace
""")
PUT_OBJECTS = text("""
  insert into memwarden.policy_object
  select p.* from jsonb_populate_recordset(null::memwarden.policy_object, cast(:rows as jsonb)) p
  on conflict (workspace_id, kind, namespace, name) do update set uid = excluded.uid, spec = excluded.spec,
    generation = excluded.generation, digest = excluded.digest, revision = excluded.revision,
    offered_uid = excluded.offered_uid, offered_generation = excluded.offered_generation,
    offered_digest = excluded.offered_digest, accepted = excluded.accepted, problems = excluded.problems,
    notes = excluded.notes
""")
REMOVE_OBJECTS = text("""
  delete from memwarden.policy_object o using jsonb_to_recordset(cast(:keys as jsonb))
    as k (kind text, namespace text, name text)
  where o.workspace_id = :workspace and (o.kind, o.namespace, o.name) = (k.kind, k.namespace, k.name)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A ruleset as the operator offers it."""

    wanted: PutRuleset
    body: bytes  # The hash of the request, to tell a repeated one from another.
    operator: str

    @property
    def workspace(self) -> UUID:
        return self.wanted.namespace.uid

    @property
    def resources(self) -> list[Resource]:
        return [Resource(**each.model_dump()) for each in self.wanted.objects]

    @property
    def store(self) -> StoreDefaults:
        return StoreDefaults(**self.wanted.store.model_dump())


async def replace(database: Database, wanted: PutRuleset, body: bytes, operator: str) -> None:
    """Judge what is offered and bring into force what is accepted.

    Raises:
        ProblemError: a later operator or request has spoken; the body names an object twice; the uid is another's.
    """
    put = Put(wanted=wanted, body=hashlib.sha256(body).digest(), operator=operator)
    if len({each.key for each in put.resources}) != len(put.resources):
        raise ProblemError(Kind.INVALID, faults=[Fault("body.objects", "Twice", "an object is named twice")])
    verdicts = await asyncio.to_thread(judge, put.resources, put.store, wanted.namespace.name)
    async with acting_as_operator(database, put.workspace) as connection:
        held = await _enter(connection, put)
        objects: dict[ResourceKey, Mapping[str, Any]] = {
            (row["kind"], row["namespace"], row["name"]): dict(row)
            for row in (await connection.execute(HELD_OBJECTS, {"workspace": put.workspace})).mappings()
        }
        steps = await asyncio.to_thread(plan, put.resources, verdicts, objects, put.store, wanted.namespace.name)
        changed = await _apply(connection, put, held, steps)
    metrics.RULESET_PUTS.labels("changed" if changed else "unchanged").inc()


async def close(database: Database, workspace: UUID, fence: tuple[int, int], operator: str) -> bool:
    """Close a workspace whose namespace is gone. Returns False when it was not open."""
    body = hashlib.sha256(b"close" + workspace.bytes).digest()
    async with acting_as_operator(database, workspace) as connection:
        await _pass_fence(connection, fence[0])
        await connection.execute(LOCK)
        held = (await connection.execute(HELD, {"workspace": workspace})).one_or_none()
        if held is None:
            return False
        await _pass_counter(connection, held, (workspace, *fence, body))
        await connection.execute(APPEND, {"entry": _line("workspace.closed", operator, held.revision, {})})
        return bool((await connection.execute(CLOSE, {"workspace": workspace})).scalar_one())


async def _enter(connection: AsyncConnection, put: Put) -> Row[Any]:
    fence = put.wanted.fence
    await _pass_fence(connection, fence.term)
    name = put.wanted.namespace.name
    opened = (await connection.execute(OPEN, {"workspace": put.workspace, "name": name})).scalar_one()
    if opened == "renamed":
        raise ProblemError(Kind.CONFLICT, "this uid is known as another namespace")
    # Writes of this workspace wait here, and then find the new revision.
    await connection.execute(LOCK)
    await connection.execute(BEGIN, {"workspace": put.workspace})
    held = (await connection.execute(HELD, {"workspace": put.workspace})).one()
    await _pass_counter(connection, held, (put.workspace, fence.term, fence.counter, put.body))
    return held


async def _pass_fence(connection: AsyncConnection, term: int) -> None:
    if not (await connection.execute(PASS_FENCE, {"term": term})).scalar_one():
        raise _stale()


async def _pass_counter(connection: AsyncConnection, held: Row[Any], fence: tuple[UUID, int, int, bytes]) -> None:
    workspace, term, counter, body = fence
    was = (held.fence_term, held.fence_counter)
    if (term, counter) < was or ((term, counter) == was and body != bytes(held.fence_body)):
        raise _stale()
    values = {"workspace": workspace, "term": term, "counter": counter, "body": body}
    await connection.execute(FENCE, values)


async def _apply(connection: AsyncConnection, put: Put, held: Row[Any], steps: Plan) -> bool:
    store = put.wanted.store.model_dump(mode="json")
    moves = steps.moves or held.store != store or held.digest != steps.digest
    revision = held.revision + 1 if moves else held.revision
    if moves:
        values = {
            "workspace": put.workspace,
            "revision": revision,
            "digest": steps.digest,
            "store": json.dumps(store),
        }
        await connection.execute(MOVE, values)
    if steps.gone:
        await connection.execute(REMOVE_OBJECTS, {"workspace": put.workspace, "keys": _keys(steps.gone)})
    if steps.rows:
        await connection.execute(PUT_OBJECTS, {"rows": _rows(put.workspace, steps, revision)})
    if moves:
        await connection.execute(APPEND, {"entry": _entry(put, steps, revision)})
    return moves


def _rows(workspace: UUID, steps: Plan, revision: int) -> str:
    rows = [
        {
            **row,
            "workspace_id": str(workspace),
            "revision": revision if row["spec"] is not None and row["revision"] is None else row["revision"],
        }
        for row in steps.rows
    ]
    return json.dumps(rows)


def _keys(keys: tuple[ResourceKey, ...]) -> str:
    return json.dumps([{"kind": kind, "namespace": namespace, "name": name} for kind, namespace, name in keys])


def _entry(put: Put, steps: Plan, revision: int) -> str:
    detail: Mapping[str, Any] = {
        "digest": steps.digest,
        "changed": sum(row["revision"] is None for row in steps.rows),
        "removed": len(steps.gone),
        "fence": [put.wanted.fence.term, put.wanted.fence.counter],
    }
    return _line("ruleset.put", put.operator, revision, detail)


def _line(action: str, operator: str, revision: int, detail: Mapping[str, Any]) -> str:
    entry = {"action": action, "actor": operator, "principal": None, "object": None, "decision": None}
    return json.dumps({**entry, "revision": revision, "detail": detail})


def _stale() -> ProblemError:
    metrics.RULESET_PUTS.labels("stale").inc()
    return ProblemError(Kind.STALE_FENCE)
