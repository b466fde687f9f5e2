"""The admin API of one memory service, spoken to with a token that is good for this store alone."""

import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2

from memwarden_operator import answers
from memwarden_operator.answers import Answer, Counted, WorkspaceAnswer
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import Store

log = logging.getLogger(__name__)

REQUEST_SECONDS = 20.0
CONNECT_SECONDS = 5.0
COUNTING_SECONDS = 60.0  # A service counts 100,000 memories within it.
CONNECTIONS_MAX = 16
PAGE_WORKSPACES = 100
ANSWER_BYTES_MAX = 16 * 1024 * 1024
TITLE_LENGTH_MAX = 200
TOKEN_LIFE_USED = 0.7

T = TypeVar("T")
Token = tuple[str, float]  # The token, and for how many seconds it is good.


class ServiceError(Exception):
    """The service did not do what was asked."""

    reason = Reason.SERVICE_UNAVAILABLE


class ServiceUnavailableError(ServiceError):
    """The service did not answer, or answered that it cannot now."""


class FencedOutError(ServiceError):
    """The service took a later fence: another operator speaks to it."""

    reason = Reason.FENCED_OUT


class ServiceRefusedError(ServiceError):
    """The service answered that the request is not to be had; asking again alone will not help."""

    reason = Reason.SERVICE_REFUSED


@dataclass(slots=True)
class Service:
    """A client of one store's service; the address and certificates are those of one generation of the store."""

    store: Store
    new_token: Callable[[], Awaitable[Token]]
    _http: httpx2.AsyncClient = field(init=False)
    _token: str = ""
    _renew_at: float = 0.0

    def __post_init__(self) -> None:
        trust = ssl.create_default_context(cadata=self.store.ca_bundle)
        timeout = httpx2.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS)
        limits = httpx2.Limits(max_connections=CONNECTIONS_MAX)
        # No redirects, no proxy from the environment: the token goes to the address that the store names.
        self._http = httpx2.AsyncClient(
            base_url=self.store.url, verify=trust, timeout=timeout, limits=limits, trust_env=False
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def put(self, namespace: str, body: Mapping[str, Any]) -> Answer:
        """Offer the complete ruleset of a workspace; raises the errors of this module."""
        return self._read(await self._call("PUT", f"{_path(namespace)}/ruleset", json=body), answers.answer)

    async def get(self, namespace: str) -> Answer | None:
        """Return what the service holds of a workspace; None: it does not know it."""
        document = await self._call("GET", f"{_path(namespace)}/ruleset", missing=True)
        return None if document is None else self._read(document, answers.answer)

    async def impact(self, namespace: str, kind: str, name: str) -> Counted:
        """Count what a policy does to the memories of a workspace; raises the errors of this module."""
        params = {"kind": kind, "name": name}
        document = await self._call("GET", f"{_path(namespace)}/impact", params=params, timeout=COUNTING_SECONDS)
        return self._read(document, answers.counted)

    async def workspaces(self) -> list[WorkspaceAnswer]:
        """Return every workspace that is open; raises the errors of this module."""
        found: list[WorkspaceAnswer] = []
        cursor: str | None = None
        while True:
            params = {"limit": str(PAGE_WORKSPACES)} | ({"cursor": cursor} if cursor else {})
            document = await self._call("GET", "/admin/v1/workspaces", params=params)
            page, cursor = self._read(document, answers.page)
            found += page
            if not cursor:
                return found

    async def close_workspace(self, namespace: str, uid: str, term: int, counter: int) -> None:
        """Close the workspace of a namespace that is gone; raises the errors of this module."""
        params = {"uid": uid, "term": str(term), "counter": str(counter)}
        await self._call("DELETE", _path(namespace), params=params, missing=True)

    async def _call(self, method: str, path: str, *, missing: bool = False, **content: Any) -> Any:
        status, body = await self._send(method, path, content)
        if status == 401:
            self._renew_at = 0.0
            status, body = await self._send(method, path, content)
        if status == 404 and missing:
            return None
        document = _parsed(body)
        _raise_for(status, document)
        return document

    async def _send(self, method: str, path: str, content: Mapping[str, Any]) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {await self._bearer()}"}
        try:
            async with self._http.stream(method, path, headers=headers, **content) as answer:
                return answer.status_code, await _bounded(answer)
        except httpx2.HTTPError as error:
            # The kind of failure changes from one attempt to the next; a status that told it would never rest.
            log.warning("no answer", extra={"store": str(self.store.key), "error": type(error).__name__})
            raise ServiceUnavailableError("the service does not answer") from error

    async def _bearer(self) -> str:
        if time.monotonic() >= self._renew_at:
            self._token, seconds = await self.new_token()
            self._renew_at = time.monotonic() + seconds * TOKEN_LIFE_USED
        return self._token

    def _read(self, document: Any, reader: Callable[[Any], T]) -> T:
        try:
            return reader(document)
        except answers.MalformedAnswerError as error:
            raise ServiceUnavailableError(f"the service answers in another shape: {error}") from error


def _path(namespace: str) -> str:
    return f"/admin/v1/workspaces/{namespace}"


async def _bounded(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise ServiceUnavailableError("the service answers without end")
    return bytes(body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None  # No JSON: the readers say what is missing.


def _raise_for(status: int, document: Any) -> None:
    if status < 300:
        return
    title = str(document.get("title", "")) if isinstance(document, dict) else ""
    text = f"the service answered {status} {title[:TITLE_LENGTH_MAX]}".strip()
    if status == 409:
        raise FencedOutError(text)
    if status >= 500 or status == 429:
        raise ServiceUnavailableError(text)
    raise ServiceRefusedError(text)
