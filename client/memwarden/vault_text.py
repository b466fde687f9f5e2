"""Seals a memory on the client's machine, and opens it there: AES-256-GCM, bound to its domain."""

import base64
import json
import os
import unicodedata
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from memwarden.vault_keys import KeyRing
from memwarden_policy.bounds import CONTENT_LENGTH_MAX
from memwarden_policy.envelope import is_sealed

FORM = "mwv1"
PURPOSE = "memwarden.vault.v1"
NONCE_BYTES = 12
STEP_BYTES = 64  # Sealed texts come in these steps: the length tells less of the words.


class VaultError(Exception):
    """What cannot be sealed or opened. Says why, and nothing of the words."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is sealed: the text of a memory, and its structured value."""

    content: str
    value: Any = None


def seal(keys: KeyRing, domain: str, words: Words) -> str:
    """Return the words as the service keeps them; raises VaultError when they are too long."""
    whole = {"content": words.content, **({} if words.value is None else {"value": words.value})}
    try:
        plain = json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise VaultError("a memory is text, with a value that JSON can hold") from error
    plain += b" " * (-len(plain) % STEP_BYTES)
    nonce = os.urandom(NONCE_BYTES)
    name = keys.current
    sealed = AESGCM(keys.keys[name]).encrypt(nonce, plain, _bound_to(name, domain))
    text = f"{FORM}.{name}.{_shown(nonce)}.{_shown(sealed)}"
    if len(text) > CONTENT_LENGTH_MAX:
        raise VaultError(f"sealed, this is longer than {CONTENT_LENGTH_MAX} characters")
    return text


def open_(keys: KeyRing, domain: str, text: str) -> Words:
    """Return the words.

    Raises:
        VaultError: no key here opens it, or it was sealed for another domain, or it is damaged.
    """
    if not is_sealed(text):
        raise VaultError("this is not sealed")
    _, name, nonce, sealed = text.split(".")
    key = keys.keys.get(name)
    if key is None:
        raise VaultError(f"the key {name!r} is not on this ring")
    try:
        plain = AESGCM(key).decrypt(_read(nonce), _read(sealed), _bound_to(name, domain))
        whole = json.loads(plain)
        return Words(content=str(whole["content"]), value=whole.get("value"))
    except (InvalidTag, ValueError, KeyError, AttributeError, TypeError):
        raise VaultError("damaged, or sealed for another domain") from None


def _bound_to(name: str, domain: str) -> bytes:
    """Return what the tag covers beside the words: nobody moves a sealed text to another domain unseen."""
    return json.dumps([PURPOSE, name, unicodedata.normalize("NFC", domain)]).encode()


def _shown(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _read(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
