"""Operator and service as processes beside a cluster, each with its own ServiceAccount; neither is cluster-admin."""

import json
import secrets
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from local import folders, processes
from local.cluster import Cluster

NAMESPACE = "memwarden-system"
STORE = "main"
OPERATOR = "memwarden-operator"
SERVICE = "memwarden-service"
APP_ROLE = "mw_app"
READY_SECONDS = 60.0
COMMANDS = folders.REPOSITORY / ".venv/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A process with its ports; `metrics` serves probes and metrics."""

    name: str
    pid: int
    metrics: int


def install(cluster: Cluster) -> None:
    """Apply resource definitions, namespace, accounts and admission policies."""
    cluster.kubectl("apply", "--server-side", "-f", folders.REPOSITORY / "crds")
    cluster.kubectl("wait", "--for=condition=Established", "-f", folders.REPOSITORY / "crds", "--timeout=60s")
    cluster.kubectl("apply", "--server-side", "-k", folders.REPOSITORY / "manifests")


def apply_store(cluster: Cluster, url: str) -> str:
    """Apply the MemoryStore that says where the service runs, and return its UID."""
    spec = {"endpoint": {"url": url}, "allowedNamespaces": {"from": "All"}}
    metadata = {"name": STORE, "namespace": NAMESPACE}
    store = {"apiVersion": "memwarden.dev/v1alpha1", "kind": "MemoryStore", "metadata": metadata, "spec": spec}
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(store))
    return cluster.kubectl("get", "memorystore", STORE, "-n", NAMESPACE, "-o", "jsonpath={.metadata.uid}")


def write_secrets(folder: Path, admin_url: str) -> None:
    """Write the files that migrate and serve read, each for its owner alone; those that exist stay as they are."""
    password = _secret(folder / "app-password", secrets.token_urlsafe(24))
    _secret(folder / "hash-key", secrets.token_hex(32))
    parts = urlsplit(admin_url)
    host = parts.netloc.rpartition("@")[2]
    app_url = urlunsplit(parts._replace(netloc=f"{APP_ROLE}:{quote(password)}@{host}"))
    for name, value in (("admin-url", admin_url), ("database-url", app_url)):
        (folder / name).unlink(missing_ok=True)
        _secret(folder / name, value)


def migrate(folder: Path) -> None:
    """Bring the database to this version's schema; makes the roles on first use.

    Raises:
        processes.NotReadyError: with what the command printed.
    """
    command: list[str | Path] = [COMMANDS / "memwarden-service", "migrate"]
    command += ["--admin-url-file", folder / "admin-url", "--app-password-file", folder / "app-password"]
    log = folder / "migrate.log"
    process = processes.start(command, log)
    if process.wait():
        raise processes.NotReadyError(f"The migration failed:\n{processes.tail(log)}")


def start_service(cluster: Cluster, folder: Path, *, port: int, store_uid: str) -> Running:
    """Start the memory service on `port` and wait until it is ready."""
    kubeconfig = cluster.kubeconfig_for(NAMESPACE, SERVICE, folder / "service.conf")
    flags: dict[str, str | Path | int] = {
        "database-url-file": folder / "database-url",
        "hash-key-file": folder / "hash-key",
        "store-uid": store_uid,
        "operator": f"{NAMESPACE}/{OPERATOR}",
        "kubeconfig": kubeconfig,
        "port": port,
    }
    return _start("service", [COMMANDS / "memwarden-service", "serve"], flags, folder)


def start_operator(cluster: Cluster, folder: Path) -> Running:
    """Start the operator and wait until it has seen everything once."""
    kubeconfig = cluster.kubeconfig_for(NAMESPACE, OPERATOR, folder / "operator.conf")
    flags: dict[str, str | Path | int] = {"kubeconfig": kubeconfig, "namespace": NAMESPACE}
    return _start("operator", [COMMANDS / "memwarden-operator", "run"], flags, folder)


def answers(url: str) -> bool:
    """Say whether a GET of `url` gives 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310  (our own loopback address)
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _start(name: str, command: list[Path | str], flags: dict[str, str | Path | int], folder: Path) -> Running:
    log, metrics = folder / f"{name}.log", processes.free_port()
    arguments = [f"--{flag}={value}" for flag, value in (flags | {"metrics-port": metrics}).items()]
    process = processes.start([*command, *arguments], log)
    ready = f"http://127.0.0.1:{metrics}/readyz"

    def is_ready() -> bool:
        if process.poll() is not None:
            raise processes.NotReadyError(f"The {name} ended with {process.returncode}:\n{processes.tail(log)}")
        return answers(ready)

    processes.wait_for(is_ready, f"The {name}", READY_SECONDS, log)
    return Running(name=name, pid=process.pid, metrics=metrics)


def _secret(path: Path, value: str) -> str:
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(value)
    return path.read_text()
