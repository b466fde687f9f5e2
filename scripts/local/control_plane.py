"""A Kubernetes control plane on loopback: etcd and kube-apiserver, ready in about five seconds.

Tokens, RBAC, admission policies, server-side apply and watches are all real in it. Garbage collection and the deletion
of namespaces need the controller manager, which is not there.
"""

import base64
import os
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from local import binaries, processes

READY_SECONDS = 90.0
CERTIFICATE_DAYS = "30"
SERVICE_RANGE = "10.96.0.0/16"
ISSUER = "https://kubernetes.default.svc"
NAMES = "subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A running control plane; `kubeconfig` is the installer's (cluster-admin)."""

    folder: Path
    port: int
    pids: dict[str, int]

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "admin.conf"

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def kubectl(self, *arguments: str | Path, stdin: str | None = None) -> str:
        """Run kubectl as the installer and return what it prints; raises CalledProcessError with its stderr."""
        return kubectl(self.kubeconfig, *arguments, stdin=stdin)

    def kubeconfig_for(self, namespace: str, account: str, target: Path) -> Path:
        """Write a kubeconfig that holds a day's token of a ServiceAccount, as a process outside the cluster uses."""
        token = self.kubectl("create", "token", account, "-n", namespace, "--duration=24h").strip()
        authority = (self.folder / "ca.crt").read_text()
        return write_kubeconfig(target, self.server, authority, {"token": token})

    def stop(self) -> None:
        """Stop the API server, then etcd."""
        for name in ("kube-apiserver", "etcd"):
            processes.stop(self.pids[name], signal.SIGTERM)


def kubectl(kubeconfig: Path, *arguments: str | Path, stdin: str | None = None) -> str:
    """Run kubectl with a kubeconfig and return its output; raises CalledProcessError, with stderr in it."""
    command: list[str | Path] = [binaries.control_plane()["kubectl"], "--kubeconfig", kubeconfig, *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        error = subprocess.CalledProcessError(
            done.returncode, [str(part) for part in arguments], done.stdout, done.stderr
        )
        error.add_note(done.stderr.strip())
        raise error
    return done.stdout


def start(folder: Path, *, port: int | None = None, flags: Sequence[str] = ()) -> ControlPlane:
    """Start etcd and kube-apiserver with their data in `folder`; what runs there already is returned as it is.

    Args:
        folder: keeps certificates, data, logs and process ids.
        port: of the API server; a free one unless given or kept from the last time.
        flags: more flags of kube-apiserver.

    Raises:
        processes.NotReadyError: with the end of the log.
        binaries.BuildError: a binary is missing and cannot be built.
    """
    programs = binaries.control_plane()
    folder.mkdir(parents=True, exist_ok=True)
    there = running(folder)
    if there:
        return there
    port = port or _kept_port(folder) or processes.free_port()
    _certificates(folder)
    (folder / "port").write_text(str(port))
    etcd, client = _start_etcd(folder, programs["etcd"])
    api = _start_api(folder, programs["kube-apiserver"], port, client, flags)
    plane = ControlPlane(folder=folder, port=port, pids={"etcd": etcd.pid, "kube-apiserver": api.pid})
    for name, pid in plane.pids.items():
        (folder / f"{name}.pid").write_text(str(pid))
    authority = (folder / "ca.crt").read_text()
    admin = {
        "client-certificate-data": _base64(folder / "admin.crt"),
        "client-key-data": _base64(folder / "admin.key"),
    }
    write_kubeconfig(plane.kubeconfig, plane.server, authority, admin)
    processes.wait_for(lambda: _is_ready(plane, api), "The API server", READY_SECONDS, folder / "kube-apiserver.log")
    return plane


def running(folder: Path) -> ControlPlane | None:
    """Return the control plane whose data is in `folder`, when it runs."""
    port = _kept_port(folder)
    pids: dict[str, int] = {}
    for name in ("etcd", "kube-apiserver"):
        path = folder / f"{name}.pid"
        pid = int(path.read_text()) if path.exists() else 0
        if not pid or not processes.is_ours(pid, str(folder)):
            return None
        pids[name] = pid
    return ControlPlane(folder=folder, port=port, pids=pids) if port else None


def write_kubeconfig(target: Path, server: str, authority: str, user: dict[str, str]) -> Path:
    """Write a kubeconfig of one cluster and one user, readable by its owner alone."""
    encoded = _encode(authority.encode())
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": {"server": server, "certificate-authority-data": encoded}}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "user"}}],
        "current-context": "local",
    }
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    target.write_text(yaml.safe_dump(content))
    return target


def _start_etcd(folder: Path, program: Path) -> tuple[subprocess.Popen[bytes], str]:
    client, peer = (f"http://127.0.0.1:{processes.free_port()}" for _ in range(2))
    flags: list[str | Path] = ["--data-dir", folder / "etcd", "--unsafe-no-fsync", "--listen-client-urls", client]
    flags += ["--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
    flags += ["--initial-cluster", f"default={peer}"]
    return processes.start([program, *flags], folder / "etcd.log"), client


def _start_api(folder: Path, program: Path, port: int, etcd: str, more: Sequence[str]) -> subprocess.Popen[bytes]:
    flags = {
        "etcd-servers": etcd,
        "bind-address": "127.0.0.1",
        "secure-port": str(port),
        "tls-cert-file": folder / "api.crt",
        "tls-private-key-file": folder / "api.key",
        "client-ca-file": folder / "ca.crt",
        "service-account-issuer": ISSUER,
        "service-account-key-file": folder / "sa.pub",
        "service-account-signing-key-file": folder / "sa.key",
        "authorization-mode": "RBAC",
        "service-cluster-ip-range": SERVICE_RANGE,
        "endpoint-reconciler-type": "none",
    }
    command: list[str | Path] = [program, *(f"--{name}={value}" for name, value in flags.items()), *more]
    return processes.start(command, folder / "kube-apiserver.log")


def _is_ready(plane: ControlPlane, api: subprocess.Popen[bytes]) -> bool:
    if api.poll() is not None:
        log = plane.folder / "kube-apiserver.log"
        raise processes.NotReadyError(f"kube-apiserver ended with {api.returncode}\n{processes.tail(log)}")
    context = ssl.create_default_context(cafile=plane.folder / "ca.crt")
    context.load_cert_chain(plane.folder / "admin.crt", plane.folder / "admin.key")
    try:
        with urllib.request.urlopen(f"{plane.server}/readyz", context=context, timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _kept_port(folder: Path) -> int | None:
    path = folder / "port"
    return int(path.read_text()) if path.exists() else None


def _certificates(folder: Path) -> None:
    if (folder / "sa.pub").exists():
        return
    old = os.umask(0o077)
    try:
        authority = ["-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=memwarden-local", "-days", CERTIFICATE_DAYS]
        _openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *authority)
        _sign(folder, "api", "/CN=kube-apiserver", NAMES)
        _sign(folder, "admin", "/O=system:masters/CN=admin", "")
        _openssl(folder, "genrsa", "-out", "sa.key", "2048")
        _openssl(folder, "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
    finally:
        os.umask(old)


def _sign(folder: Path, name: str, subject: str, extension: str) -> None:
    request = ["-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject]
    _openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", *request)
    (folder / f"{name}.ext").write_text(extension)
    flags = ["-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.crt"]
    _openssl(folder, "x509", "-req", *flags, "-days", CERTIFICATE_DAYS, "-extfile", f"{name}.ext")


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise processes.NotReadyError(f"openssl {arguments[0]} failed: {done.stderr[-500:]}")


def _base64(path: Path) -> str:
    return _encode(path.read_bytes())


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()
