"""The outermost layer: a request id, a time limit, security headers, and one log line and one count for each answer."""

import asyncio
import contextlib
import json
import logging
import time
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid6 import uuid7

from memwarden_service import metrics
from memwarden_service.problems import MEDIA_TYPE, Kind, ProblemError, document, headers

REQUEST_SECONDS_MAX = 15.0
SLOW_SECONDS_MAX = 60.0  # A ruleset of ten thousand rules is compiled within it, and a plan of 100,000 memories made.
SLOW_PREFIXES = ("/admin/", "/v1/policies/plan")
SECURITY_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"strict-transport-security", b"max-age=31536000"),
)
LOG = logging.getLogger("memwarden.requests")


@dataclass(slots=True)
class Answer:
    """What became of a request."""

    request_id: str
    began: float = field(default_factory=time.perf_counter)
    status: int = 0  # 0: nothing was sent yet.


class Edge:
    """Wraps the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; everything that is no request is the application's."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = Answer(request_id=str(uuid7()))
        scope.setdefault("state", {})["request_id"] = answer.request_id

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                own = (b"x-request-id", answer.request_id.encode())
                message["headers"] = [*message.get("headers", ()), own, *SECURITY_HEADERS]
            await send(message)

        try:
            await self._within_time(scope, receive, send_with_headers, answer)
        finally:
            _note(scope, answer)

    async def _within_time(self, scope: Scope, receive: Receive, send: Send, answer: Answer) -> None:
        seconds = SLOW_SECONDS_MAX if scope["path"].startswith(SLOW_PREFIXES) else REQUEST_SECONDS_MAX
        try:
            async with asyncio.timeout(seconds):
                await self._app(scope, receive, send)
        except TimeoutError:
            if answer.status == 0:
                with contextlib.suppress(OSError):
                    await _send_problem(send, ProblemError(Kind.UNAVAILABLE, "this took too long"), answer.request_id)


async def _send_problem(send: Send, problem: ProblemError, request_id: str) -> None:
    body = json.dumps(document(problem, request_id)).encode()
    sent = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), **headers(problem)}
    pairs = [(name.encode(), value.encode()) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": int(problem.kind.status), "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def note_refusal(status: int, request_id: str) -> None:
    """Count and log an answer to what never became a request."""
    metrics.REQUESTS.labels(metrics.UNROUTED, f"{status // 100}xx").inc()
    LOG.info("answered", extra={"request_id": request_id, "route": metrics.UNROUTED, "status": status})


def _note(scope: Scope, answer: Answer) -> None:
    seconds = time.perf_counter() - answer.began
    # A failure that escaped is answered by the server itself, with 500.
    status = answer.status or 500
    route = _route(scope)
    metrics.REQUESTS.labels(route, f"{status // 100}xx").inc()
    metrics.REQUEST_SECONDS.labels(route).observe(seconds)
    extra: dict[str, Any] = {
        "request_id": answer.request_id,
        "route": route,
        "status": status,
        "milliseconds": round(seconds * 1000, 2),
    }
    LOG.info("answered", extra=extra)


def _route(scope: Scope) -> str:
    """Return the pattern of the route, never the path: ids and names do not belong in a log."""
    path = getattr(scope.get("route"), "path", None)
    return f"{scope['method']} {path}" if path else metrics.UNROUTED
