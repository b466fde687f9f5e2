"""Deliveries as rows: what waits, what is tried, what is done. Each function works inside the caller's transaction."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import asdict
from uuid import uuid4

from memwarden_relay.model import (
    Cancel,
    Delivery,
    Group,
    Kind,
    Mentions,
    Payload,
    Put,
    RootState,
    Waiting,
    Write,
)
from memwarden_relay.outcomes import Next, Verdict

PENDING_MAX = 20_000
JOINS = frozenset({Kind.ROOT, Kind.EDIT, Kind.NOTE, Kind.FILE, Kind.REACT, Kind.UNREACT})
_CLAIMABLE = """
SELECT d.*, coalesce(g.root_event, '') AS root_event FROM delivery d LEFT JOIN alert_group g ON g.id = d.group_id
WHERE d.state = 'pending' AND d.not_before <= ? AND d.room NOT IN (SELECT value FROM json_each(?))
  AND (d.group_id IS NULL OR d.kind IN ('root', 'unreact', 'answer') OR g.root_event <> '')
  AND NOT EXISTS (SELECT 1 FROM delivery e WHERE e.group_id = d.group_id AND e.kind = d.kind AND e.state = 'pending'
                  AND e.seq < d.seq)
ORDER BY d.rank, d.seq LIMIT 1
"""


class FullError(RuntimeError):
    """The queue holds as many deliveries as it may."""


def write(connection: sqlite3.Connection, group: Group, writes: Iterable[Write], now: float) -> None:
    """Carry out what was planned for a group.

    Raises:
        FullError: nothing more can wait; the transaction must not be committed.
    """
    for one in writes:
        if isinstance(one, Cancel):
            query = "DELETE FROM delivery WHERE group_id = ? AND kind = ? AND state = 'pending' AND is_unclear = 0"
            connection.execute(query, (group.id, one.kind.value))
        elif not _replaced(connection, group.id, one):
            add(connection, room=group.room, group_id=group.id, put=one, now=now)


def add(connection: sqlite3.Connection, *, room: str, group_id: int | None, put: Put, now: float) -> None:
    """Queue a delivery of its own."""
    if pending(connection) >= PENDING_MAX:
        raise FullError(f"{PENDING_MAX} deliveries wait")
    query = (
        "INSERT INTO delivery (id, group_id, room, kind, payload, rank, state, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)"
    )
    values = (str(uuid4()), group_id, room, put.kind.value, _dumped(put.payload), put.rank, now)
    connection.execute(query, values)


def _replaced(connection: sqlite3.Connection, group_id: int, put: Put) -> bool:
    """Put the new words in the place of those that nobody can have seen; say whether there were any."""
    if put.kind not in JOINS:
        return False
    query = (
        "UPDATE delivery SET payload = ?, rank = min(rank, ?), shrinks = 0 "
        "WHERE group_id = ? AND kind = ? AND state = 'pending' AND is_unclear = 0"
    )
    return connection.execute(query, (_dumped(put.payload), put.rank, group_id, put.kind.value)).rowcount > 0


def waiting(connection: sqlite3.Connection, group: Group) -> Waiting:
    """Return what of a group is on its way."""
    query = (
        "SELECT kind, is_unclear, payload FROM delivery "
        "WHERE group_id = ? AND state = 'pending' AND kind IN ('root', 'note')"
    )
    root, note = RootState.SENT if group.root_event else RootState.NONE, None
    for row in connection.execute(query, (group.id,)):
        if row["kind"] == Kind.ROOT:
            root = RootState.UNCLEAR if row["is_unclear"] else RootState.WAITING
        elif not row["is_unclear"]:
            note = _payload(row["payload"])
    return Waiting(root=root, note=note)


def claim(connection: sqlite3.Connection, now: float, paused: Collection[str]) -> Delivery | None:
    """Take what is to be sent next, and note before it is sent that the room may have it."""
    row = connection.execute(_CLAIMABLE, (now, json.dumps(list(paused)))).fetchone()
    if row is None:
        return None
    first = row["first_attempt_at"] or now
    query = "UPDATE delivery SET is_unclear = 1, attempts = attempts + 1, first_attempt_at = ? WHERE seq = ?"
    connection.execute(query, (first, row["seq"]))
    return Delivery(
        id=row["id"],
        seq=row["seq"],
        room=row["room"],
        kind=Kind(row["kind"]),
        payload=_payload(row["payload"]),
        rank=row["rank"],
        group_id=row["group_id"],
        attempts=row["attempts"] + 1,
        created_at=row["created_at"],
        first_attempt_at=first,
        was_unclear=bool(row["is_unclear"]),
        shrinks=row["shrinks"],
        server_errors=row["server_errors"],
        root_event=row["root_event"],
    )


def settle(connection: sqlite3.Connection, delivery: Delivery, verdict: Verdict, *, room_id: str, now: float) -> None:
    """Store what an attempt came to."""
    if verdict.next is Next.SENT:
        _sent(connection, delivery, verdict.event, room_id, now)
        return
    state, shrinks = ("dead", 0) if verdict.next is Next.DEAD else ("pending", int(verdict.next is Next.SHRINK))
    # Waiting for the homeserver's limit or for a room is no fault of the delivery.
    blameless = verdict.next in (Next.LIMITED, Next.PAUSE_ALL, Next.PAUSE_ROOM)
    query = (
        "UPDATE delivery SET state = ?, is_unclear = ?, shrinks = shrinks + ?, not_before = ?, error = ?, "
        "attempts = attempts - ?, server_errors = server_errors + ?, ended_at = ? WHERE seq = ?"
    )
    ended = now if state == "dead" else 0
    wait = 0.0 if verdict.next is Next.LIMITED else verdict.wait
    values = (state, verdict.is_unclear, shrinks, now + wait, verdict.why, blameless, verdict.is_server_error, ended)
    connection.execute(query, (*values, delivery.seq))


def _sent(connection: sqlite3.Connection, delivery: Delivery, event: str, room_id: str, now: float) -> None:
    # A file's words are large and are in the room now.
    query = (
        "UPDATE delivery SET state = 'sent', is_unclear = 0, event = ?, ended_at = ?, error = '', payload = '{}' "
        "WHERE seq = ?"
    )
    connection.execute(query, (event, now, delivery.seq))
    if delivery.kind is Kind.ROOT:
        query = "UPDATE alert_group SET root_event = ?, root_room = ? WHERE id = ?"
        connection.execute(query, (event, room_id, delivery.group_id))
    elif delivery.kind in (Kind.REACT, Kind.UNREACT):
        mark = event if delivery.kind is Kind.REACT else ""
        connection.execute("UPDATE alert_group SET mark_event = ? WHERE id = ?", (mark, delivery.group_id))


def others_got_through(connection: sqlite3.Connection, since: float) -> bool:
    """Say whether anything reached a room since then."""
    query = "SELECT 1 FROM delivery WHERE state = 'sent' AND ended_at > ? LIMIT 1"
    return connection.execute(query, (since,)).fetchone() is not None


def pending(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM delivery WHERE state = 'pending'").fetchone()
    return int(row[0])


def waiting_answers(connection: sqlite3.Connection, room: str) -> int:
    """Return how many answers wait in a room."""
    query = "SELECT count(*) FROM delivery WHERE state = 'pending' AND kind = 'answer' AND room = ?"
    return int(connection.execute(query, (room,)).fetchone()[0])


def drop_unsent(connection: sqlite3.Connection, group_id: int) -> int:
    """Drop all that waits for a group; return how many rows."""
    return connection.execute("DELETE FROM delivery WHERE group_id = ? AND state = 'pending'", (group_id,)).rowcount


def next_due(connection: sqlite3.Connection, now: float) -> float:
    """Return the seconds until the next delivery that waits for its time, at most a minute."""
    query = "SELECT min(not_before) FROM delivery WHERE state = 'pending' AND not_before > ?"
    found = connection.execute(query, (now,)).fetchone()[0]
    return 60.0 if found is None else float(min(60.0, max(0.0, found - now)))


def _dumped(payload: Payload) -> str:
    return json.dumps(asdict(payload), ensure_ascii=False, separators=(",", ":"))


def _payload(text: str) -> Payload:
    value = json.loads(text)
    mentions = value.pop("mentions", {})
    users = tuple(mentions.get("users", ()))
    lines = tuple(value.pop("lines", ()))
    return Payload(**value, lines=lines, mentions=Mentions(room=bool(mentions.get("room")), users=users))
