"""The protocol below the application: bounds the head of a request in bytes and time, and the number of connections."""

import json
from asyncio import TimerHandle, Transport
from typing import Any

from uuid6 import uuid7
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from memwarden_service.edge import SECURITY_HEADERS, note_refusal
from memwarden_service.problems import MEDIA_TYPE, Kind, ProblemError, document, headers

HEAD_BYTES_MAX = 64 * 1024
HEADER_BYTES_BESIDE = 32  # What a header takes beside its name and value; many empty ones are not free.
HEAD_SECONDS_MAX = 10.0  # Also for the rest of a body that nobody waits for any more.
CONNECTIONS_MAX = 512


class HeadTooLargeError(Exception):
    """The parser passes it on as an error of its own, and with it stops."""


class BoundedProtocol(HttpToolsProtocol):
    """Answers with a problem document what never becomes a request."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: TimerHandle | None = None
        self._is_headed = False  # True: between the end of a head and the end of its body.
        self._has_begun = False  # True: since the first byte of the first request.
        self._is_refused = False
        self._head_bytes = 0
        self._kept_bytes = 0  # What the parser holds of a field whose end has not come.
        self._kind = Kind.BAD_REQUEST
        self.idle_since = self.loop.time()

    @property
    def is_idle(self) -> bool:
        """Say whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as the server has it
        """Take a connection; where there are too many, the one that is idle longest makes room."""
        super().connection_made(transport)
        self._start_timer()
        if len(self.connections) <= CONNECTIONS_MAX:
            return
        others = (each for each in self.connections if isinstance(each, BoundedProtocol) and each is not self)
        idle = min((each for each in others if each.is_idle), key=lambda each: each.idle_since, default=None)
        if idle is not None:
            idle.transport.abort()
        else:
            self._refuse(ProblemError(Kind.UNAVAILABLE, "there are too many connections"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and refuse what is too much of it."""
        if self._is_refused:
            return
        if not self._is_headed:
            self._start_timer()
        self._has_begun = True
        self._kept_bytes += len(data)
        super().data_received(data)
        if self._kept_bytes > HEAD_BYTES_MAX and not self._is_refused:
            self._kind = Kind.HEAD_TOO_LARGE
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - see below
        """Answer what cannot be parsed; `msg` is the parser's and says nothing to a caller."""
        self._is_refused = True
        if not self.is_idle and not self.cycle.more_body:
            self.cycle.keep_alive = False  # What follows is refused, not the request that is being answered.
        elif self.pipeline or (self._is_headed and self.cycle.response_started):
            self.transport.close()  # An answer now would be taken for that to another request.
        else:
            self._refuse(ProblemError(self._kind))

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._head_bytes = self._kept_bytes = 0
        self._start_timer()

    def on_url(self, url: bytes) -> None:
        """Count what came of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, or a trailer of a chunked body."""
        self._count(len(name) + len(value) + HEADER_BYTES_BESIDE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        self._kept_bytes = 0
        self._stop_timer()
        super().on_headers_complete()
        self._is_headed = True

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body on."""
        self._kept_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._kept_bytes = 0
        self._is_headed = False
        self._stop_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """End the answer; a body that still comes has to end soon."""
        self.idle_since = self.loop.time()
        super().on_response_complete()
        if self._is_headed:
            self._start_timer()

    def _count(self, size: int) -> None:
        self._kept_bytes = 0
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES_MAX:
            self._kind = Kind.HEAD_TOO_LARGE
            raise HeadTooLargeError

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS_MAX, self._late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if not self.is_idle:
            self._start_timer()  # What follows waits for the answer before it.
        elif self._has_begun and not self._is_headed:
            self._refuse(ProblemError(Kind.TOO_SLOW))
        else:
            self.transport.close()

    def _refuse(self, problem: ProblemError) -> None:
        self._is_refused = True
        self._stop_timer()
        if self.transport.is_closing():
            return
        request_id = self._request_id(int(problem.kind.status))
        body = json.dumps(document(problem, request_id)).encode()
        own = {"content-type": MEDIA_TYPE, "content-length": len(body), "connection": "close"}
        texts = {**own, "x-request-id": request_id, **headers(problem)}
        pairs = [
            *self.server_state.default_headers,
            *((name.encode(), str(value).encode()) for name, value in texts.items()),
            *SECURITY_HEADERS,
        ]
        head = b"".join(b"%s: %s\r\n" % pair for pair in pairs)
        self.transport.write(STATUS_LINE[int(problem.kind.status)] + head + b"\r\n" + body)
        self.transport.close()

    def _request_id(self, status: int) -> str:
        """Return the id under which the application notes the request; where it never saw it, note it here."""
        if not self.is_idle:
            return str(self.cycle.scope["state"]["request_id"])
        request_id = str(uuid7())
        note_refusal(status, request_id)
        return request_id
