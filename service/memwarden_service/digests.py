"""Keyed hashes of what may not be stored: contents, source events, idempotency keys."""

import hashlib
import hmac


def keyed(key: bytes, purpose: str, *parts: str | bytes) -> bytes:
    """Return HMAC-SHA-256 of the parts. Each is preceded by its length: no two lists of parts look alike."""
    mac = hmac.new(key, purpose.encode(), hashlib.sha256)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        mac.update(len(data).to_bytes(8, "big"))
        mac.update(data)
    return mac.digest()
