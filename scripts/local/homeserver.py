"""Real Matrix homeservers of two makes, for tests on loopback: Synapse 1.98.0 and Dendrite 0.13.8, both Apache-2.0.

Synapse goes into a virtual environment of its own in the cache folder, Dendrite is built once from Go modules. Neither
is shipped or imported. They are old: never let one listen anywhere but on loopback.
"""

import hashlib
import hmac
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from local import folders, processes

SYNAPSE = "1.98.0"
SYNAPSE_PINS = (f"matrix-synapse=={SYNAPSE}", "prometheus-client==0.19.0")  # The newer client lacks what it imports.
DENDRITE = "v0.13.8"
DENDRITE_MODULE = "github.com/matrix-org/dendrite"
DENDRITE_PROGRAMS = ("dendrite", "generate-keys", "generate-config")
SERVER_NAME = "localhost.test"
READY_SECONDS = 60.0
# Logins are many in tests; messages keep their default limit unless a test says otherwise.
MANY = {"per_second": 1000, "burst_count": 1000}


class MissingError(RuntimeError):
    """A homeserver could not be had; the message says what failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody with a session."""

    id: str
    token: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Homeserver:
    """A homeserver that runs, or ran: `again` starts it with the same data and address."""

    make: str
    folder: Path
    port: int
    secret: str
    pid: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def register(self, name: str, *, is_admin: bool = False) -> User:
        """Make an account by the shared secret."""
        path, password = "/_synapse/admin/v1/register", "password-for-tests"
        nonce = call(self.url + path, "GET")[1]["nonce"]
        parts = (nonce, name, password, "admin" if is_admin else "notadmin")
        mac = hmac.new(self.secret.encode(), "\0".join(parts).encode(), hashlib.sha1).hexdigest()
        body = {"nonce": nonce, "username": name, "password": password, "admin": is_admin, "mac": mac}
        status, answer = call(self.url + path, "POST", body)
        if status != 200:
            raise MissingError(f"{name} cannot be registered: {status} {answer}")
        return User(id=answer["user_id"], token=answer["access_token"], device=answer["device_id"])

    def stop(self, *, immediately: bool = False) -> None:
        processes.stop(self.pid, signal.SIGKILL if immediately else signal.SIGTERM)

    def again(self) -> "Homeserver":
        """Start it once more; the process before must have ended."""
        start = _run_synapse if self.make == "synapse" else _run_dendrite
        return start(self)


