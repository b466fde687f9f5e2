"""Other rows of the queue: what people did, where rooms are, facts to remember, dead letters, what is old."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from memwarden_relay.commands import Command

DAY = 86_400.0
SENT_KEPT_SECONDS = 14 * DAY  # As long as people reply to a message.
GROUPS_KEPT_SECONDS = 14 * DAY
JOURNAL_KEPT_SECONDS = 400 * DAY
JOURNAL_ROWS_MAX = 100_000
DEAD_ROWS_MAX = 10_000
LISTED_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How the queue of one room stands."""

    pending: int
    oldest_at: float  # 0: nothing waits.
    dead: int


def begin(connection: sqlite3.Connection, command: Command, group_id: int | None, now: float) -> str:
    """Note that a command is being carried out; return its outcome when it was seen before: "" while that is open."""
    query = (
        "INSERT INTO journal (at, event, room, sender, verb, group_id, detail, outcome) "
        "VALUES (?, ?, ?, ?, ?, ?, '', '') ON CONFLICT (event) DO NOTHING"
    )
    values = (now, command.event, command.room, command.sender, command.verb.value, group_id)
    if connection.execute(query, values).rowcount:
        return "new"
    found = connection.execute("SELECT outcome FROM journal WHERE event = ?", (command.event,)).fetchone()
    return str(found[0])


def finish(connection: sqlite3.Connection, event: str, outcome: str, detail: str) -> None:
    connection.execute("UPDATE journal SET outcome = ?, detail = ? WHERE event = ?", (outcome, detail, event))


def deed(connection: sqlite3.Connection, event: str) -> sqlite3.Row | None:
    """Return what was done for an event of a person."""
    query = "SELECT verb, sender, group_id FROM journal WHERE event = ? AND outcome = 'done' AND group_id IS NOT NULL"
    row: sqlite3.Row | None = connection.execute(query, (event,)).fetchone()
    return row


def journal(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    query = f"SELECT * FROM journal ORDER BY id DESC LIMIT {LISTED_MAX}"  # noqa: S608 - a number of ours
    return [dict(row) for row in connection.execute(query)]


def dead_letters(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    query = f"SELECT id, room, kind, group_id, attempts, error, created_at, ended_at FROM delivery WHERE state = 'dead' ORDER BY seq LIMIT {LISTED_MAX}"  # noqa: S608, E501 - a number of ours
    return [dict(row) for row in connection.execute(query)]


def requeue(connection: sqlite3.Connection, delivery_id: str) -> bool:
    """Send a dead letter again; say whether there was one."""
    query = (
        "UPDATE delivery SET state = 'pending', attempts = 0, shrinks = 0, server_errors = 0, "
        "not_before = 0, error = '' WHERE id = ? AND state = 'dead'"
    )
    return connection.execute(query, (delivery_id,)).rowcount > 0


def drop(connection: sqlite3.Connection, delivery_id: str) -> bool:
    """Give a dead letter up for good; say whether there was one."""
    return connection.execute("DELETE FROM delivery WHERE id = ? AND state = 'dead'", (delivery_id,)).rowcount > 0


def room_id(connection: sqlite3.Connection, name: str, configured: str) -> str:
    """Return where a room is now; what was learnt of another configured address is forgotten."""
    query = "SELECT id FROM room WHERE name = ? AND configured = ?"
    row = connection.execute(query, (name, configured)).fetchone()
    return str(row[0]) if row else ""


def keep_room(connection: sqlite3.Connection, name: str, configured: str, current: str) -> None:
    query = "INSERT INTO room (name, configured, id) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET configured = excluded.configured, id = excluded.id"  # noqa: E501
    connection.execute(query, (name, configured, current))


def fact(connection: sqlite3.Connection, name: str) -> str:
    row = connection.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def keep_fact(connection: sqlite3.Connection, name: str, value: str) -> None:
    query = "INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    connection.execute(query, (name, value))


def remember_once(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a fact unless it is known."""
    connection.execute("INSERT INTO fact (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value))


def standing(connection: sqlite3.Connection) -> dict[str, Waiting]:
    """Return how the queue of each room stands; rooms without rows are not in it."""
    query = (
        "SELECT room, sum(state = 'pending') AS pending, min(CASE state WHEN 'pending' THEN created_at END) AS oldest, "
        "sum(state = 'dead') AS dead FROM delivery WHERE state IN ('pending', 'dead') GROUP BY room"
    )
    return {
        row["room"]: Waiting(pending=row["pending"], oldest_at=row["oldest"] or 0.0, dead=row["dead"])
        for row in connection.execute(query)
    }


def purge(connection: sqlite3.Connection, now: float) -> None:
    """Forget what is over and old. Dead letters stay until a person decides, up to a bound."""
    connection.execute("DELETE FROM delivery WHERE state = 'sent' AND ended_at < ?", (now - SENT_KEPT_SECONDS,))
    # A dead letter of an old group stays readable: the group is kept with it.
    connection.execute(
        "DELETE FROM alert_group WHERE closed_at > 0 AND closed_at < ? AND silence = '' "
        "AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.group_id = alert_group.id)",
        (now - GROUPS_KEPT_SECONDS,),
    )
    connection.execute("DELETE FROM journal WHERE at < ?", (now - JOURNAL_KEPT_SECONDS,))
    for table, condition, rows in (("journal", "1", JOURNAL_ROWS_MAX), ("delivery", "state = 'dead'", DEAD_ROWS_MAX)):
        key = "id" if table == "journal" else "seq"
        oldest = f"SELECT {key} FROM {table} WHERE {condition} ORDER BY {key} DESC LIMIT -1 OFFSET {rows}"  # noqa: S608
        connection.execute(f"DELETE FROM {table} WHERE {key} IN ({oldest})")  # noqa: S608 - fixed names
