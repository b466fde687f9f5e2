"""Keeps terms: reckons when memories end, and ends what is due. Any number of replicas may do so at once.

Nothing that is served depends on it: what has ended is there for nobody from its moment on, deleted or not. A pass that
is cut off is taken up where it stopped; what was reckoned by older rules is never ended by them.
"""

import asyncio
import json
import logging
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from memwarden_policy.ruleset import Ruleset
from memwarden_service import metrics, rows
from memwarden_service.database import Acting, Database, acting_as_keeper, retention_lag, retention_work
from memwarden_service.expiry import KEEPER
from memwarden_service.problems import ProblemError
from memwarden_service.rulesets import InForce
from memwarden_service.standing import UNREADABLE

PASS_SECONDS = 30.0
WORKSPACES_PER_PASS_MAX = 1_000
RECKONED_AT_ONCE = 500
# Few enough that a writer who waits behind them waits for milliseconds; see `scripts/bench retention`.
ENDED_AT_ONCE = 40
PAUSE_SECONDS = 0.002  # Between two batches: whoever waits for the journal goes first.
NO_ID = UUID(int=0)
LOG = logging.getLogger("memwarden.terms")

STAND = text("select k.revision, k.retention, k.after from memwarden.retention_stand() k")
NOTE = text("select memwarden.retention_note(:revision, :retention, :after)")
ROWS = text("select r from memwarden.retention_rows(:after, :limit) r")
PAST = text("select r from memwarden.retention_past(:after, :version, :limit) r")
ENTER = text("select memwarden.retention_enter(:revision)")
RECKONED = text("select memwarden.retention_reckoned(cast(:rows as jsonb))")
CHANGED = text("""
  select v.r || jsonb_build_object('content', '', 'value', null, 'encryption_state', 'plaintext', 'reason', '',
    'vault_vector', null, 'domain', d.name) from (
    select to_jsonb(m) as r, m.domain_id from memwarden.memory m
      where m.workspace_id = :workspace and m.id = :id and m.retention is null
    union all select to_jsonb(v) as r, v.domain_id from memwarden.memory_version v
      where v.workspace_id = :workspace and v.id = :id and v.retention is null
  ) v join memwarden.domain d on d.workspace_id = :workspace and d.id = v.domain_id limit :limit
""")
END = text("select e.by, e.ended from memwarden.retention_end(:revision, :retention, :limit, :by, :id) e")
LIFT = text("select memwarden.retention_lift(:id)")


class LeftError(Exception):
    """Another process reckons in this workspace, or its rules are others by now: the next pass comes back to it."""


