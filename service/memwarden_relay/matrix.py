"""Speaks to the homeserver: the dozen calls the relay needs. Never raises for what a server or network can do."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx2

from memwarden_relay.outcomes import Answer
from memwarden_relay.wire import DELIVERY_ID, Content

TIMEOUT_SECONDS = 30.0
SYNC_SECONDS = 25.0
ANSWER_BYTES_MAX = 32 * 1024 * 1024
LOOK_BACK_PAGES_MAX = 20
LOOK_BACK_PAGE = 100
CLOCK_SKEW_SECONDS = 3_600.0  # Between this machine and the homeserver's.
CLIENT = "/_matrix/client/v3"


class UnansweredError(RuntimeError):
    """A question was not answered, so nothing may be concluded; the message says status and code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a look through a room came to."""

    event: str  # "": it is not there.
    is_certain: bool  # False: the room goes on beyond what was read.


class Matrix:
    """A session with the homeserver. The token is read from its file again whenever that changes."""

    def __init__(self, url: str, token_file: Path, ca_file: Path | None = None) -> None:
        verify: Any = _trust(ca_file) if ca_file else True
        self._http = httpx2.AsyncClient(base_url=url.rstrip("/"), timeout=TIMEOUT_SECONDS, verify=verify)
        self._token_file = token_file
        self.user = ""  # Known after `whoami`.

    async def close(self) -> None:
        await self._http.aclose()

    async def whoami(self) -> Answer:
        answer = await self._call("GET", f"{CLIENT}/account/whoami")
        if answer.status == 200:
            self.user = str(answer.body.get("user_id", ""))
        return answer

    async def send(self, room: str, event_type: str, transaction: str, content: Content) -> Answer:
        path = f"{CLIENT}/rooms/{_quoted(room)}/send/{_quoted(event_type)}/{_quoted(transaction)}"
        return await self._call("PUT", path, content)

    async def redact(self, room: str, event: str, transaction: str) -> Answer:
        path = f"{CLIENT}/rooms/{_quoted(room)}/redact/{_quoted(event)}/{_quoted(transaction)}"
        return await self._call("PUT", path, {})

    async def upload(self, name: str, data: bytes) -> Answer:
        path = f"/_matrix/media/v3/upload?filename={quote(name)}"
        return await self._call("POST", path, data)

    async def join(self, room: str) -> Answer:
        return await self._call("POST", f"{CLIENT}/join/{_quoted(room)}", {})

    async def state(self, room: str, event_type: str, *, whole: bool = False) -> Mapping[str, Any] | None:
        """Return the content of a state event, or the `whole` event; None when the room has none.

        Raises:
            UnansweredError: the homeserver did not say.
        """
        path = f"{CLIENT}/rooms/{_quoted(room)}/state/{event_type}/"
        answer = await self._call("GET", f"{path}?format=event" if whole else path)
        if answer.status == 404:
            return None
        return _ok(answer, event_type)

    async def members(self, room: str) -> set[str]:
        """Return who is in a room.

        Raises:
            UnansweredError: the homeserver did not say; also when we are not in it.
        """
        answer = await self._call("GET", f"{CLIENT}/rooms/{_quoted(room)}/joined_members")
        return set(_ok(answer, "joined_members").get("joined", {}))

    async def sync(self, since: str, sync_filter: str, *, waits: bool) -> Answer:
        """Return the news since a token; an empty token: where rooms stand. `waits` for news when there are none."""
        query = {"filter": sync_filter, "timeout": str(int(SYNC_SECONDS * 1000) if waits else 0)}
        query |= {"since": since} if since else {}
        return await self._call("GET", f"{CLIENT}/sync?{urlencode(query)}", within=TIMEOUT_SECONDS + SYNC_SECONDS)

    async def messages(self, room: str, start: str, event_filter: str) -> Mapping[str, Any]:
        """Return a page of a room, backwards from `start` or from now.

        Raises:
            UnansweredError: the homeserver did not say.
        """
        query = {"dir": "b", "limit": str(LOOK_BACK_PAGE), "filter": event_filter} | ({"from": start} if start else {})
        answer = await self._call("GET", f"{CLIENT}/rooms/{_quoted(room)}/messages?{urlencode(query)}")
        return _ok(answer, "messages")

    async def find(self, room: str, delivery_id: str, since: float) -> Found:
        """Look through our own events of a room, newest first, for a delivery tried at `since` for the first time.

        Raises:
            UnansweredError: the homeserver did not say.
        """
        oldest_ms, start = (since - CLOCK_SKEW_SECONDS) * 1000, ""
        event_filter = json.dumps({"senders": [self.user]})
        for _ in range(LOOK_BACK_PAGES_MAX):
            page = await self.messages(room, start, event_filter)
            events = page.get("chunk", [])
            for event in events:
                if event.get("sender") == self.user and event.get("content", {}).get(DELIVERY_ID) == delivery_id:
                    return Found(event=str(event["event_id"]), is_certain=True)
            start = str(page.get("end") or "")
            if not start or not events or events[-1].get("origin_server_ts", 0) < oldest_ms:
                return Found(event="", is_certain=True)
        return Found(event="", is_certain=False)

    async def _call(
        self, method: str, path: str, body: Content | bytes | None = None, within: float = TIMEOUT_SECONDS
    ) -> Answer:
        try:
            headers = {"Authorization": f"Bearer {self._token_file.read_text().strip()}"}
        except OSError as error:
            return Answer(status=0, body={"errcode": type(error).__name__}, was_sent=False)
        extra: dict[str, Any] = {"json": body} if isinstance(body, dict) else {}
        if isinstance(body, bytes):
            extra, headers["Content-Type"] = {"content": body}, "application/json"
        try:
            # The client's own timeouts are between bytes; this one is for the whole.
            async with asyncio.timeout(within + 5.0):
                response = await self._http.request(method, path, headers=headers, timeout=within, **extra)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            return Answer(status=0, body={"errcode": type(error).__name__}, was_sent=False)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError) as error:
            return Answer(status=0, body={"errcode": type(error).__name__})
        return Answer(status=response.status_code, body=_json(response), retry_after=_retry_after(response))


def _trust(ca_file: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(ca_file))


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _ok(answer: Answer, what: str) -> Mapping[str, Any]:
    if answer.status != 200:
        raise UnansweredError(f"{what}: {answer.status} {answer.code}")
    return answer.body


def _json(response: httpx2.Response) -> Mapping[str, Any]:
    if len(response.content) > ANSWER_BYTES_MAX:
        return {}
    try:
        value = response.json()
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _retry_after(response: httpx2.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:  # A date: rare enough to take the other field or the default.
        return 0.0
