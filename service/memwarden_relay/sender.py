"""Sends what waits, one event at a time, so that order holds and the homeserver's limit is kept."""

import asyncio
import json
import logging
import time
from functools import partial

from memwarden_relay import deliveries, metrics, pacing, wire
from memwarden_relay.matrix import Matrix, UnansweredError
from memwarden_relay.model import Delivery, Kind
from memwarden_relay.outcomes import SETTLE_SECONDS, Answer, History, Next, Verdict, backoff, judge
from memwarden_relay.pacing import Pace
from memwarden_relay.queue import Queue
from memwarden_relay.rooms import Rooms

IDLE_SECONDS_MAX = 5.0
TOKEN_WAIT_SECONDS = 0.2
log = logging.getLogger("memwarden_relay.sender")


class Sender:
    """The one that sends."""

    def __init__(self, queue: Queue, matrix: Matrix, rooms: Rooms) -> None:
        self._queue, self._matrix, self._rooms = queue, matrix, rooms
        self._pace = Pace()
        self._away = 0
        self.news = asyncio.Event()  # Set when something new may wait.

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set; what is being sent is finished."""
        while not stop.is_set():
            wait = await self._step()
            if wait:
                await self._rest(wait, stop)

    async def _step(self) -> float:
        """Send one delivery; return the seconds to wait before the next."""
        if not self._rooms.is_token_valid:
            return TOKEN_WAIT_SECONDS
        pause = self._pace.ready_at - time.monotonic()
        if pause > 0:
            return pause
        self.news.clear()
        now = time.time()
        delivery = await self._queue.run(partial(deliveries.claim, now=now, paused=self._rooms.troubles().keys()))
        if delivery is None:
            due = await self._queue.run(partial(deliveries.next_due, now=now))
            return min(IDLE_SECONDS_MAX, due) or 0.01
        await self._carry_out(delivery)
        return 0.0

    async def _carry_out(self, delivery: Delivery) -> None:
        room_id = self._rooms.id(delivery.room)
        verdict = await self._deliver(delivery, room_id)
        now = time.time()
        settle = partial(deliveries.settle, delivery=delivery, verdict=verdict, room_id=room_id, now=now)
        await self._queue.run(settle)
        self._report(delivery, verdict, now)
        self._away = self._away + 1 if verdict.is_away else 0
        if verdict.is_away:
            self._pace = pacing.away(self._pace, time.monotonic(), self._away)
        elif verdict.next is Next.LIMITED:
            self._pace = pacing.limited(self._pace, time.monotonic(), verdict.wait)
            metrics.LIMITED_SECONDS.inc(verdict.wait)
        elif verdict.next is Next.SENT:
            self._pace = pacing.succeeded(self._pace, time.monotonic())
        elif verdict.next is Next.PAUSE_ALL:
            self._rooms.token_refused()
        elif verdict.next is Next.PAUSE_ROOM:
            await self._rooms.check_room(delivery.room, was_refused=True)

    async def _deliver(self, delivery: Delivery, room_id: str) -> Verdict:
        if delivery.was_unclear and delivery.kind is not Kind.UNREACT:
            earlier = await self._looked_back(delivery, room_id)
            if earlier:
                return earlier
        answer = await self._send(delivery, room_id)
        others = False
        if answer.status == 500:
            others = await self._queue.run(partial(deliveries.others_got_through, since=delivery.first_attempt_at))
        history = History(
            attempts=delivery.attempts,
            shrinks=delivery.shrinks,
            server_errors=delivery.server_errors,
            others_got_through=others,
        )
        return judge(answer, history)

    async def _looked_back(self, delivery: Delivery, room_id: str) -> Verdict | None:
        """Look whether an earlier attempt reached the room; None: it did not, so it may be sent."""
        try:
            found = await self._matrix.find(room_id, delivery.id, delivery.first_attempt_at)
        except UnansweredError as error:
            wait = max(SETTLE_SECONDS, backoff(delivery.attempts))
            return Verdict(next=Next.RETRY, wait=wait, is_unclear=True, why=str(error))
        metrics.LOOKED_BACK.labels("found" if found.event else "absent" if found.is_certain else "uncertain").inc()
        return Verdict(next=Next.SENT, event=found.event) if found.event else None

    async def _send(self, delivery: Delivery, room_id: str) -> Answer:
        if delivery.kind is Kind.UNREACT:
            return await self._matrix.redact(room_id, delivery.payload.target, delivery.id)
        if delivery.kind is Kind.FILE:
            uploaded = await self._matrix.upload(delivery.payload.key, delivery.payload.body.encode())
            if uploaded.status != 200:
                return uploaded
            content = wire.file_content(delivery, str(uploaded.body.get("content_uri", "")))
        else:
            content = wire.content(delivery)
        return await self._matrix.send(room_id, wire.event_type(delivery.kind), delivery.id, content)

    def _report(self, delivery: Delivery, verdict: Verdict, now: float) -> None:
        metrics.DELIVERIES.labels(delivery.room, delivery.kind.value, verdict.next.value).inc()
        took = now - delivery.created_at
        if verdict.next is Next.SENT:
            metrics.DELIVERY_SECONDS.labels(delivery.kind.value).observe(took)
        level = {Next.SENT: logging.INFO, Next.LIMITED: logging.DEBUG, Next.DEAD: logging.ERROR}
        line = {
            "event": "delivery",
            "outcome": verdict.next.value,
            "kind": delivery.kind.value,
            "room": delivery.room,
            "id": delivery.id,
            "attempts": delivery.attempts,
            "seconds": round(took, 3),
            "why": verdict.why,
        }
        log.log(level.get(verdict.next, logging.WARNING), json.dumps(line))

    async def _rest(self, seconds: float, stop: asyncio.Event) -> None:
        """Wait; news cuts it short, but never the homeserver's limit."""
        is_limited = self._pace.ready_at > time.monotonic()
        waits = [asyncio.ensure_future(stop.wait())]
        waits += [] if is_limited else [asyncio.ensure_future(self.news.wait())]
        _, left = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()
