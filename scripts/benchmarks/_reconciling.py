"""What the benchmarks of the operator stand on: an API server, a database, a service, an operator, all real."""

import contextlib
import shutil
import signal
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import psycopg

from local import control_plane, postgres, processes, stack
from local.cluster import Cluster

STORE_REF = {"namespace": stack.NAMESPACE, "name": stack.STORE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The parts, and where they listen."""

    api: Cluster
    folder: Path
    port: int
    service: stack.Running


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator as a process of its own."""

    process: "Popen[bytes]"
    metrics_port: int

    def metrics(self) -> dict[str, float]:
        """Return the value of each sample by its name with labels; none before it listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10) as answer:
                lines = answer.read().decode().splitlines()
        except (urllib.error.URLError, OSError):
            return {}
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}

    def memory_mb(self) -> float:
        """Return the most memory it ever held."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self) -> None:
        """Let it end by itself."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


@contextlib.contextmanager
def running() -> Iterator[Bench]:
    """Start everything but the operator in a new folder, and remove it in the end."""
    folder = Path(tempfile.mkdtemp(prefix="memwarden-bench-", dir="/var/tmp"))
    folder.chmod(0o755)
    server = postgres.start(folder / "postgres", durable=False)
    plane = control_plane.start(folder / "plane")
    authority = (plane.folder / "ca.crt").read_text()
    api = Cluster(kind="local", kubeconfig=plane.kubeconfig, server=plane.server, authority=authority)
    service: stack.Running | None = None
    try:
        stack.install(api)
        port = processes.free_port()
        uid = stack.apply_store(api, f"http://127.0.0.1:{port}")
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create database memwarden")
        stack.write_secrets(folder, server.url("memwarden"))
        stack.migrate(folder)
        service = stack.start_service(api, folder, port=port, store_uid=uid)
        yield Bench(api=api, folder=folder, port=port, service=service)
    finally:
        if service:
            processes.stop(service.pid)
        plane.stop()
        server.stop(immediately=True)
        shutil.rmtree(folder, ignore_errors=True)


def start_operator(bench: Bench) -> Operator:
    """Start an operator without waiting for it."""
    kubeconfig = bench.api.kubeconfig_for(stack.NAMESPACE, stack.OPERATOR, bench.folder / "operator.conf")
    port = processes.free_port()
    command = [stack.COMMANDS / "memwarden-operator", "run", f"--kubeconfig={kubeconfig}"]
    command += [f"--namespace={stack.NAMESPACE}", f"--metrics-port={port}"]
    return Operator(processes.start(command, bench.folder / f"operator-{port}.log"), port)
