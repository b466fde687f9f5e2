"""What a running service was told at its start."""

from dataclasses import dataclass, field
from pathlib import Path

AGENT_AUDIENCE = "memwarden"
HASH_KEY_BYTES_MIN = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of `memwarden-service serve`."""

    database_url: str = field(repr=False)
    hash_key: bytes = field(repr=False)  # Keys the hashes of contents and idempotency keys.
    store_uid: str
    operator: str  # "namespace/name" of the one account that may put rules.
    kubeconfig: Path | None = None  # None: in a cluster, as its own ServiceAccount.
    host: str = "127.0.0.1"
    port: int = 8080
    metrics_port: int = 9090
    tls_cert: Path | None = None  # None: plain HTTP, behind something that ends TLS.
    tls_key: Path | None = None
    sealing_keys: Path | None = None  # A folder; None: sensitive memories are kept in the clear.

    @property
    def operator_audience(self) -> str:
        """The audience of the operator's tokens: a token for one store is of no use at another."""
        return f"{AGENT_AUDIENCE}:{self.store_uid}"
