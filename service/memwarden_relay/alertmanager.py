"""Speaks to Alertmanager's API: silences made, ended and found again."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2

from memwarden_relay.answers import Silence

TIMEOUT_SECONDS = 10.0


class RefusedError(RuntimeError):
    """Alertmanager did not do it; the message holds a status or the kind of failure."""


class Alertmanager:
    """The peers of one Alertmanager: any of them serves, they tell each other."""

    def __init__(self, urls: tuple[str, ...], token_file: Path | None) -> None:
        self._urls = urls
        self._token_file = token_file
        self._http = httpx2.AsyncClient(timeout=TIMEOUT_SECONDS)

    async def close(self) -> None:
        await self._http.aclose()

    async def silence(self, wanted: Silence) -> tuple[str, float]:
        """Make a silence; return its id and its end in seconds since the epoch.

        Raises:
            RefusedError: it is not known to be there.
        """
        start = datetime.now(UTC)
        end = start + timedelta(seconds=wanted.seconds)
        body = wanted.body(start.isoformat(), end.isoformat())
        answer = await self._call("POST", "/api/v2/silences", body)
        return str(answer.get("silenceID", "")), end.timestamp()

    async def find(self, event: str) -> tuple[str, float] | None:
        """Return the live silence whose comment names an event of a room.

        Raises:
            RefusedError: it is not known whether there is one.
        """
        for one in await self._call("GET", "/api/v2/silences", None):
            if str(one.get("comment", "")).endswith(f"/{event}") and one.get("status", {}).get("state") != "expired":
                return str(one["id"]), datetime.fromisoformat(one["endsAt"]).timestamp()
        return None

    async def has_active(self, matchers: Mapping[str, str]) -> bool:
        """Say whether any alert with these labels fires.

        Raises:
            RefusedError: it is not known.
        """
        filters = [("filter", f"{name}={json.dumps(value)}") for name, value in matchers.items()]
        return bool(await self._call("GET", f"/api/v2/alerts?{urlencode(filters)}", None))

    async def unsilence(self, silence: str) -> None:
        """End a silence; one that is gone already is no error.

        Raises:
            RefusedError: it may still be there.
        """
        await self._call("DELETE", f"/api/v2/silence/{silence}", None)

    async def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        why = "no Alertmanager is configured"
        for url in self._urls:
            try:
                response = await self._http.request(method, url.rstrip("/") + path, json=body, headers=self._headers())
            except (httpx2.HTTPError, OSError) as error:
                why = type(error).__name__
                continue
            if response.status_code < 300:
                return response.json() if response.content else {}
            if method == "DELETE" and response.status_code in (404, 500) and b"expired" in response.content:
                return {}
            why = f"status {response.status_code}"
        raise RefusedError(why)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token_file.read_text().strip()}"} if self._token_file else {}