def call(url: str, method: str, body: Any = None, token: str = "", timeout: float = 70.0) -> tuple[int, Any]:
    """Make one request; return status and JSON."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            return answer.status, _document(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, _document(error.read())


def _document(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def synapse(folder: Path, *, is_limited: bool = False) -> Homeserver:
    """Start a Synapse with data of its own; `is_limited` leaves its limit on messages as it ships."""
    python = _synapse_python()
    port, secret = processes.free_port(), secrets.token_hex(16)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hs.yaml").write_text(yaml.safe_dump(_synapse_settings(folder, port, secret, is_limited)))
    log_config = {
        "version": 1,
        "handlers": {"console": {"class": "logging.StreamHandler"}},
        "root": {"level": "WARNING", "handlers": ["console"]},
    }
    (folder / "log.yaml").write_text(yaml.safe_dump(log_config))
    keys: list[str | Path] = [python, "-m", "synapse.app.homeserver", "-c", folder / "hs.yaml", "--generate-keys"]
    subprocess.run(keys, cwd=folder, check=True, capture_output=True)
    return _run_synapse(Homeserver(make="synapse", folder=folder, port=port, secret=secret))


def dendrite(folder: Path) -> Homeserver:
    """Start a Dendrite with data of its own."""
    home = _dendrite_home()
    port, secret = processes.free_port(), secrets.token_hex(16)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    subprocess.run([home / "generate-keys", "--private-key", folder / "key.pem"], check=True, capture_output=True)
    command: list[str | Path] = [
        home / "generate-config",
        "-dir",
        data,
        "-db",
        f"file:{data}/dendrite.db",
        "-server",
        SERVER_NAME,
    ]
    settings = yaml.safe_load(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    settings["global"].update(private_key=str(folder / "key.pem"), disable_federation=True)
    settings["global"]["jetstream"]["in_memory"] = True
    settings["client_api"].update(registration_shared_secret=secret)
    settings["user_api"]["bcrypt_cost"] = 4
    settings["federation_api"]["key_perspectives"] = []
    settings["logging"] = [{"type": "std", "level": "warn"}]
    (folder / "dendrite.yaml").write_text(yaml.safe_dump(settings))
    return _run_dendrite(Homeserver(make="dendrite", folder=folder, port=port, secret=secret))


def _run_synapse(server: Homeserver) -> Homeserver:
    command: list[str | Path] = [_synapse_python(), "-m", "synapse.app.homeserver", "-c", server.folder / "hs.yaml"]
    log = server.folder / "log"
    process = processes.start(command, log, cwd=server.folder)
    processes.wait_for(lambda: _answers(f"{server.url}/health"), "Synapse", READY_SECONDS, log)
    return replace(server, pid=process.pid)


def _run_dendrite(server: Homeserver) -> Homeserver:
    command: list[str | Path] = [_dendrite_home() / "dendrite", "-config", server.folder / "dendrite.yaml"]
    command += ["-http-bind-address", f"127.0.0.1:{server.port}"]
    log = server.folder / "log"
    process = processes.start(command, log, cwd=server.folder)
    processes.wait_for(lambda: _answers(f"{server.url}/_matrix/client/versions"), "Dendrite", READY_SECONDS, log)
    return replace(server, pid=process.pid)


def _synapse_settings(folder: Path, port: int, secret: str, is_limited: bool) -> Mapping[str, Any]:
    listener = {"bind_addresses": ["127.0.0.1"], "port": port, "type": "http", "tls": False}
    settings: dict[str, Any] = {
        "server_name": SERVER_NAME,
        "public_baseurl": f"http://127.0.0.1:{port}/",
        "pid_file": str(folder / "homeserver.pid"),
        "listeners": [{**listener, "resources": [{"names": ["client"], "compress": False}]}],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
        "log_config": str(folder / "log.yaml"),
        "media_store_path": str(folder / "media"),
        "registration_shared_secret": secret,
        "macaroon_secret_key": secret,
        "form_secret": secret,
        "signing_key_path": str(folder / "signing.key"),
        "report_stats": False,
        "trusted_key_servers": [],
        "suppress_key_server_warning": True,
        "federation_domain_whitelist": [],
        "enable_registration": False,
        "url_preview_enabled": False,
        "bcrypt_rounds": 4,
        "presence": {"enabled": False},
        "rc_login": {"address": MANY, "account": MANY, "failed_attempts": MANY},
        "rc_joins": {"local": MANY},
    }
    return settings if is_limited else settings | {"rc_message": MANY}


def _synapse_python() -> Path:
    home = folders.cache() / f"synapse-{SYNAPSE}"
    if not home.exists():
        _say(f"Installing Synapse {SYNAPSE} (about a minute, once)")
        part = Path(tempfile.mkdtemp(dir=home.parent))
        _run([sys.executable, "-m", "venv", part])
        _run([part / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *SYNAPSE_PINS])
        part.rename(home)  # Its python finds its packages wherever it lies; only the scripts would not.
    return home / "bin/python"


def _dendrite_home() -> Path:
    home = folders.cache() / f"dendrite-{DENDRITE}"
    if home.exists():
        return home
    if not shutil.which("go"):
        raise MissingError("Dendrite must be built and there is no Go: install Go 1.21 or newer, and gcc")
    _say(f"Building Dendrite {DENDRITE} (three minutes on two cores, once)")
    with tempfile.TemporaryDirectory(dir=home.parent) as work:
        module, part = Path(work) / "module", Path(work) / "bin"
        module.mkdir()
        part.mkdir()
        _run(["go", "mod", "init", "build"], module)
        _run(["go", "get", f"{DENDRITE_MODULE}@{DENDRITE}"], module)
        for name in DENDRITE_PROGRAMS:
            flags = ["-trimpath", "-ldflags", "-s -w", "-o", str(part / name)]
            _run(["go", "build", "-p", "2", *flags, f"{DENDRITE_MODULE}/cmd/{name}"], module)
        part.rename(home)
    return home


def _run(command: list[str | Path], folder: Path | None = None) -> None:
    env = {**os.environ, "GOFLAGS": "-mod=mod"}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise MissingError(f"{' '.join(map(str, command[:4]))} failed:\n{done.stderr[-2000:]}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except OSError:
        return False


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
