"""What the service asks the API server: its signing keys, its issuer, whether a token still holds."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization
from kubernetes.aio import client, config

DOCUMENT_BYTES_MAX = 256 * 1024
CALL_SECONDS = 3.0
KEYS_REFRESH_SECONDS = 30.0
FIRST_KEYS_RETRY_SECONDS = 1.0
RETRY_AFTER_OUTAGE_SECONDS = 5.0


class ClusterUnavailableError(Exception):
    """The API server did not answer, or not with what was asked."""


@dataclass(frozen=True, slots=True)
class Review:
    """What the API server says of a token."""

    authenticated: bool
    username: str
    groups: frozenset[str]


class Cluster:
    """The API server, with its signing keys remembered."""

    def __init__(self, api: client.ApiClient) -> None:
        self._api = api
        self._keys: dict[str, Any] = {}
        self._issuer: str | None = None  # None: not asked yet.
        self._asked_at = -KEYS_REFRESH_SECONDS
        self._down_until = 0.0
        self._lock = asyncio.Lock()

    async def signing_key(self, kid: str) -> tuple[Any, str] | None:
        """Return the key of this id and the issuer; None: there is no such key.

        Unknown ids make at most one call in KEYS_REFRESH_SECONDS, and a failed call keeps the old keys.

        Raises:
            ClusterUnavailableError: no keys were ever read.
        """
        if kid not in self._keys and time.monotonic() - self._asked_at >= KEYS_REFRESH_SECONDS:
            async with self._lock:
                if kid not in self._keys and time.monotonic() - self._asked_at >= KEYS_REFRESH_SECONDS:
                    await self._refresh()
        if self._issuer is None:
            raise ClusterUnavailableError("the signing keys are not known yet")
        key = self._keys.get(kid)
        return (key, self._issuer) if key is not None else None

    async def _refresh(self) -> None:
        try:
            discovery = await self._discovery_document()
            key_set = KeySet.import_key_set(cast("KeySetSerialization", await self._keys_document()))
        except (ClusterUnavailableError, JoseError, ValueError, KeyError, TypeError):
            # The old keys serve; without any, ask again soon. No storm of calls either way.
            wait = KEYS_REFRESH_SECONDS if self._issuer is not None else FIRST_KEYS_RETRY_SECONDS
            self._asked_at = time.monotonic() - KEYS_REFRESH_SECONDS + wait
            return
        self._keys = {key.kid: key for key in key_set.keys if key.kid}
        self._issuer = str(discovery["issuer"])
        self._asked_at = time.monotonic()

    async def review(self, token: str, audience: str) -> Review:
        """Ask whether the token, and what it is bound to, still holds.

        Raises:
            ClusterUnavailableError: the API server does not answer, or did not within the last seconds.
        """
        if time.monotonic() < self._down_until:
            raise ClusterUnavailableError("the API server did not answer a moment ago")
        body = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token, audiences=[audience]))
        try:
            api = client.AuthenticationV1Api(self._api)
            answer = await api.create_token_review(body, _request_timeout=CALL_SECONDS)
        except (client.ApiException, aiohttp.ClientError, TimeoutError, OSError) as error:
            self._down_until = time.monotonic() + RETRY_AFTER_OUTAGE_SECONDS
            raise ClusterUnavailableError(type(error).__name__) from None  # Its text may hold the token.
        status = answer.status
        if status is None:
            raise ClusterUnavailableError("a review without a status")
        user = status.user
        return Review(
            authenticated=bool(status.authenticated) and audience in (status.audiences or []),
            username=(user.username or "") if user else "",
            groups=frozenset((user.groups or []) if user else []),
        )

    async def _keys_document(self) -> Mapping[str, Any]:
        api = client.OpenidApi(self._api)
        return await _read(api.get_service_account_issuer_open_id_keyset_without_preload_content)

    async def _discovery_document(self) -> Mapping[str, Any]:
        api = client.WellKnownApi(self._api)
        return await _read(api.get_service_account_issuer_open_id_configuration_without_preload_content)

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()  # type: ignore[no-untyped-call]  # the client is partly typed


async def _read(call: Callable[..., Awaitable[Any]]) -> Mapping[str, Any]:
    """Read a JSON object of bounded size."""
    try:
        answer = await call(_request_timeout=CALL_SECONDS)
        data = await answer.content.read(DOCUMENT_BYTES_MAX + 1)
        while len(data) <= DOCUMENT_BYTES_MAX and (more := await answer.content.read(DOCUMENT_BYTES_MAX)):
            data += more
    except (client.ApiException, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise ClusterUnavailableError(type(error).__name__) from error
    if answer.status != 200 or len(data) > DOCUMENT_BYTES_MAX:
        raise ClusterUnavailableError(f"status {answer.status}, {len(data)} bytes")
    document = json.loads(data)
    if not isinstance(document, dict):
        raise ClusterUnavailableError("no JSON object")
    return document


async def connect(kubeconfig: Path | None) -> Cluster:
    """Return the API server of the kubeconfig; None: the one of the cluster we run in."""
    settings = client.Configuration()
    if kubeconfig is None:
        config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]  # partly typed
    else:
        await config.load_kube_config(str(kubeconfig), client_configuration=settings)  # type: ignore[no-untyped-call]  # too
    return Cluster(client.ApiClient(settings))
