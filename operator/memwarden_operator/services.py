"""One client per store, renewed when the store's address changes, each with tokens for its own store alone."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from memwarden_operator.cluster import ApiError, Cluster
from memwarden_operator.service import Service, ServiceUnavailableError, Token
from memwarden_operator.shapes import Store, StoreKey

AUDIENCE = "memwarden"
TOKEN_SECONDS = 600


@dataclass(slots=True)
class Services:
    """The clients of all stores."""

    cluster: Cluster
    namespace: str
    account: str
    _clients: dict[StoreKey, Service] = field(default_factory=dict)

    async def of(self, store: Store) -> Service:
        """Return the client of a store as it is now; raises ServiceUnavailableError."""
        known = self._clients.get(store.key)
        if known is not None and _address(known.store) == _address(store):
            return known
        await self.forget(store.key)
        try:
            made = Service(store, lambda: self._token(f"{AUDIENCE}:{store.uid}"))
        except ValueError as error:  # ssl.SSLError is one too.
            raise ServiceUnavailableError("spec.endpoint.caBundle holds no certificates that can be read") from error
        self._clients[store.key] = made
        return made

    async def forget(self, key: StoreKey) -> None:
        """Close the client of a store."""
        known = self._clients.pop(key, None)
        if known is not None:
            await known.close()

    async def keep_only(self, keys: Iterable[StoreKey]) -> None:
        """Close the clients of stores that are gone."""
        for key in self._clients.keys() - set(keys):
            await self.forget(key)

    async def close(self) -> None:
        """Close every client."""
        await self.keep_only(())

    async def _token(self, audience: str) -> Token:
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{self.account}/token"
        spec = {"audiences": [audience], "expirationSeconds": TOKEN_SECONDS}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        try:
            answer = await self.cluster.create(path, request)
        except ApiError as error:
            raise ServiceUnavailableError(f"the API server gives no token for the store: {error}") from error
        return answer["status"]["token"], float(TOKEN_SECONDS)


def _address(store: Store) -> tuple[str, str, str | None]:
    return (store.uid, store.url, store.ca_bundle)
