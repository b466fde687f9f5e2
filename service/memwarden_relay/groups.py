"""Groups as rows: reading, storing, finding. Each function works inside the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from memwarden_relay import severities, snapshots
from memwarden_relay.model import Group, Severity
from memwarden_relay.timers import REMINDERS_MAX

OPEN_MAX = 5_000  # Groups that lists look at.
TIMED_MAX = 100  # Groups in one round of the timers; the rest in the next.
_PLAIN = (
    "room",
    "group_key",
    "receiver",
    "omitted",
    "external_url",
    "opened_at",
    "changed_at",
    "seen_at",
    "closed_at",
    "state_key",
    "root_event",
    "root_room",
    "mark_event",
    "acknowledged_by",
    "acknowledged_at",
    "silence",
    "silenced_by",
    "silenced_until",
    "reminders",
    "reminded_at",
)
_ALL = (*_PLAIN, "labels", "alerts", "severity")


def latest(connection: sqlite3.Connection, room: str, group_key: str) -> Group | None:
    """Return the newest incident of a group in a room."""
    query = "SELECT * FROM alert_group WHERE room = ? AND group_key = ? ORDER BY id DESC LIMIT 1"
    return _one(connection.execute(query, (room, group_key)).fetchone())


def by_id(connection: sqlite3.Connection, number: int) -> Group | None:
    return _one(connection.execute("SELECT * FROM alert_group WHERE id = ?", (number,)).fetchone())


def by_event(connection: sqlite3.Connection, room: str, event: str) -> Group | None:
    """Return the group that an event of ours belongs to: its root, or a note of its thread."""
    query = "SELECT * FROM alert_group WHERE root_event = ? AND room = ?"
    found = _one(connection.execute(query, (event, room)).fetchone())
    if found or not event:
        return found
    query = (
        "SELECT g.* FROM delivery d JOIN alert_group g ON g.id = d.group_id "
        "WHERE d.state = 'sent' AND d.event = ? AND g.room = ? LIMIT 1"
    )
    return _one(connection.execute(query, (event, room)).fetchone())


def open_ones(connection: sqlite3.Connection, room: str | None = None) -> tuple[Group, ...]:
    """Return what fires or is silenced, of one room or of all."""
    where, values = ("AND room = ?", (room,)) if room else ("", ())
    query = f"SELECT * FROM alert_group WHERE (closed_at = 0 OR silence <> '') {where} ORDER BY id LIMIT {OPEN_MAX}"  # noqa: S608 - fixed text
    return tuple(_group(row) for row in connection.execute(query, values))


def timed(connection: sqlite3.Connection, now: float, remind_after: float) -> tuple[Group, ...]:
    """Return the groups that time may have brought something: a silence that ends, a reminder."""
    query = (
        "SELECT * FROM alert_group WHERE (silence <> '' AND silenced_until <= ?) OR (closed_at = 0 AND severity = ? "
        "AND acknowledged_by = '' AND silence = '' AND root_event <> '' AND reminders < ? "
        "AND max(reminded_at, opened_at) <= ?) ORDER BY id LIMIT ?"
    )
    values = (now, int(Severity.CRITICAL), REMINDERS_MAX, now - remind_after, TIMED_MAX)
    return tuple(_group(row) for row in connection.execute(query, values))


def doubtful(connection: sqlite3.Connection) -> tuple[Group, ...]:
    """Return the groups whose silence ended, so that nobody knows whether they fire."""
    query = "SELECT * FROM alert_group WHERE silence = '' AND silenced_until > 0 AND closed_at = 0 ORDER BY id LIMIT ?"
    return tuple(_group(row) for row in connection.execute(query, (TIMED_MAX,)))


def tally(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return for each room how many groups fire, and how many of them are critical and nobody's."""
    query = (
        "SELECT room, count(*) AS firing, sum(severity = ? AND acknowledged_by = '') AS unowned "
        "FROM alert_group WHERE closed_at = 0 GROUP BY room"
    )
    rows = connection.execute(query, (int(Severity.CRITICAL),))
    return {row["room"]: (row["firing"], row["unowned"]) for row in rows}


def affected_by_move(connection: sqlite3.Connection, room: str) -> tuple[Group, ...]:
    """Return what must be shown anew when a room moves: what is open, and what still has something to send."""
    query = (
        "SELECT * FROM alert_group g WHERE room = ? AND (closed_at = 0 OR silence <> '' OR EXISTS "
        "(SELECT 1 FROM delivery d WHERE d.group_id = g.id AND d.state = 'pending')) ORDER BY id LIMIT ?"
    )
    return tuple(_group(row) for row in connection.execute(query, (room, OPEN_MAX)))


def next_id(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'alert_group'").fetchone()
    return (row[0] if row else 0) + 1


def save(connection: sqlite3.Connection, group: Group) -> None:
    """Store a group under its id."""
    columns = ", ".join(("id", *_ALL))
    marks = ", ".join("?" for _ in range(len(_ALL) + 1))
    sets = ", ".join(f"{name} = excluded.{name}" for name in _ALL)
    query = f"INSERT INTO alert_group ({columns}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {sets}"  # noqa: S608
    labels = json.dumps([dict(group.group_labels), dict(group.common_labels)])
    place = int(severities.worst(group.alerts))
    special: Iterable[object] = (labels, snapshots.dump(group.alerts), place)
    connection.execute(query, (group.id, *(getattr(group, name) for name in _PLAIN), *special))


def uproot(connection: sqlite3.Connection, group: Group) -> Group:
    """Forget where the message of a group is, so that the next change writes a new one."""
    changed = replace(group, root_event="", root_room="", mark_event="")
    save(connection, changed)
    return changed


def _one(row: sqlite3.Row | None) -> Group | None:
    return _group(row) if row else None


def _group(row: sqlite3.Row) -> Group:
    of_group, in_common = json.loads(row["labels"])
    return Group(
        id=row["id"],
        group_labels=of_group,
        common_labels=in_common,
        alerts=snapshots.load(row["alerts"]),
        **{name: row[name] for name in _PLAIN},
    )
