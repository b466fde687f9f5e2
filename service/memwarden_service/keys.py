"""API keys: `mwk_<public id>_<secret><checksum>`, made, recognised and compared."""

import hashlib
import hmac
import re
import secrets
import string
import zlib
from dataclasses import dataclass, field

PREFIX = "mwk_"
ID_LENGTH = 10
SECRET_LENGTH = 43  # base62 of 32 random bytes
CHECKSUM_LENGTH = 6
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
FORM = re.compile(
    rf"mwk_([0-9A-Za-z]{{{ID_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})([0-9A-Za-z]{{{CHECKSUM_LENGTH}}})"
)
NO_HASH = bytes(32)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key in full; it is shown once and never stored."""

    id: str
    text: str = field(repr=False)

    @property
    def hash(self) -> bytes:
        """What is stored: SHA-256 is enough for 256 random bits."""
        return hashlib.sha256(self.text.encode()).digest()


def make() -> ApiKey:
    """Return a new random key."""
    public = "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))
    secret = _base62(int.from_bytes(secrets.token_bytes(32)), SECRET_LENGTH)
    return ApiKey(id=public, text=_text(public, secret))


def parse(text: str) -> ApiKey | None:
    """Return the key that the text is; None: it is none, or mistyped (its checksum is wrong)."""
    match = FORM.fullmatch(text)
    if match is None or _text(match[1], match[2]) != text:
        return None
    return ApiKey(id=match[1], text=text)


def is_id(text: str) -> bool:
    """Say whether the text has the form of a key's public id."""
    return len(text) == ID_LENGTH and all(character in ALPHABET for character in text)


def is_right(key: ApiKey, stored: bytes | None) -> bool:
    """Compare in constant time; None (no such key) takes as long."""
    same = hmac.compare_digest(key.hash, stored if stored is not None else NO_HASH)
    return same and stored is not None


def _text(public: str, secret: str) -> str:
    body = f"{PREFIX}{public}_{secret}"
    return body + _base62(zlib.crc32(body.encode()), CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
