"""The one door to the Kubernetes API: the asyncio client's configuration and connections, with documents as they are.

The generated models cost more than the call itself at thousands of objects, so documents stay what JSON gave.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

import aiohttp
from kubernetes.aio import client, config

REQUEST_SECONDS = 20.0
PAGE_ITEMS = 500
CONNECTIONS_MAX = 64
STATUS_WRITES_MAX = 32
AGENT = "memwarden-operator"

MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """The API server did not do what was asked; `status` is its HTTP code, 0 when it did not answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status} {message}" if status else message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Listing:
    """The items of a LIST, and the version of the whole."""

    items: list[dict[str, Any]]
    version: str


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to reach the API server, for kopf, which has a client of its own."""

    server: str
    ca_path: str | None
    verify: bool
    token: str | None
    certificate_path: str | None
    key_path: str | None


@dataclass(slots=True)
class Cluster:
    """A connection to the API server as the operator's own account."""

    kubeconfig: Path | None  # None: inside a pod.
    folder: str
    status_writes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(STATUS_WRITES_MAX))
    _client: Any = None
    _before: Any = None

    @classmethod
    async def connect(cls, kubeconfig: Path | None) -> Self:
        """Load the credentials; raises `config.ConfigException` when there are none."""
        folder = tempfile.mkdtemp(prefix="memwarden-operator-")  # Holds certificates that a kubeconfig gives as data.
        cluster = cls(kubeconfig=kubeconfig, folder=folder)
        await cluster.reload()
        return cluster

    async def reload(self) -> None:
        """Read the credentials again: tokens are renewed on disk."""
        # The client before the last one has no calls left: a call lasts seconds, a token minutes.
        if self._before is not None:
            await self._before.close()
        self._before, self._client = self._client, client.ApiClient(await _configuration(self.kubeconfig, self.folder))
        self._client.user_agent = AGENT

    async def credentials(self) -> Credentials:
        """Read the credentials again, for kopf."""
        return await _credentials(await _configuration(self.kubeconfig, self.folder))

    async def close(self) -> None:
        """Close the connections and remove the certificates that a kubeconfig gave as data."""
        for each in (self._before, self._client):
            if each is not None:
                await each.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def get(self, path: str) -> dict[str, Any]:
        """Read one document; raises ApiError."""
        return await self._call("GET", path)

    async def list(self, path: str) -> list[dict[str, Any]]:
        """LIST everything under a path, as fresh as can be; raises ApiError."""
        return (await self.listing(path, {})).items

    async def listing(self, path: str, query: Mapping[str, str]) -> Listing:
        """LIST in pages, which together are one consistent picture; raises ApiError."""
        parameters = {"limit": str(PAGE_ITEMS), **query}
        items: list[dict[str, Any]] = []
        while True:
            page = await self._call("GET", f"{path}?{urlencode(parameters)}")
            items += page["items"]
            following = page["metadata"].get("continue")
            if not following:
                return Listing(items, page["metadata"]["resourceVersion"])
            parameters = {"limit": str(PAGE_ITEMS), "continue": following}

    async def create(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """Create a document; raises ApiError, 409 when it is there."""
        return await self._call("POST", path, document)

    async def replace(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """Replace a document; raises ApiError, 409 when it moved since it was read."""
        return await self._call("PUT", path, document)

    async def merge(self, path: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Merge a patch into a document; raises ApiError, 409 when it names a resourceVersion that is past."""
        return await self._call("PATCH", path, patch, {"Content-Type": MERGE_PATCH})

    async def _call(
        self, method: str, path: str, document: Any = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        try:
            answer, body = await self._send(method, path, document, headers)
            if answer.status == 401:
                await self.reload()
                answer, body = await self._send(method, path, document, headers)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiError(0, f"the API server does not answer ({type(error).__name__})") from error
        if answer.status >= 300:
            raise ApiError(answer.status, _reason(body))
        parsed: dict[str, Any] = json.loads(body)
        return parsed

    async def _send(self, method: str, path: str, document: Any, headers: dict[str, str] | None) -> tuple[Any, bytes]:
        auth = ["BearerToken"]
        prepared = await self._client.param_serialize(
            method, path, header_params={"Accept": "application/json", **(headers or {})}, auth_settings=auth
        )
        _, url, sent, _, _ = prepared
        answer = await self._client.call_api(method, url, sent, document, _request_timeout=REQUEST_SECONDS)
        return answer, await answer.read()


def resource_path(plural: str, namespace: str | None = None, name: str | None = None, suffix: str = "") -> str:
    """Return the path of our resources: all of them, those of a namespace, or one of them."""
    inside = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    one = f"/{quote(name, safe='')}" if name else ""
    return f"/apis/memwarden.dev/v1alpha1{inside}/{plural}{one}{suffix}"


async def _configuration(kubeconfig: Path | None, folder: str) -> Any:
    loaded = client.Configuration()
    loaded.connection_pool_maxsize = CONNECTIONS_MAX
    if kubeconfig is None:
        config.load_incluster_config(client_configuration=loaded)  # type: ignore[no-untyped-call]  # it has no types
    else:
        await config.load_kube_config(  # type: ignore[no-untyped-call]  # it has no types
            config_file=str(kubeconfig), client_configuration=loaded, persist_config=False, temp_file_path=folder
        )
    return loaded


async def _credentials(loaded: Any) -> Credentials:
    token = loaded.get_api_key_with_prefix("BearerToken")
    if asyncio.iscoroutine(token):
        token = await token
    return Credentials(
        server=loaded.host,
        ca_path=loaded.ssl_ca_cert,
        verify=loaded.verify_ssl,
        token=token.partition(" ")[2] if token else None,
        certificate_path=loaded.cert_file,
        key_path=loaded.key_file,
    )


def _reason(body: bytes) -> str:
    try:
        status = json.loads(body)
        return str(status.get("message", ""))[:500]
    except (ValueError, AttributeError):
        return "an answer that is no Status"
