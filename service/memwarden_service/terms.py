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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from memwarden_policy.ruleset import Ruleset
from memwarden_service import metrics, rows
from memwarden_service.database import Database, acting_as_keeper, retention_lag, retention_work
from memwarden_service.expiry import KEEPER
from memwarden_service.rulesets import InForce

PASS_SECONDS = 30.0
WORKSPACES_PER_PASS_MAX = 1_000
RECKONED_AT_ONCE = 500
# Few enough that a writer who waits behind them waits for milliseconds; see `scripts/bench retention`.
ENDED_AT_ONCE = 100
PAUSE_SECONDS = 0.002  # Between two batches: whoever waits for the journal goes first.
NO_ID = UUID(int=0)

STAND = text("select k.revision, k.retention, k.after from memwarden.retention_stand() k")
NOTE = text("select memwarden.retention_note(:revision, :retention, :after)")
ROWS = text("select r from memwarden.retention_rows(:after, :limit) r")
PAST = text("select r from memwarden.retention_past(:after, :limit) r")
RECKONED = text("select memwarden.retention_reckoned(cast(:rows as jsonb))")
END = text("select e.by, e.ended from memwarden.retention_end(:revision, :retention, :limit, :by, :id) e")
LIFT = text("select memwarden.retention_lift(:id)")


async def sweep(database: Database, log: logging.Logger) -> None:
    """Pass again and again, until cancelled."""
    while True:
        try:
            await keep_terms(database)
            metrics.RETENTION_SUCCESS.set(time.time())
        except (SQLAlchemyError, OSError) as error:
            log.warning("keeping terms again", extra={"error": type(error).__name__})
        await asyncio.sleep(PASS_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - replicas do not go in step


async def keep_terms(database: Database) -> Counter[str]:
    """Do what is to be done in every workspace; returns how many memories ended, by what ended them."""
    ended: Counter[str] = Counter()
    for workspace in await retention_work(database, WORKSPACES_PER_PASS_MAX):
        ended += await settle(database, workspace)
    metrics.RETENTION_LAG.set(await retention_lag(database))
    return ended


async def settle(database: Database, workspace: UUID) -> Counter[str]:
    """Reckon what is to be reckoned in one workspace, then end what is due; returns how many, by what ended them."""
    place = Place(database, workspace, await database.in_force(workspace))
    await _reckon(place)
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


async def _reckon(place: Place) -> None:
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
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
    """Look at every memory once, and at the past of those that are gone; take down how far that is."""
    last: UUID | None = after
    while last is not None:
        await _note(place, last)
        last = await _batch(place, last)
    last = NO_ID
    while last is not None:
        last = await _batch(place, last, is_past=True)
    await _note(place, None)


async def _note(place: Place, after: UUID | None) -> None:
    values = {"revision": place.in_force.revision, "retention": place.ruleset.retention_digest, "after": after}
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
        await connection.execute(NOTE, values)


async def _batch(place: Place, after: UUID | None, *, is_past: bool = False) -> UUID | None:
    """Reckon one batch; returns the last id of it, None: there are no more. `after` None: what was never reckoned."""
    async with acting_as_keeper(place.database, place.workspace, None) as connection:
        values = {"after": after, "limit": RECKONED_AT_ONCE}
        found = list((await connection.execute(PAST if is_past else ROWS, values)).scalars())
        await connection.execute(RECKONED, {"rows": json.dumps(_changed(place.ruleset, found))})
    return UUID(found[-1]["id"]) if found else None


def _changed(ruleset: Ruleset, found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [_reckoned(ruleset, row) for row in found if row["retention"] != ruleset.retention_digest]


def _reckoned(ruleset: Ruleset, row: Mapping[str, Any]) -> dict[str, Any]:
    memory = rows.memory(row, row["domain"])
    return {"id": row["id"], "version": row["version"], **rows.end(ruleset, memory)}
