"""Knows where each room is and whether it can be written to: joined, not encrypted, followed when it moves."""

import asyncio
import json
import logging
import time
from dataclasses import dataclass, replace
from functools import partial

from memwarden_relay import accept, ledger, metrics, permissions
from memwarden_relay.matrix import Matrix, UnansweredError
from memwarden_relay.queue import Queue
from memwarden_relay.settings import Settings

MOVES_MAX = 10  # Rooms upgraded one after another, followed in one check.
log = logging.getLogger("memwarden_relay.rooms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a room is and what is wrong with it."""

    id: str
    trouble: str = "unchecked"  # "": it can be written to. One of metrics.ROOM_TROUBLES.


class Rooms:
    """The rooms of the settings, as the homeserver has them."""

    def __init__(self, settings: Settings, queue: Queue, matrix: Matrix) -> None:
        self._settings, self._queue, self._matrix = settings, queue, matrix
        self._standing: dict[str, Standing] = {}
        self._busy = asyncio.Lock()
        self.is_token_valid = False

    async def load(self) -> None:
        """Recall from the queue where the rooms were last."""
        for name, room in self._settings.rooms.items():
            known = await self._queue.run(partial(ledger.room_id, name=name, configured=room.id))
            self._standing[name] = Standing(id=known or room.id)

    def id(self, name: str) -> str:
        return self._standing[name].id

    def name(self, room_id: str) -> str:
        """Return the name of a room; "" when it is none of ours."""
        return next((name for name, one in self._standing.items() if one.id == room_id), "")

    def troubles(self) -> dict[str, str]:
        """Return what is wrong, a room each; empty when all can be written to."""
        return {name: one.trouble for name, one in self._standing.items() if one.trouble}

    def token_refused(self) -> None:
        self.is_token_valid = False
        metrics.TOKEN_VALID.set(0)

    async def check(self) -> None:
        """Look at the token and at every room."""
        answer = await self._matrix.whoami()
        if answer.status == 200:
            self.is_token_valid = True
            metrics.TOKEN_VALID.set(1)
        elif answer.status in (401, 403):
            self.token_refused()
            log.error(json.dumps({"event": "token_refused", "status": answer.status, "code": answer.code}))
        if not self.is_token_valid:
            return
        for name in self._standing:
            await self.check_room(name)

    async def check_room(self, name: str, *, was_refused: bool = False) -> None:
        """Look at one room; when it seems well although it refused an event, it stays out until the next look."""
        async with self._busy:
            before = self._standing[name]
            try:
                trouble = await self._trouble(name)
            except UnansweredError:
                # The homeserver is away: what was known of the room still holds.
                trouble = "unanswered" if before.trouble in ("unchecked", "unanswered") else before.trouble
            trouble = trouble or ("forbidden" if was_refused else "")
            self._standing[name] = replace(self._standing[name], trouble=trouble)
        metrics.show_trouble(name, trouble)
        if trouble != before.trouble:
            level = logging.ERROR if trouble else logging.INFO
            log.log(level, json.dumps({"event": "room", "room": name, "trouble": trouble or "none"}))

    async def powers(self, room_id: str) -> permissions.RoomPowers:
        """Return what a room says of people's ranks.

        Raises:
            UnansweredError: the homeserver did not say.
        """
        create = await self._matrix.state(room_id, "m.room.create") or {}
        levels = await self._matrix.state(room_id, "m.room.power_levels")
        event = {"content": create}
        if "creator" not in create:  # From version 11 on, the sender of the event is the creator.
            event = dict(await self._matrix.state(room_id, "m.room.create", whole=True) or {})
            event = event if "content" in event else {"content": create}
        return permissions.powers(event, levels)

    async def _trouble(self, name: str) -> str:
        for _ in range(MOVES_MAX):
            room_id, trouble = await self._joined(name)
            if trouble:
                return trouble
            tombstone = await self._matrix.state(room_id, "m.room.tombstone")
            target = str((tombstone or {}).get("replacement_room", ""))
            if tombstone is None:
                break
            if not target or not await self._moved(name, room_id, target):
                return "tombstoned"
        if await self._matrix.state(room_id, "m.room.encryption") is not None:
            return "encrypted"
        return ""

    async def _joined(self, name: str) -> tuple[str, str]:
        """Be in the room; return its id and what is wrong."""
        current = self._standing[name].id
        if current.startswith("!"):
            try:
                if self._matrix.user in await self._matrix.members(current):
                    return current, ""
            except UnansweredError as error:
                log.debug("not known to be a member: %s", error)
        answer = await self._matrix.join(current)
        if answer.status in (0, 429) or answer.status >= 500:
            raise UnansweredError(f"join: {answer.status}")
        if answer.status != 200:
            return current, "not_joined"
        room_id = str(answer.body.get("room_id", current))
        configured = self._settings.rooms[name].id
        await self._queue.run(partial(ledger.keep_room, name=name, configured=configured, current=room_id))
        self._standing[name] = replace(self._standing[name], id=room_id)
        return room_id, ""

    async def _moved(self, name: str, old: str, target: str) -> bool:
        """Follow a room to its successor, when that names it as its predecessor: else anybody's room could be given."""
        joined = await self._matrix.join(target)
        if joined.status != 200:
            return False
        create = await self._matrix.state(target, "m.room.create") or {}
        predecessor = create.get("predecessor")
        if not isinstance(predecessor, dict) or predecessor.get("room_id") != old:
            return False
        move = partial(accept.moved, settings=self._settings, room=name, target=target, now=time.time())
        written = await self._queue.run(move)
        self._standing[name] = replace(self._standing[name], id=target)
        log.warning(json.dumps({"event": "room_moved", "room": name, "messages_written_anew": written}))
        return True
