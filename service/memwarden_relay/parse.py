"""Reads a webhook body: any shape an Alertmanager of any version sends becomes a notification, or a reason why not.

Missing, null and strange fields are filled in; only what can never become a notification is refused.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memwarden_relay import snapshots
from memwarden_relay.model import Alert, Notification, Status
from memwarden_relay.redaction import Redactor
from memwarden_relay.sanitise import clean

ALERTS_MAX = 10_000
PAIRS_MAX = 100  # Labels or annotations of one alert.
NAME_LENGTH_MAX = 256
_HEXADECIMAL = re.compile(r"^[0-9a-f]{1,64}$")
NEVER = "0001-01-01T00:00:00Z"
URL_LENGTH_MAX = 2_048

Text = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """What can never be delivered, whoever sends it again."""

    reason: str  # CamelCase.
    message: str


def notification(body: bytes, redact: Redactor) -> Notification | Unusable:
    """Read one webhook body; every text in the result is sanitised and redacted."""
    try:
        document = json.loads(body.decode("utf-8", "replace"), parse_constant=str)
    except RecursionError:
        return Unusable(reason="TooDeep", message="the JSON is nested too deeply")
    except ValueError:
        return Unusable(reason="NotJSON", message="the body is not JSON")
    if not isinstance(document, dict):
        return Unusable(reason="NotAnObject", message="the body is not a JSON object")
    listed = document.get("alerts")
    if not isinstance(listed, list):
        return Unusable(reason="NoAlerts", message="the body has no list of alerts: a custom payload?")

    def text(value: str) -> str:
        return redact(clean(value))

    entries = [entry for entry in listed[:ALERTS_MAX] if isinstance(entry, dict)]
    alerts, omitted = snapshots.bounded(_once_each(tuple(_alert(entry, document, text) for entry in entries)))
    return _whole(document, alerts, omitted + max(0, len(listed) - ALERTS_MAX), text)


def _whole(document: Mapping[str, Any], alerts: tuple[Alert, ...], omitted: int, text: Text) -> Notification:
    truncated = document.get("truncatedAlerts")
    group_labels = _pairs(document.get("groupLabels"), text)
    receiver = text(_string(document.get("receiver")))
    return Notification(
        receiver=receiver,
        group_key=_group_key(document, receiver, group_labels, alerts),
        group_labels=group_labels,
        common_labels=_pairs(document.get("commonLabels"), text) or _shared(alerts),
        alerts=alerts,
        omitted=omitted + (truncated if isinstance(truncated, int) and 0 < truncated < 2**31 else 0),
        reason=text(_string(document.get("notification_reason"))),
        external_url=_url(document.get("externalURL"), text),
    )


def _alert(entry: Mapping[str, Any], document: Mapping[str, Any], text: Text) -> Alert:
    labels = _pairs(entry.get("labels"), text) or _pairs(document.get("commonLabels"), text)
    starts_at, ends_at = clean(_string(entry.get("startsAt"))), clean(_string(entry.get("endsAt")))
    return Alert(
        status=_status(entry.get("status") or document.get("status")),
        fingerprint=_fingerprint(entry, labels),
        labels=labels,
        annotations=_pairs(entry.get("annotations"), text) or _pairs(document.get("commonAnnotations"), text),
        starts_at=starts_at[:NAME_LENGTH_MAX],
        ends_at="" if ends_at == NEVER else ends_at[:NAME_LENGTH_MAX],
        source_url=_url(entry.get("generatorURL"), text),
    )


def _fingerprint(entry: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return what the alert is known by: Alertmanager's hexadecimal digits, or a digest of whatever came instead."""
    given = _string(entry.get("fingerprint"))
    return given if _HEXADECIMAL.match(given) else _digest(given or sorted(labels.items()))


def _once_each(alerts: tuple[Alert, ...]) -> tuple[Alert, ...]:
    """Return one alert a fingerprint; one that fires speaks louder than one that is resolved."""
    kept: dict[str, Alert] = {}
    for one in alerts:
        if one.fingerprint not in kept or one.is_firing:
            kept[one.fingerprint] = one
    return tuple(kept.values())


def _status(value: object) -> Status:
    # A status that nobody knows is taken as firing: a needless message is better than a missing one.
    return Status.RESOLVED if _string(value).strip().lower() == "resolved" else Status.FIRING


def _group_key(
    document: Mapping[str, Any], receiver: str, group_labels: Mapping[str, str], alerts: tuple[Alert, ...]
) -> str:
    given = _string(document.get("groupKey"))
    if given:
        return _digest(given)
    return _digest([receiver, sorted(group_labels.items()) or sorted(alert.fingerprint for alert in alerts)])


def _shared(alerts: tuple[Alert, ...]) -> dict[str, str]:
    if not alerts:
        return {}
    first = alerts[0].labels
    return {
        name: value for name, value in first.items() if all(alert.labels.get(name) == value for alert in alerts[1:])
    }


def _pairs(value: object, text: Text) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    found = list(value.items())[:PAIRS_MAX]
    return {clean(name)[:NAME_LENGTH_MAX]: text(_string(inner)) for name, inner in found if inner is not None}


def _string(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _url(value: object, text: Text) -> str:
    url = text(_string(value)).strip()
    is_link = url.startswith(("http://", "https://")) and len(url) <= URL_LENGTH_MAX
    return url if is_link and not any(sign.isspace() for sign in url) else ""


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
