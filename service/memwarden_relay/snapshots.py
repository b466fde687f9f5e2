"""Alerts as JSON and back: what the queue keeps of a group, and what is attached when a message is too small for it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memwarden_relay import severities
from memwarden_relay.model import Alert, Status

SNAPSHOT_BYTES_MAX = 2 * 1024 * 1024


def plain(alert: Alert) -> dict[str, Any]:
    """Return an alert as JSON values, by Alertmanager's names."""
    return {
        "status": alert.status.value,
        "fingerprint": alert.fingerprint,
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "startsAt": alert.starts_at,
        "endsAt": alert.ends_at,
        "generatorURL": alert.source_url,
    }


def alert(value: Mapping[str, Any]) -> Alert:
    """Return the alert that `plain` wrote."""
    return Alert(
        status=Status(value["status"]),
        fingerprint=value["fingerprint"],
        labels=value["labels"],
        annotations=value["annotations"],
        starts_at=value["startsAt"],
        ends_at=value["endsAt"],
        source_url=value["generatorURL"],
    )


def dump(alerts: Iterable[Alert]) -> str:
    return json.dumps([plain(one) for one in alerts], ensure_ascii=False, separators=(",", ":"))


def load(text: str) -> tuple[Alert, ...]:
    return tuple(alert(value) for value in json.loads(text))


def in_order(alerts: Iterable[Alert]) -> list[Alert]:
    """Return alerts as people should read them: firing first, the worst first, then the oldest."""
    return sorted(
        alerts,
        key=lambda one: (not one.is_firing, severities.severity(one), one.starts_at, one.name, one.fingerprint),
    )


def bounded(alerts: Sequence[Alert], size_max: int = SNAPSHOT_BYTES_MAX) -> tuple[tuple[Alert, ...], int]:
    """Return the first alerts whose text fits in `size_max` bytes, and how many were left out."""
    kept: list[Alert] = []
    size = 0
    for one in in_order(alerts):
        size += len(dump([one]).encode())
        if size > size_max:
            break
        kept.append(one)
    return tuple(kept), len(alerts) - len(kept)
