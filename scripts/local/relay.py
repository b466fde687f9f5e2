"""A relay of one's own beside a homeserver: settings, tokens and queue in a folder, a process that can be killed."""

import json
import signal
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from local import processes
from local.homeserver import call

READY_SECONDS = 30.0
INTAKE_TOKEN = "an-intake-token-for-tests"  # noqa: S105 - made up
Settings = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """A relay that runs, or ran."""

    folder: Path
    port: int
    metrics_port: int
    pid: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def post(self, body: Any, *, token: str = INTAKE_TOKEN, path: str = "/v1/alerts") -> tuple[int, Any]:
        """Send what Alertmanager would: a document, or bytes as they are."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(self.url + path, data, headers, method="POST")  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def ready(self) -> tuple[bool, list[str]]:
        """Return whether it says that it is ready, and why not."""
        status, answer = call(f"http://127.0.0.1:{self.metrics_port}/readyz", "GET", timeout=5)
        return status == 200, list(answer["problems"])

    def metric(self, name: str, **labels: str) -> float:
        """Return the sum of a metric over all series that have these labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        found = [line for line in text.splitlines() if line.startswith((f"{name}{{", f"{name} "))]
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(float(line.rpartition(" ")[2]) for line in found if all(part in line for part in wanted))

    def command(self, *arguments: str) -> list[str | Path]:
        """Return the command line that asks about this relay."""
        return [*_PROGRAM, *arguments, "--config", self.folder / "relay.yaml"]

    def kill(self) -> None:
        processes.stop(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        processes.stop(self.pid, signal.SIGTERM, seconds=40)

    def again(self, *, is_ready: bool = True) -> "Relay":
        """Start it once more on the same queue."""
        return _run(self, is_ready=is_ready)


_PROGRAM: list[str | Path] = [sys.executable, "-m", "memwarden_relay.main"]


def start(folder: Path, settings: Settings, token: str, *, is_ready: bool = True, port: int | None = None) -> Relay:
    """Start a relay; tokens and queue are added to the settings. `is_ready` waits until it says so."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text(token)
    (folder / "intake-token").write_text(f"{INTAKE_TOKEN}\n")
    files = {"tokenFile": "token", "intakeTokenFile": "intake-token", "queueFile": "queue/queue.sqlite"}
    whole = {**settings, **{name: str(folder / path) for name, path in files.items()}}
    (folder / "relay.yaml").write_text(yaml.safe_dump(whole))
    port = port or processes.free_port()
    metrics_port = next(other for _ in range(10) if (other := processes.free_port()) != port)
    return _run(Relay(folder=folder, port=port, metrics_port=metrics_port), is_ready=is_ready)


def _run(relay: Relay, *, is_ready: bool) -> Relay:
    ports = ["--port", str(relay.port), "--metrics-port", str(relay.metrics_port)]
    log = relay.folder / "log"
    process = processes.start([*relay.command("run"), *ports], log)
    running = replace(relay, pid=process.pid)
    try:
        processes.wait_for(lambda: _is_up(running, is_ready=is_ready), "the relay", READY_SECONDS, log)
    except processes.NotReadyError:
        running.kill()
        raise
    return running


def _is_up(relay: Relay, *, is_ready: bool) -> bool:
    if not processes.is_running(relay.pid):
        raise processes.NotReadyError(f"the relay ended; see its log\n{processes.tail(relay.folder / 'log')}")
    try:
        call(f"{relay.url}/v1/alerts", "GET", timeout=2)
        return relay.ready()[0] or not is_ready
    except OSError:
        return False
