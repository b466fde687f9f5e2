"""Takes what came in into the queue, all of it in the caller's transaction: groups changed, deliveries planned."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from memwarden_relay import deliveries, groups, ledger, severities
from memwarden_relay.model import NOBODY, Kind, Notification, Payload, Put, RootState, Waiting
from memwarden_relay.parse import Unusable
from memwarden_relay.plan import RANK_NOTICE, Outcome, Seen, display, plan
from memwarden_relay.settings import Settings

NOTICE_EVERY_SECONDS = 600.0  # Of one reason: a broken sender must not fill the room.
HEARTBEAT = "heartbeat"
_NOTICED = "noticed:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """One notification for the rooms it goes to. Called with a connection, it commits with it."""

    settings: Settings
    notification: Notification
    rooms: tuple[str, ...]
    now: float

    def __call__(self, connection: sqlite3.Connection) -> dict[str, Outcome]:
        """Store it; return what became of it in each room.

        Raises:
            deliveries.FullError: nothing may be committed.
        """
        return {room: self._into(connection, room) for room in self.rooms}

    def _into(self, connection: sqlite3.Connection, room: str) -> Outcome:
        group = groups.latest(connection, room, self.notification.group_key)
        planned = plan(
            Seen(
                notification=self.notification,
                room=room,
                group=group,
                waiting=deliveries.waiting(connection, group) if group else Waiting(),
                next_id=groups.next_id(connection),
                now=self.now,
                times=self.settings.judged_by(),
                mentions_of=self.settings.rooms[room].mentions_of,
            )
        )
        if planned.group:
            groups.save(connection, planned.group)
            deliveries.write(connection, planned.group, planned.writes, self.now)
        return planned.outcome


def notice(connection: sqlite3.Connection, rooms: Sequence[str], text: str, now: float) -> None:
    """Queue words of the relay itself."""
    for room in rooms:
        put = Put(kind=Kind.NOTICE, payload=Payload(body=text), rank=RANK_NOTICE)
        deliveries.add(connection, room=room, group_id=None, put=put, now=now)


def unusable(connection: sqlite3.Connection, rooms: Sequence[str], problem: Unusable, now: float) -> None:
    """Tell the rooms of a notification that can never be shown, once in a while."""
    last = float(ledger.fact(connection, _NOTICED + problem.reason) or 0)
    if now - last < NOTICE_EVERY_SECONDS:
        return
    ledger.keep_fact(connection, _NOTICED + problem.reason, str(now))
    text = f"⚠️ A notification of Alertmanager could not be read and is lost: {problem.message}. See the relay's log."
    notice(connection, rooms, text, now)


def moved(connection: sqlite3.Connection, settings: Settings, room: str, target: str, now: float) -> int:
    """Point a room at its successor and have there what is open; return how many messages are written anew."""
    ledger.keep_room(connection, room, settings.rooms[room].id, target)
    written = 0
    for group in groups.affected_by_move(connection, room):
        was_unseen = deliveries.waiting(connection, group).root is not RootState.SENT
        has_news = deliveries.drop_unsent(connection, group.id) > 0
        fresh = groups.uproot(connection, group)
        if not has_news:
            continue
        mentions = settings.rooms[room].mentions_of(severities.worst(fresh.alerts))
        calls = mentions if was_unseen and fresh.firing else NOBODY
        deliveries.write(connection, fresh, display(fresh, Waiting(), calls), now)
        written += 1
    return written
