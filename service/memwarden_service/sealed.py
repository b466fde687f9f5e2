"""Seals sensitive memories at rest: a data key seals the words, and a versioned key of the service seals the data key.

The form of a sealed text is `mws1.<version>.<wrapped data key>.<nonce>.<ciphertext>`, and it is bound to its domain.
Whoever reads `content` or `value` of a row does so by `opened`; whoever writes them, by `at_rest.columns`. The keys are
those of this process, told once at its start: a row is opened wherever one is read, far from every request.
"""

import base64
import json
import logging
import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from memwarden_policy.envelope import EncryptionState
from memwarden_service.problems import Kind, ProblemError

FORM = "mws1"
NONCE_BYTES = 12
KEY_BYTES = 32
VERSION_FILE = re.compile(r"v([1-9][0-9]{0,5})", re.ASCII)
DATA_KEY_SECONDS = 3_600.0  # One data key seals so long, and so many texts: a port that is far away is asked rarely.
DATA_KEY_TEXTS_MAX = 2**20
DATA_KEYS_HELD_MAX = 1_024
LOG = logging.getLogger("memwarden.service.sealed")


class KeysError(Exception):
    """Keys that cannot be used. Says why, and nothing of a key."""


class KeyPort(Protocol):
    """What holds the keys of keys: a file in development, a key management service elsewhere. Called rarely."""

    def wrap(self, data_key: bytes) -> tuple[int, bytes]:
        """Return the version of the key that sealed the data key, and the sealed data key."""

    def unwrap(self, version: int, wrapped: bytes) -> bytes:
        """Return the data key; raises KeysError where it cannot be had."""


class FileKeys:
    """Keys in a folder: `v1`, `v2`, ... each 32 bytes in base64. The highest version seals; all of them open."""

    def __init__(self, folder: Path) -> None:
        self._keys = {
            int(found[1]): _read(path) for path in folder.iterdir() if (found := VERSION_FILE.fullmatch(path.name))
        }
        if not self._keys:
            raise KeysError(f"{folder} holds no key: its files are named v1, v2, ...")
        self._current = max(self._keys)

    def wrap(self, data_key: bytes) -> tuple[int, bytes]:
        """Return the version that sealed the data key, and the sealed data key."""
        nonce, version = os.urandom(NONCE_BYTES), self._current
        return version, nonce + AESGCM(self._keys[version]).encrypt(nonce, data_key, _version(version))

    def unwrap(self, version: int, wrapped: bytes) -> bytes:
        """Return the data key; raises KeysError where its version is not here."""
        if version not in self._keys:
            raise KeysError(f"there is no key of version {version}")
        try:
            nonce, sealed = wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:]
            return AESGCM(self._keys[version]).decrypt(nonce, sealed, _version(version))
        except (InvalidTag, ValueError):
            raise KeysError(f"a data key was not sealed by version {version}, or is damaged") from None


@dataclass(slots=True)
class _DataKey:
    head: str  # Version and wrapped key, as they stand in each text.
    cipher: AESGCM = field(repr=False)
    until: float
    texts: int = 0


class Sealer:
    """Seals and opens texts; asks the port once per data key."""

    def __init__(self, port: KeyPort) -> None:
        self._port = port
        self._current: _DataKey | None = None
        self._held: OrderedDict[str, AESGCM] = OrderedDict()

    def seal(self, text: str, bound_to: str) -> str:
        """Return the text sealed; it opens for the same `bound_to` alone."""
        key = self._data_key()
        key.texts += 1
        nonce = os.urandom(NONCE_BYTES)
        sealed = key.cipher.encrypt(nonce, text.encode(), _bound(bound_to))
        return f"{key.head}.{_shown(nonce)}.{_shown(sealed)}"

    def open(self, sealed: str, bound_to: str) -> str:
        """Return the text; raises KeysError where its key is not here, or it is damaged or from elsewhere."""
        try:
            head, nonce, text = sealed.rsplit(".", 2)
            cipher = self._held.get(head) or self._fetched(head)
            return cipher.decrypt(_bytes(nonce), _bytes(text), _bound(bound_to)).decode()
        except (InvalidTag, ValueError):
            raise KeysError("a sealed memory is damaged, or was sealed in another domain") from None

    def _data_key(self) -> _DataKey:
        held = self._current
        if held is None or held.texts >= DATA_KEY_TEXTS_MAX or time.monotonic() >= held.until:
            data_key = AESGCM.generate_key(8 * KEY_BYTES)
            version, wrapped = self._port.wrap(data_key)
            head = f"{FORM}.{version}.{_shown(wrapped)}"
            held = _DataKey(head, AESGCM(data_key), time.monotonic() + DATA_KEY_SECONDS)
            self._current = held
            self._hold(head, held.cipher)
        return held

    def _fetched(self, head: str) -> AESGCM:
        form, version, wrapped = head.split(".")
        if form != FORM:
            raise KeysError("a sealed memory has a form that is not known here")
        cipher = AESGCM(self._port.unwrap(int(version), _bytes(wrapped)))
        self._hold(head, cipher)
        return cipher

    def _hold(self, head: str, cipher: AESGCM) -> None:
        self._held[head] = cipher
        while len(self._held) > DATA_KEYS_HELD_MAX:
            self._held.popitem(last=False)


class _Process:
    """What this process seals with; nothing: it neither seals nor opens."""

    sealer: Sealer | None = None


def start(folder: Path | None) -> None:
    """Seal from now on with the keys in a folder; None: not at all. Raises KeysError."""
    _Process.sealer = Sealer(FileKeys(folder)) if folder is not None else None


def sealer() -> Sealer | None:
    """Return what this process seals with; None: it was started without keys."""
    return _Process.sealer


def opened(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with its content and value in the clear.

    Raises:
        ProblemError: the service does not hold its key, or it is damaged.
    """
    if row["encryption_state"] != EncryptionState.SERVICE_CIPHERTEXT:
        return row
    try:
        whole = json.loads(_needed().open(row["content"], str(UUID(str(row["domain_id"])))))
    except KeysError as error:
        LOG.error("a sealed memory cannot be opened", extra={"memory": str(row["id"]), "why": str(error)})  # noqa: TRY400 - a sentence says it
        raise ProblemError(Kind.UNAVAILABLE, "a sealed memory cannot be opened now") from None
    return {**row, "content": whole["content"], "value": whole["value"]}


def _needed() -> Sealer:
    if _Process.sealer is None:
        raise KeysError("the service was started without keys")
    return _Process.sealer


def _read(path: Path) -> bytes:
    try:
        key = base64.b64decode(path.read_bytes().strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeysError(f"{path} is no key: {KEY_BYTES} bytes in base64")
    return key


def _version(version: int) -> bytes:
    return f"memwarden.sealing.key.v{version}".encode()


def _bound(where: str) -> bytes:
    return f"memwarden.sealed.v1:{where}".encode()


def _shown(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
