"""Listens to the rooms and carries out what people ask for, once each, whatever restarts in between."""

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from memwarden_relay import commands, ledger, metrics
from memwarden_relay.handle import Handler
from memwarden_relay.matrix import Matrix, UnansweredError
from memwarden_relay.outcomes import backoff
from memwarden_relay.queue import Queue
from memwarden_relay.rooms import Rooms

TIMELINE_MAX = 50
TOKEN_WAIT_SECONDS = 0.2
GAP_PAGES_MAX = 10
TOKEN = "sync_token"  # noqa: S105 - the name of a fact
STATE_TYPES = ("m.room.tombstone", "m.room.encryption", "m.room.member")
TYPES = ("m.room.message", "m.reaction", "m.room.redaction", *STATE_TYPES)
log = logging.getLogger("memwarden_relay.listener")


class Listener:
    """The one that listens."""

    def __init__(self, queue: Queue, matrix: Matrix, rooms: Rooms, handler: Handler) -> None:
        self._queue, self._matrix, self._rooms, self._handler = queue, matrix, rooms, handler
        self._failures = 0
        self.heard_at = 0.0  # Seconds since the epoch; 0: not yet, and what people say is missed.

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop` is set; the place reached is kept, so that nothing is missed or done twice."""
        ended = asyncio.ensure_future(stop.wait())
        while not stop.is_set():
            listening = asyncio.ensure_future(self._step())
            await asyncio.wait({ended, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                listening.cancel()
                await asyncio.wait({listening})
                return
            wait = listening.result()
            if wait:
                await asyncio.wait({ended}, timeout=wait)

    async def _step(self) -> float:
        """Hear what is new; return the seconds to wait before the next time."""
        if not self._rooms.is_token_valid:
            return TOKEN_WAIT_SECONDS
        since = await self._queue.run(partial(ledger.fact, name=TOKEN))
        answer = await self._matrix.sync(since, self._filter(), waits=self.heard_at > 0)
        if answer.status != 200:
            if answer.status == 401:
                self._rooms.token_refused()
            self._failures += 1
            return backoff(self._failures)
        self._failures = 0
        if since:  # Without a place to go on from, what is older than the start is not ours to act on.
            await self._heard(answer.body.get("rooms", {}))
        reached = str(answer.body.get("next_batch", ""))
        await self._queue.run(partial(ledger.keep_fact, name=TOKEN, value=reached))
        self.heard_at = time.time()
        metrics.SYNCED.set(self.heard_at)
        return 0.0

    def _filter(self) -> str:
        ids = [self._rooms.id(name) for name in self._handler.settings.rooms]  # An address until it is joined.
        nothing: dict[str, list[str]] = {"types": []}
        room = {
            "rooms": [room for room in ids if room.startswith("!")],
            "timeline": {"types": list(TYPES), "limit": TIMELINE_MAX, "not_senders": [self._matrix.user]},
            "state": {"types": list(STATE_TYPES), "lazy_load_members": True},
            "ephemeral": nothing,
            "account_data": nothing,
        }
        return json.dumps({"room": room, "presence": nothing, "account_data": nothing})

    async def _heard(self, rooms: Mapping[str, Any]) -> None:
        for room_id in rooms.get("leave", {}):
            if name := self._rooms.name(room_id):
                await self._rooms.check_room(name)
        for room_id, joined in rooms.get("join", {}).items():
            name = self._rooms.name(room_id)
            if not name:
                continue
            timeline = joined.get("timeline", {})
            events = list(timeline.get("events", []))
            if timeline.get("limited"):
                events = [*await self._gap(room_id, timeline), *events]
            await self._events(events, name, room_id)

    def _concerns_us(self, event: Mapping[str, Any]) -> bool:
        """Say whether an event may change that the room can be written to; of members only what becomes of us."""
        kind = event.get("type")
        return kind in STATE_TYPES and (kind != "m.room.member" or event.get("state_key") == self._matrix.user)

    async def _events(self, events: Sequence[Mapping[str, Any]], name: str, room_id: str) -> None:
        began = await self._queue.run(_began)
        for event in events:
            if self._concerns_us(event):
                await self._rooms.check_room(name)
            # A room that we come into shows what was said before.
            if event.get("sender") == self._matrix.user or event.get("origin_server_ts", 0) < began * 1000:
                continue
            command = commands.read(event, name, room_id)
            if command:
                await self._handler.handle(command)

    async def _gap(self, room_id: str, timeline: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Read what a long silence left out, oldest first. What was handled before is known by its id."""
        found: list[Mapping[str, Any]] = []
        start, event_filter = str(timeline.get("prev_batch", "")), json.dumps({"types": list(TYPES)})
        began = await self._queue.run(_began)
        for _ in range(GAP_PAGES_MAX):
            try:
                page = await self._matrix.messages(room_id, start, event_filter)
            except UnansweredError as error:
                log.warning(json.dumps({"event": "gap", "why": str(error)}))
                break
            events = [one for one in page.get("chunk", []) if one.get("origin_server_ts", 0) >= began * 1000]
            found += events
            start = str(page.get("end") or "")
            if not start or len(events) < len(page.get("chunk", [])) or not events:
                break
        return found[::-1]


def _began(connection: sqlite3.Connection) -> float:
    """Return when the relay listened for the first time, in seconds since the epoch."""
    return float(ledger.fact(connection, "listening_since") or 0)
