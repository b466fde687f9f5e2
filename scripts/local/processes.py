"""Starts, watches and stops processes, by process id: never by name."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 15.0
POLL_SECONDS = 0.05
# They outlive the one that started them on purpose; one that is forgotten warns.
_STARTED: list["subprocess.Popen[bytes]"] = []


class NotReadyError(RuntimeError):
    """A part did not come up in its time; the message names its log."""


def free_port() -> int:
    """Return a TCP port of the loopback address that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(ready: Callable[[], bool], what: str, seconds: float, log: Path | None = None) -> None:
    """Poll `ready` until it is true.

    Raises:
        NotReadyError: when `seconds` have passed.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            hint = f"; see {log}\n{tail(log)}" if log else ""
            raise NotReadyError(f"{what} is not ready after {seconds:.0f} s{hint}")
        time.sleep(POLL_SECONDS)


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log file, or nothing."""
    if not log.exists():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def start(
    command: Sequence[str | Path],
    log: Path,
    env: Mapping[str, str] | None = None,
    user: int | None = None,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, so that a Ctrl-C in the terminal does not reach it."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            user=user,
            group=user,
            extra_groups=[] if user else None,
            cwd=cwd,
            start_new_session=True,
        )
    _STARTED.append(process)
    return process


def is_running(pid: int) -> bool:
    """Say whether the process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:  # No /proc (macOS): a signal tells.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False
    return state != "Z"


def is_ours(pid: int, mark: str) -> bool:
    """Say whether the process runs and its command line holds `mark`: a process id may have passed to another."""
    command = Path(f"/proc/{pid}/cmdline")
    return is_running(pid) and (not command.exists() or mark.encode() in command.read_bytes())


def stop(pid: int, first: signal.Signals = signal.SIGTERM, seconds: float = STOP_SECONDS) -> None:
    """Ask a process to end, and kill it when it does not within `seconds`."""
    for sign in (first, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while is_running(pid):
            if time.monotonic() > deadline:
                break
            _reap(pid)
            time.sleep(POLL_SECONDS)
        else:
            _reap(pid)
            return


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
