"""The relay's memory: one SQLite file, opened here and nowhere else, used by one thread.

Write-ahead log with synchronous=FULL: what was committed survives a kill and a power cut. Every call is one
transaction. A lock on a file beside it makes sure that only one relay sends.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

SCHEMA_VERSION = 1
BUSY_SECONDS = 10.0
PAGES_MAX = 262_144  # 1 GiB at 4 KiB a page: a full queue says so before the volume does.
T = TypeVar("T")

SCHEMA = """
CREATE TABLE alert_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT NOT NULL, group_key TEXT NOT NULL, receiver TEXT NOT NULL,
  labels TEXT NOT NULL, alerts TEXT NOT NULL, omitted INTEGER NOT NULL, external_url TEXT NOT NULL,
  opened_at REAL NOT NULL, changed_at REAL NOT NULL, seen_at REAL NOT NULL, closed_at REAL NOT NULL,
  state_key TEXT NOT NULL, root_event TEXT NOT NULL, root_room TEXT NOT NULL,
  mark_event TEXT NOT NULL, acknowledged_by TEXT NOT NULL, acknowledged_at REAL NOT NULL, silence TEXT NOT NULL,
  silenced_by TEXT NOT NULL, silenced_until REAL NOT NULL, reminders INTEGER NOT NULL, reminded_at REAL NOT NULL,
  severity INTEGER NOT NULL
);
CREATE INDEX alert_group_by_key ON alert_group (room, group_key, id);
CREATE INDEX alert_group_by_root ON alert_group (root_event);
CREATE INDEX alert_group_open ON alert_group (closed_at, silenced_until);
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, group_id INTEGER REFERENCES alert_group (id),
  room TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL, rank INTEGER NOT NULL, state TEXT NOT NULL,
  is_unclear INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, shrinks INTEGER NOT NULL DEFAULT 0,
  server_errors INTEGER NOT NULL DEFAULT 0,
  not_before REAL NOT NULL DEFAULT 0, created_at REAL NOT NULL, first_attempt_at REAL NOT NULL DEFAULT 0,
  ended_at REAL NOT NULL DEFAULT 0, event TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX delivery_waiting ON delivery (rank, seq) WHERE state = 'pending';
CREATE INDEX delivery_by_group ON delivery (group_id, kind, state);
CREATE INDEX delivery_by_end ON delivery (state, ended_at);
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, event TEXT NOT NULL UNIQUE, room TEXT NOT NULL,
  sender TEXT NOT NULL, verb TEXT NOT NULL, group_id INTEGER, detail TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE TABLE room (name TEXT PRIMARY KEY, configured TEXT NOT NULL, id TEXT NOT NULL);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class BusyError(RuntimeError):
    """Another relay holds the queue."""


class Queue:
    """The open queue. `run` is the only way to it: one thread, one transaction a call."""

    def __init__(self, path: Path, *, is_sender: bool) -> None:
        """Open the queue, making it on first use.

        Args:
            path: the file; its folder is made.
            is_sender: take the lock that one process may hold; False to look and to requeue only.

        Raises:
            BusyError: another process holds the lock.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _taken(path.with_suffix(".lock")) if is_sender else None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="queue")
        self._connection = self._thread.submit(_opened, path).result()

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction; it is committed when this returns.

        Raises:
            sqlite3.Error: nothing was changed.
        """
        return await asyncio.wrap_future(self._thread.submit(self._transaction, work))

    def call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do as `run` does, for callers without an event loop."""
        return self._thread.submit(self._transaction, work).result()

    def close(self) -> None:
        """Finish what runs, close the file, give the lock back."""
        self._thread.submit(self._connection.close).result()
        self._thread.shutdown()
        if self._lock is not None:
            os.close(self._lock)

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with _begun(self._connection) as connection:
            return work(connection)


@contextmanager
def _begun(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"max_page_count = {PAGES_MAX}"):
        connection.execute(f"PRAGMA {setting}")
    with _begun(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"the queue is of version {version}, newer than this relay knows")
    return connection


def _taken(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BusyError(f"another relay holds {path}") from None
    return descriptor
