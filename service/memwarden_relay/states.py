"""Keys by which two notifications are known to say the same."""

import hashlib
import json

from memwarden_relay.model import Notification


def state_key(room: str, notification: Notification) -> str:
    """Return what copies of a high-availability pair and retries of a webhook share."""
    alerts = sorted((one.fingerprint, one.status.value, one.starts_at) for one in notification.alerts)
    return _digest([room, notification.group_key, alerts])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
