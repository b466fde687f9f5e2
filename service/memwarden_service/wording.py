"""What search keeps of a memory: the words in it, read once when it is written, of what was sanitised alone."""

import asyncio
import json
import logging
import random
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from memwarden_policy.model import Candidate
from memwarden_policy.retrieval.reading import read_memory
from memwarden_service.database import Database, acting_as_keeper, unread_work

PASS_SECONDS = 30.0
WORKSPACES_PER_PASS_MAX = 1_000
READ_AT_ONCE = 100  # Few enough that a writer who waits behind them waits for milliseconds.
PAUSE_SECONDS = 0.002  # Between two batches: whoever waits for the journal goes first.
UNREAD = text("select u.id, u.version, u.content from memwarden.unread_rows(:limit) u")
KEEP = text("select memwarden.keep_words(cast(:rows as jsonb))")


def kept(stated: Candidate) -> dict[str, Any] | None:
    """Return what is kept of a statement's words; None: its envelope says that none are."""
    return words_of(stated.content) if stated.envelope.server_content_search_enabled else None


def words_of(content: str) -> dict[str, Any]:
    """Return what is kept of a text, as JSON."""
    read = read_memory(content)
    return {
        "lexemes": dict(read.frequencies),
        "length": read.length,
        "speaker": read.speaker,
        "asks": read.asks,
        "tells_when": read.tells_when,
        "tells_number": read.tells_number,
    }


async def sweep(database: Database, log: logging.Logger) -> None:
    """Read what was written before search kept words, again and again, until cancelled."""
    while True:
        try:
            await read_all(database)
        except (SQLAlchemyError, OSError) as error:
            log.warning("reading words again", extra={"error": type(error).__name__})
        await asyncio.sleep(PASS_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - replicas do not go in step


async def read_all(database: Database) -> int:
    """Read the words of every memory that has none yet; returns how many were read."""
    total = 0
    for workspace in await unread_work(database, WORKSPACES_PER_PASS_MAX):
        while True:
            async with acting_as_keeper(database, workspace, None) as connection:
                found = list(await connection.execute(UNREAD, {"limit": READ_AT_ONCE}))
            if not found:
                break
            read = [
                {"id": str(row.id), "version": row.version, "words": await asyncio.to_thread(words_of, row.content)}
                for row in found
            ]
            async with acting_as_keeper(database, workspace, None) as connection:
                await connection.execute(KEEP, {"rows": json.dumps(read)})
            total += len(read)
            await asyncio.sleep(PAUSE_SECONDS)
    return total
