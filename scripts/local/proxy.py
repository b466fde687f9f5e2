"""A door before a homeserver that a test can make fail: refuse, lose the request or the answer, act in between."""

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TIMEOUT_SECONDS = 70


@dataclass(slots=True, kw_only=True)
class Fault:
    """What happens to requests whose path holds `where`, the next `times` times."""

    where: str
    times: int = 1
    status: int = 0  # Answer this; 0: no answer, the connection ends.
    body: bytes = b"{}"
    is_forwarded: bool = False  # Whether the homeserver gets it all the same.
    meanwhile: Callable[[], Any] | None = None  # Done before the connection ends.


class Proxy:
    """A door before one homeserver; it is open until closed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def count(self, part: str) -> int:
        return sum(part in line for line in self.requests)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fault(self, path: str) -> Fault | None:
        """Return the fault that meets a request, and count it."""
        for one in self.faults:
            if one.times > 0 and one.where in path:
                one.times -= 1
                return one
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: Proxy

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.proxy.requests.append(f"{self.command} {self.path}")
        fault = self.proxy.fault(self.path)
        answer = self._forward(body) if fault is None or fault.is_forwarded else (502, {}, b"{}")
        if fault is None:
            self._answer(*answer)
        else:
            self._fail(fault)

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 - the library's names

    def _fail(self, fault: Fault) -> None:
        if fault.meanwhile:
            fault.meanwhile()
        if fault.status:
            self._answer(fault.status, {}, fault.body)
            return
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=TIMEOUT_SECONDS)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except OSError:
            return 502, {}, b"{}"
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        try:
            self.send_response(status)
            for name in ("Content-Type", "Retry-After"):
                if name in headers:
                    self.send_header(name, headers[name])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"proxy": proxy})
