"""The door for Alertmanager: a bearer token, a bounded body, an answer only when what came is on disk."""

import asyncio
import hmac
import json
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memwarden_relay import accept, ledger, metrics, parse, routing
from memwarden_relay.deliveries import FullError
from memwarden_relay.model import Notification
from memwarden_relay.parse import Unusable
from memwarden_relay.queue import Queue
from memwarden_relay.redaction import Redactor, redactor
from memwarden_relay.settings import Settings

BODY_BYTES_MAX = 16 * 1024 * 1024
BODY_SECONDS_MAX = 20.0
READ_AT_ONCE = 2  # Bodies in memory: two of the largest, which are several times their size once read.
TOKENS_MAX = 2
TOKEN_LENGTH_MIN = 16
RETRY_AFTER = {"Retry-After": "5"}
log = logging.getLogger("memwarden_relay.intake")

Handler = Callable[[bytes], Awaitable[Response]]


class Intake:
    """What answers Alertmanager. Its own trouble is always 503: of all answers, only 5xx is tried again."""

    def __init__(self, settings: Settings, queue: Queue, news: asyncio.Event) -> None:
        self._settings, self._queue, self._news = settings, queue, news
        self._room_for = asyncio.Semaphore(READ_AT_ONCE)
        self._redact = counted(redactor())

    def app(self) -> Starlette:
        routes = [
            Route("/v1/alerts", partial(self._guarded, self._alerts), methods=["POST"]),
            Route("/v1/watchdog", partial(self._guarded, self._watchdog), methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _guarded(self, handler: Handler, request: Request) -> Response:
        try:
            known = tokens(self._settings.intake_token_file)
        except OSError as error:
            return self._unavailable(error)
        if not is_known(request.headers.get("authorization", ""), known):
            metrics.REFUSED.labels("unauthorized").inc()
            return JSONResponse({"error": "a bearer token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
        with metrics.INTAKE_SECONDS.time():
            return await self._read(handler, request)

    async def _read(self, handler: Handler, request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_SECONDS_MAX), self._room_for:
                body = await _body(request)
                if body is None:
                    return await self._refused(_TOO_LARGE, 413)
                return await handler(body)
        except (sqlite3.Error, FullError, TimeoutError, ClientDisconnect) as error:
            return self._unavailable(error)

    async def _alerts(self, body: bytes) -> Response:
        # Reading and redacting 16 MiB takes a while: not on the loop.
        notification = await asyncio.to_thread(parse.notification, body, self._redact)
        if isinstance(notification, Unusable):
            return await self._refused(notification, 400)
        rooms = routing.rooms(notification, self._settings.routing(), self._settings.default_rooms)
        work = accept.Accept(settings=self._settings, notification=notification, rooms=rooms, now=time.time())
        outcomes = await self._queue.run(work)
        self._news.set()
        for room, outcome in outcomes.items():
            metrics.NOTIFICATIONS.labels(room, outcome.value).inc()
        return JSONResponse({"rooms": {room: outcome.value for room, outcome in outcomes.items()}})

    async def _watchdog(self, body: bytes) -> Response:
        found = await asyncio.to_thread(parse.notification, body, self._redact)
        # A resolved heartbeat says that Prometheus went quiet; one that cannot be read is a heartbeat all the same.
        if isinstance(found, Notification) and not any(alert.is_firing for alert in found.alerts):
            return JSONResponse({"heartbeat": False})
        now = time.time()
        await self._queue.run(partial(ledger.keep_fact, name=accept.HEARTBEAT, value=str(now)))
        metrics.HEARTBEAT.set(now)
        return JSONResponse({"heartbeat": True})

    async def _refused(self, problem: Unusable, status: int) -> Response:
        tell = partial(accept.unusable, rooms=self._settings.default_rooms, problem=problem, now=time.time())
        await self._queue.run(tell)
        self._news.set()
        metrics.REFUSED.labels(problem.reason).inc()
        log.error(json.dumps({"event": "refused", "reason": problem.reason}))
        return JSONResponse({"error": problem.message, "reason": problem.reason}, status)

    def _unavailable(self, error: Exception) -> Response:
        metrics.REFUSED.labels("unavailable").inc()
        log.error(json.dumps({"event": "unavailable", "why": type(error).__name__}))
        return JSONResponse({"error": "try again"}, 503, RETRY_AFTER)


_TOO_LARGE = Unusable(reason="TooLarge", message=f"it is larger than {BODY_BYTES_MAX // 1024 // 1024} MiB")


def counted(redact: Redactor) -> Redactor:
    """Return the redactor, which counts what it changed."""

    def counting(text: str) -> str:
        result = redact(text)
        if result != text:
            metrics.REDACTED.inc()
        return result

    return counting


def tokens(path: Path) -> tuple[bytes, ...]:
    """Return the tokens that are valid now: two, so that one can follow the other without a gap.

    Raises:
        OSError: the file cannot be read.
    """
    lines = [line.strip() for line in path.read_text().splitlines()]
    return tuple(line.encode() for line in lines if len(line) >= TOKEN_LENGTH_MIN)[:TOKENS_MAX]


def is_known(header: str, known: tuple[bytes, ...]) -> bool:
    """Say whether a request's header holds one of the tokens; takes the same time whatever it holds."""
    kind, _, given = header.partition(" ")
    matches = [hmac.compare_digest(given.strip().encode(), token) for token in known]
    return any(matches) and kind.lower() == "bearer"


async def _body(request: Request) -> bytes | None:
    """Return the body; None when it is larger than it may be."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > BODY_BYTES_MAX:
            return None
        parts.append(part)
    return b"".join(parts)
