"""Which Kubernetes API server the quickstart uses: the one named, kind where Docker answers, else one of its own."""

import base64
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import yaml

from local import binaries, control_plane

Kind: TypeAlias = Literal["context", "kind", "local"]
KIND_NAME = "memwarden"
DOCKER_SECONDS = 10
TOKEN_LIFETIME = "24h"  # noqa: S105  (a duration)


class NoClusterError(RuntimeError):
    """No API server can be had; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """An API server with the installer's credentials."""

    kind: Kind
    kubeconfig: Path
    server: str
    authority: str

    def kubectl(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run kubectl as the installer; raises CalledProcessError with its stderr."""
        return control_plane.kubectl(self.kubeconfig, *arguments, stdin=stdin)

    def kubeconfig_for(self, namespace: str, account: str, target: Path) -> Path:
        """Write a kubeconfig that holds a day's token of a ServiceAccount."""
        token = self.kubectl("create", "token", account, "-n", namespace, f"--duration={TOKEN_LIFETIME}").strip()
        return control_plane.write_kubeconfig(target, self.server, self.authority, {"token": token})


def choose(kind: Kind | None) -> Kind:
    """Return the kind of cluster to use when the person named none."""
    if kind:
        return kind
    return "kind" if shutil.which("kind") and docker_answers() else "local"


def docker_answers() -> bool:
    """Say whether a Docker engine is there, not only its client."""
    if not shutil.which("docker"):
        return False
    command = ["docker", "info", "--format", "{{.ServerVersion}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOCKER_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def up(kind: Kind, folder: Path, context: str | None) -> Cluster:
    """Start, or find, the cluster and write the installer's kubeconfig into `folder`.

    Raises:
        NoClusterError: the context or kind does not answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "local":
        plane = control_plane.start(folder / "control-plane")
        authority = (plane.folder / "ca.crt").read_text()
        return Cluster(kind=kind, kubeconfig=plane.kubeconfig, server=plane.server, authority=authority)
    target = folder / "admin.conf"
    if kind == "kind":
        _kind_up(target)
    else:
        _copy_context(context or "", target)
    return _read(kind, target)


def down(kind: Kind, folder: Path) -> None:
    """Stop what `up` started. A cluster that a person named is left as it is."""
    if kind == "kind":
        _run(["kind", "delete", "cluster", "--name", KIND_NAME])
    elif kind == "local" and (folder / "control-plane").exists():
        running = control_plane.running(folder / "control-plane")
        if running:
            running.stop()


def _kind_up(target: Path) -> None:
    if KIND_NAME not in _run(["kind", "get", "clusters"]).split():
        _run(["kind", "create", "cluster", "--name", KIND_NAME, "--kubeconfig", str(target), "--wait", "120s"])
    target.touch(mode=0o600)
    target.write_text(_run(["kind", "get", "kubeconfig", "--name", KIND_NAME]))


def _copy_context(context: str, target: Path) -> None:
    kubectl = shutil.which("kubectl") or str(binaries.control_plane()["kubectl"])
    command = [kubectl, "config", "view", "--raw", "--minify", "--flatten", "--context", context, "-o", "yaml"]
    target.touch(mode=0o600)
    target.write_text(_run(command))


def _read(kind: Kind, kubeconfig: Path) -> Cluster:
    content: dict[str, Any] = yaml.safe_load(kubeconfig.read_text()) or {}
    clusters = content.get("clusters") or []
    if not clusters:
        raise NoClusterError("There is no such context: kubectl config get-contexts shows those there are")
    cluster = clusters[0]["cluster"]
    encoded = cluster.get("certificate-authority-data")
    authority = base64.b64decode(encoded).decode() if encoded else _system_authorities()
    found = Cluster(kind=kind, kubeconfig=kubeconfig, server=cluster["server"], authority=authority)
    try:
        found.kubectl("get", "--raw", "/readyz", "--request-timeout=10s")
    except subprocess.CalledProcessError as error:
        raise NoClusterError(f"The API server {found.server} does not answer: {error.stderr.strip()}") from error
    return found


def _system_authorities() -> str:
    path = ssl.get_default_verify_paths().cafile
    return Path(path).read_text() if path else ""


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoClusterError(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-1000:]}")
    return done.stdout