async def sweep(database: Database, log: logging.Logger) -> None:
    """Pass again and again, until cancelled."""
    while True:
        try:
            await keep_terms(database, log)
        except (SQLAlchemyError, OSError) as error:
            metrics.RETENTION_FAILURES.inc()
            log.warning("keeping terms again", extra={"error": type(error).__name__})
        await asyncio.sleep(PASS_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - replicas do not go in step


async def keep_terms(database: Database, log: logging.Logger = LOG) -> Counter[str]:
    """Do what is to be done in every workspace; returns how many memories ended, by what ended them.

    What goes wrong in one workspace is told, and the others go on.
    """
    ended: Counter[str] = Counter()
    failures = 0
    for workspace in await retention_work(database, WORKSPACES_PER_PASS_MAX):
        try:
            ended += await settle(database, workspace)
        except (SQLAlchemyError, ProblemError, *UNREADABLE) as error:
            failures += 1
            about = {"workspace": str(workspace), "error": type(error).__name__}
            log.warning("terms of a workspace were not kept", extra=about)
    metrics.RETENTION_LAG.set(await retention_lag(database))
    metrics.RETENTION_FAILURES.inc(failures)
    if not failures:
        metrics.RETENTION_SUCCESS.set(time.time())
    return ended


async def settle(database: Database, workspace: UUID) -> Counter[str]:
    """Reckon what is to be reckoned in one workspace, then end what is due; returns how many, by what ended them."""
    place = Place(database, workspace, await database.in_force(workspace))
    try:
        await _reckon(place)
    except LeftError:
        return Counter()
    ended: Counter[str] = Counter()
    while some := await end(place):
        ended += some
        await asyncio.sleep(PAUSE_SECONDS)
    return ended


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace, and its rules as they were read."""

    database: Database
    workspace: UUID
    in_force: InForce

    @property
    def ruleset(self) -> Ruleset:
        return self.in_force.ruleset


async def end(place: Place, memory: UUID | None = None) -> Counter[str]:
    """End what is due, a bounded number, or one memory if it is due; returns how many, by what ended them."""
    values = {
        "revision": place.in_force.revision,
        "retention": place.ruleset.retention_digest,
        "limit": ENDED_AT_ONCE,
        "by": KEEPER,
        "id": memory,
    }
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
        found = Counter({row.by: row.ended for row in await connection.execute(END, values)})
    for by, count in found.items():
        metrics.ENDED.labels(kind_of(by)).inc(count)
    return found


def kind_of(by: str) -> str:
    """Return the kind of what ended a memory: `MemoryPolicy/short: ttl` is of the kind ttl."""
    last = by.rpartition(": ")[2]
    return last if last in metrics.ENDINGS else "rule"


async def reckon_one(place: Place, row: Mapping[str, Any]) -> None:
    """Take down when one memory ends."""
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
        await connection.execute(RECKONED, {"rows": json.dumps([_reckoned(place.ruleset, row)])})


async def reckon_changed(acting: Acting, memory: UUID) -> None:
    """Take down when a memory ends, in the transaction that changed it or its past: no later change can lose that."""
    values = {"workspace": acting.workspace_id, "id": memory, "limit": RECKONED_AT_ONCE}
    while found := list((await acting.connection.execute(CHANGED, values)).scalars()):
        reckoned = [_reckoned(acting.in_force.ruleset, row) for row in found]
        await acting.connection.execute(RECKONED, {"rows": json.dumps(reckoned)})
        if len(found) < RECKONED_AT_ONCE:
            return


async def _reckon(place: Place) -> None:
    async with _entered(place) as connection:
        stand = (await connection.execute(STAND)).one_or_none()
    digest = place.ruleset.retention_digest
    is_same = stand is not None and stand.retention == digest
    if stand is None or not is_same or stand.after is not None:
        await _walk(place, stand.after if stand is not None and is_same and stand.after else NO_ID)
    elif stand.revision != place.in_force.revision:
        await _note(place, None)
    while await _batch(place, None) is not None:
        pass


async def _walk(place: Place, after: UUID) -> None:
    """Look at every memory once, and at all past versions; take down how far that is."""
    last: UUID | None = after
    while last is not None:
        await _note(place, last)
        last = await _batch(place, last)
    version: tuple[UUID, int] | None = (NO_ID, 0)
    while version is not None:
        version = await _past_batch(place, version)
    await _note(place, None)


async def _note(place: Place, after: UUID | None) -> None:
    values = {"revision": place.in_force.revision, "retention": place.ruleset.retention_digest, "after": after}
    async with _entered(place) as connection:
        await connection.execute(NOTE, values)


async def _batch(place: Place, after: UUID | None) -> UUID | None:
    """Reckon one batch; returns the last id of it, None: there are no more. `after` None: what was never reckoned."""
    async with _entered(place) as connection:
        found = list((await connection.execute(ROWS, {"after": after, "limit": RECKONED_AT_ONCE})).scalars())
        await connection.execute(RECKONED, {"rows": json.dumps(_changed(place.ruleset, found))})
    return UUID(found[-1]["id"]) if found else None


async def _past_batch(place: Place, after: tuple[UUID, int]) -> tuple[UUID, int] | None:
    """Reckon one batch of past versions; returns the last of it, None: there are no more."""
    values = {"after": after[0], "version": after[1], "limit": RECKONED_AT_ONCE}
    async with _entered(place) as connection:
        found = list((await connection.execute(PAST, values)).scalars())
        await connection.execute(RECKONED, {"rows": json.dumps(_changed(place.ruleset, found))})
    return (UUID(found[-1]["id"]), found[-1]["version"]) if found else None


@asynccontextmanager
async def _entered(place: Place) -> AsyncIterator[AsyncConnection]:
    """Open a transaction of the only process that reckons in this workspace; raises LeftError where another does."""
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
        if not (await connection.execute(ENTER, {"revision": place.in_force.revision})).scalar_one():
            raise LeftError
        yield connection


def _changed(ruleset: Ruleset, found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_reckoned(ruleset, row) for row in found if row["retention"] != ruleset.retention_digest]


def _reckoned(ruleset: Ruleset, row: Mapping[str, Any]) -> dict[str, Any]:
    memory = rows.memory(row, row["domain"])
    return {"id": row["id"], "version": row["version"], **rows.end(ruleset, memory)}
