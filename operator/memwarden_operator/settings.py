"""What the command line and the environment say."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one operator process runs."""

    kubeconfig: Path | None  # None: inside a pod.
    namespace: str
    account: str
    metrics_port: int
