"""Ends what nobody answered: a bounded pass now and then, which any number of replicas may run at once."""

import asyncio
import json
import logging
import random
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from memwarden_service import metrics
from memwarden_service.database import Database, acting_as_keeper, due
from memwarden_service.journal import LOCK, PRIVATE

PASS_SECONDS = 30.0
EXPIRED_PER_PASS_MAX = 200
KEEPER = "memwarden-service"  # The actor in the journal: no caller's doing.
DROP = text("select memwarden.drop_candidate(cast(:argument as jsonb))")


@dataclass(frozen=True, slots=True)
class Due:
    """A candidate that nobody answered in time."""

    workspace: UUID
    id: UUID
    owner: str | None  # None: it is shared.


async def sweep(database: Database, log: logging.Logger) -> None:
    """Pass again and again, until cancelled. Nothing depends on it: what has expired is not served anyway."""
    while True:
        await asyncio.sleep(PASS_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - replicas do not go in step
        try:
            await expire_due(database)
        except (SQLAlchemyError, OSError) as error:
            log.warning("expiring again", extra={"error": type(error).__name__})


async def expire_due(database: Database) -> int:
    """End what is due, a bounded number; returns how many this process ended."""
    found = [Due(row.workspace_id, row.id, row.owner) for row in await due(database, EXPIRED_PER_PASS_MAX)]
    return sum([await expire(database, each) for each in found])


async def expire(database: Database, due: Due) -> bool:
    """End one candidate if it is due. False: somebody else did, or it is not."""
    entry = {"action": "candidate.expired", "actor": KEEPER, "principal": due.owner, "object": str(due.id)}
    detail = {PRIVATE: True} if due.owner is not None else {}
    whole = {
        "id": str(due.id),
        "by": KEEPER,
        "claim": None,
        "due": True,
        "entry": {**entry, "decision": None, "revision": None, "detail": detail},
    }
    async with acting_as_keeper(database, due.workspace, due.owner) as connection:
        await connection.execute(LOCK)
        done = bool((await connection.execute(DROP, {"argument": json.dumps(whole)})).scalar_one())
    if done:
        metrics.EXPIRED.inc()
    return done
