"""The keys of a vault: made, kept and used on the client's machine alone. Who loses them loses what they sealed."""

import base64
import binascii
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
KEYS_MAX = 64
NAME_FORM = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
FILE_BYTES_MAX = 64 * 1024
OTHERS = 0o077  # The rights of everybody but the file's owner.


class KeysError(Exception):
    """Keys that cannot be used. Says why, and nothing of a key."""


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Every key that sealed something, by name, and the one that seals from now on."""

    current: str
    keys: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        if self.current not in self.keys or len(self.keys) > KEYS_MAX:
            raise KeysError(f"a key ring holds its current key, and at most {KEYS_MAX} in all")
        if not all(NAME_FORM.fullmatch(name) and len(key) == KEY_BYTES for name, key in self.keys.items()):
            raise KeysError(f"a key has a name of letters, digits, `-` and `_`, and {KEY_BYTES} bytes")

    @classmethod
    def generate(cls, name: str = "k1") -> "KeyRing":
        """Return a ring with one new key."""
        return cls(name, {name: AESGCM.generate_key(8 * KEY_BYTES)})

    def rotated(self, name: str) -> "KeyRing":
        """Return the ring with a new key that seals from now on; what older ones sealed can still be opened."""
        if name in self.keys:
            raise KeysError(f"there is a key {name!r} already")
        return KeyRing(name, {**self.keys, name: AESGCM.generate_key(8 * KEY_BYTES)})

    def save(self, path: Path) -> None:
        """Write the ring to a file that only its owner reads, whole or not at all."""
        held = {name: base64.b64encode(key).decode() for name, key in self.keys.items()}
        new = path.with_name(f".{path.name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"current": self.current, "keys": held}, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)

    @classmethod
    def load(cls, path: Path) -> "KeyRing":
        """Read a ring from its file.

        Raises:
            KeysError: it is no key ring, or others may read it.
        """
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_mode & OTHERS:
                    raise KeysError(f"{path} can be read by others: chmod 600")
                return _read(file.read(FILE_BYTES_MAX))
        except OSError as error:
            raise KeysError(f"{path}: {error.strerror}") from error


def _read(text: bytes) -> KeyRing:
    try:
        document: dict[str, Any] = json.loads(text)
        keys = {str(name): base64.b64decode(key, validate=True) for name, key in document["keys"].items()}
        return KeyRing(str(document["current"]), keys)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        # Not `from` the cause, whose message may quote the file.
        raise KeysError("this is no key ring") from None
