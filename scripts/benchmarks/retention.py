"""Retention over many rows: how fast they end, and how long a writer waits meanwhile for the lock that it needs."""

import asyncio
import os
import sys
import time
import uuid
from pathlib import Path

import psycopg

from benchmarks import Figure
from local import postgres

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))  # The parts that the tests of the service stand on.
from memwarden_service import terms  # noqa: E402
from memwarden_service.database import Database  # noqa: E402
from memwarden_service.migrate import sqlalchemy_url  # noqa: E402
from serving import stack  # noqa: E402

ROWS = int(os.environ.get("MEMWARDEN_BENCH_ROWS", "100000"))  # A million takes about ten minutes.
DUE_SHARE = 2  # One row of so many is due.
WRITER_PAUSE_SECONDS = 0.005
BLOCKED_GOAL_MS = 50.0
WORKSPACE, DOMAIN, DECISION = (uuid.UUID(int=number) for number in (1, 2, 3))
COLUMNS = """workspace_id, id, domain_id, topic, memory_type, category, content, source, confidence, is_sensitive, tags,
  observed_at, proposed_by, proposed_by_person, proposed_at, decision_id, version, in_force_from"""
SEED = f"""
insert into memwarden.workspace (id, name) values ('{WORKSPACE}', 'bench');
insert into memwarden.ruleset (workspace_id, digest, store) values ('{WORKSPACE}', '', '{{"namespace": "s", "name": "s",
  "uid": "u", "admission_default": "Accept", "reads": "Open"}}');
insert into memwarden.domain values ('{WORKSPACE}', '{DOMAIN}', 'd');
insert into memwarden.decision values ('{WORKSPACE}', '{DECISION}', '{DOMAIN}', null, 'x', null, 'Accept', '[]', '', 1,
  sha256(''), now());
insert into memwarden.policy_object (workspace_id, kind, namespace, name, uid, spec, generation, digest, revision,
  offered_uid, offered_generation, offered_digest, accepted) values ('{WORKSPACE}', 'MemoryPolicy', 'bench', 'month',
  'u', '{{"retention": {{"ttl": "30d"}}}}', 1, 'd', 1, 'u', 1, 'd', true);
"""  # noqa: S608 - constants


def run() -> list[Figure]:
    """Return how long it took to reckon and to end, and how long a writer waited at worst."""
    where = stack.folder("bench")
    server = postgres.start(where)
    try:
        database = stack.make_database(server, "bench")
        with database.admin() as admin:
            admin.execute(SEED.encode())
            _load(admin)
        return asyncio.run(_measure(database))
    finally:
        server.stop(immediately=True)
        stack.remove(where)


def _load(admin: psycopg.Connection) -> None:
    with admin.cursor().copy(f"copy memwarden.memory ({COLUMNS}) from stdin") as copy:
        for number in range(ROWS):
            age = "now" if number % DUE_SHARE else "2020-01-01T00:00:00Z"
            row = (
                WORKSPACE,
                uuid.UUID(int=1 << 64 | number),
                DOMAIN,
                "",
                "semantic",
                "",
                f"Row {number}.",
                "imported",
                "0.6",
            )
            copy.write_row((*row, False, "{}", "now", "x", False, "now", DECISION, 1, age))
    admin.commit()
    admin.autocommit = True
    admin.execute("vacuum analyze memwarden.memory")


async def _measure(database: stack.Database) -> list[Figure]:
    made, over = Database(sqlalchemy_url(database.url)), asyncio.Event()
    writer = asyncio.create_task(asyncio.to_thread(_write, database.url, over))
    began = time.perf_counter()
    ended = sum((await terms.keep_terms(made)).values())
    seconds = time.perf_counter() - began
    over.set()
    waits = sorted(await writer)
    await made.close()
    if ended != (ROWS + DUE_SHARE - 1) // DUE_SHARE:
        raise RuntimeError(f"of {ROWS} rows {ended} ended")
    return [
        _figure(f"retention, {ROWS} rows reckoned and {ended} ended", seconds, "s", None),
        _figure("retention, a writer's wait for the journal, worst", waits[-1] * 1000, "ms", BLOCKED_GOAL_MS),
        _figure("retention, a writer's wait, 99 of 100", waits[len(waits) * 99 // 100] * 1000, "ms", None),
    ]


def _write(url: str, over: asyncio.Event) -> list[float]:
    """Take the lock that every write of the workspace takes, now and then; return how long each waited."""
    waits = []
    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as connection:
        while not over.is_set():
            began = time.perf_counter()
            connection.execute("select set_config('memwarden.workspace', %s, true)", (str(WORKSPACE),))
            connection.execute("select memwarden.journal_lock()")
            connection.commit()
            waits.append(time.perf_counter() - began)
            time.sleep(WRITER_PAUSE_SECONDS)
    return waits


def _figure(name: str, value: float, unit: str, goal: float | None) -> Figure:
    return Figure(name=name, value=value, unit=unit, better="lower", goal=goal)
