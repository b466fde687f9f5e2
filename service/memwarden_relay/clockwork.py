"""Does what time alone brings: reminders, silences that end, a quiet Alertmanager, figures, forgetting what is old."""

import asyncio
import json
import logging
import sqlite3
import time
from dataclasses import replace
from functools import partial

from memwarden_relay import accept, deliveries, groups, ledger, metrics, timers, words
from memwarden_relay.alertmanager import Alertmanager, RefusedError
from memwarden_relay.plan import display, note
from memwarden_relay.queue import Queue
from memwarden_relay.rooms import Rooms
from memwarden_relay.settings import Settings

TICK_SECONDS = 1.0
PURGE_EVERY_SECONDS = 600.0
ASK_EVERY_SECONDS = 5.0
QUIET = "heartbeat_is_quiet"
log = logging.getLogger("memwarden_relay.clockwork")


class Clockwork:
    """The one that looks at the clock."""

    def __init__(
        self, settings: Settings, queue: Queue, rooms: Rooms, alertmanager: Alertmanager, news: asyncio.Event
    ) -> None:
        self._settings, self._queue, self._rooms, self._news = settings, queue, rooms, news
        self._alertmanager = alertmanager
        self._purged_at = self._asked_at = 0.0
        self.standing: dict[str, ledger.Waiting] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Tick until `stop` is set."""
        while not stop.is_set():
            try:
                await self._tick()
            except sqlite3.Error as error:  # A full volume heals when someone makes room.
                log.error(json.dumps({"event": "queue", "why": type(error).__name__}))  # noqa: TRY400 - no stack needed
            await asyncio.wait({asyncio.ensure_future(asyncio.sleep(TICK_SECONDS))})

    async def check_rooms(self, stop: asyncio.Event) -> None:
        """Look at token and rooms in intervals until `stop` is set."""
        while not stop.is_set():
            await self._rooms.check()
            self._news.set()
            try:
                await asyncio.wait_for(stop.wait(), self._settings.times.room_check_seconds)
            except TimeoutError:
                continue

    async def _tick(self) -> None:
        now = time.time()
        if await self._queue.run(partial(self._due, now=now)):
            self._news.set()
        if now - self._asked_at > ASK_EVERY_SECONDS:
            await self._ask_what_fires(now)
            self._asked_at = now
        if now - self._purged_at > PURGE_EVERY_SECONDS:
            await self._queue.run(partial(ledger.purge, now=now))
            self._purged_at = now
        self.standing = await self._queue.run(ledger.standing)
        metrics.show_queue(self._settings.rooms, self.standing, now)
        tally = await self._queue.run(groups.tally)
        for room in self._settings.rooms:
            firing, unowned = tally.get(room, (0, 0))
            metrics.OPEN.labels(room).set(firing)
            metrics.UNACKNOWLEDGED.labels(room).set(unowned)

    async def _ask_what_fires(self, now: float) -> None:
        """After a silence, ask Alertmanager whether the group still fires; its end was told to nobody."""
        for group in await self._queue.run(groups.doubtful):
            try:
                fires = await self._alertmanager.has_active(group.group_labels or group.common_labels)
            except RefusedError as error:
                log.warning(json.dumps({"event": "not_known_what_fires", "why": str(error)}))
                return
            await self._queue.run(partial(_settled, number=group.id, fires=fires, now=now))
            self._news.set()

    def _due(self, connection: sqlite3.Connection, now: float) -> bool:
        reminding = self._settings.reminding()
        found = timers.due(groups.timed(connection, now, reminding.after_seconds), now, reminding)
        for one in found:
            waiting = deliveries.waiting(connection, one.group)
            groups.save(connection, one.group)
            look = display(one.group, waiting) if one.has_new_look else ()
            writes = (*look, *note(one.group, waiting, one.lines, one.mentions))
            deliveries.write(connection, one.group, writes, now)
            if not one.has_new_look:
                metrics.REMINDERS.inc()
        return self._heartbeat(connection, now) or bool(found)

    def _heartbeat(self, connection: sqlite3.Connection, now: float) -> bool:
        """Tell the rooms when Alertmanager goes quiet, and when it is heard again."""
        last = float(ledger.fact(connection, accept.HEARTBEAT) or 0)
        metrics.HEARTBEAT.set(last)
        limit = self._settings.times.watchdog_quiet_seconds
        is_quiet = bool(limit) and timers.is_quiet(last, now, limit)
        was_quiet = ledger.fact(connection, QUIET) == "yes"
        if is_quiet == was_quiet:
            return False
        ledger.keep_fact(connection, QUIET, "yes" if is_quiet else "no")
        text = "💔 Alertmanager's heartbeat is not heard any more: alerts may not arrive."
        back = "💚 Alertmanager's heartbeat is heard again."
        accept.notice(connection, self._settings.default_rooms, text if is_quiet else back, now)
        return True


def _settled(connection: sqlite3.Connection, number: int, fires: bool, now: float) -> None:
    """Store what Alertmanager said of a group after its silence, and show an end."""
    group = groups.by_id(connection, number)
    if group is None or group.silence or group.is_closed:
        return
    if fires:
        groups.save(connection, replace(group, silenced_until=0.0))
        return
    over, waiting = timers.over_meanwhile(group, now), deliveries.waiting(connection, group)
    groups.save(connection, over)
    line = f"{words.RESOLVED_SIGN} it ended during the silence, says Alertmanager"
    deliveries.write(connection, over, (*display(over, waiting), *note(over, waiting, (line,))), now)
