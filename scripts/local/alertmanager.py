"""A real Alertmanager, or a high-availability pair: the binary of Debian's package, run by hand on loopback.

The package's own service is not started.
"""

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from local import processes

PACKAGE = "prometheus-alertmanager"
PROGRAMS = {"alertmanager": ("prometheus-alertmanager", "alertmanager"), "amtool": ("amtool",)}
READY_SECONDS = 30.0


class MissingError(RuntimeError):
    """The program is not on this machine and could not be had; the message says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alertmanager:
    """A running Alertmanager."""

    folder: Path
    url: str
    pid: int

    def post(self, alerts: Sequence[Mapping[str, Any]]) -> None:
        """Give it alerts, as Prometheus does."""
        self.ask("POST", "/api/v2/alerts", list(alerts))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call its API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def stop(self) -> None:
        processes.stop(self.pid)


def program(name: str) -> Path:
    """Return the path of `alertmanager` or `amtool`; as root on Debian the package is installed when it is missing.

    Raises:
        MissingError: it is not there and cannot be installed.
    """
    found = _found(name)
    if found is None:
        _install()
        found = _found(name)
    if found is None:
        raise MissingError(f"There is no {name}: install Alertmanager, so that it is on the path")
    return found


def _found(name: str) -> Path | None:
    paths = (shutil.which(each) for each in PROGRAMS[name])
    return next((Path(path) for path in paths if path), None)


def _install() -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    # This run level keeps the package's own service from starting.
    env = {**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", PACKAGE]):
        subprocess.run(["apt-get", *command], env=env, check=False, capture_output=True)


def start(folder: Path, config: Mapping[str, Any], *, count: int = 1) -> list[Alertmanager]:
    """Start `count` Alertmanagers that gossip with each other, with one configuration.

    Raises:
        MissingError: there is none on this machine.
        processes.NotReadyError: one did not come up.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(dict(config)))
    gossip = [processes.free_port() for _ in range(count)] if count > 1 else []
    return [_start(folder, number, gossip) for number in range(count)]


def _start(folder: Path, number: int, gossip: Sequence[int]) -> Alertmanager:
    port, log = processes.free_port(), folder / f"{number}.log"
    command: list[str | Path] = [program("alertmanager"), f"--config.file={folder / 'alertmanager.yml'}"]
    command += [f"--storage.path={folder / str(number)}", f"--web.listen-address=127.0.0.1:{port}", "--log.level=debug"]
    command += [f"--cluster.listen-address={f'127.0.0.1:{gossip[number]}' if gossip else ''}"]
    for other in gossip:
        command += [f"--cluster.peer=127.0.0.1:{other}"] if other != gossip[number] else []
    # Peers wait for their turn by this: the default of 15 s is for networks, not for loopback.
    command += (
        ["--cluster.peer-timeout=2s", "--cluster.settle-timeout=2s", "--cluster.gossip-interval=50ms"] if gossip else []
    )
    process = processes.start(command, log, env={"GOMAXPROCS": os.environ.get("GOMAXPROCS", "2")})
    server = Alertmanager(folder=folder, url=f"http://127.0.0.1:{port}", pid=process.pid)
    processes.wait_for(lambda: _is_ready(server), "Alertmanager", READY_SECONDS, log)
    return server


def _is_ready(server: Alertmanager) -> bool:
    try:
        with urllib.request.urlopen(f"{server.url}/-/ready", timeout=2) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except OSError:
        return False
