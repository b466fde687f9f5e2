"""The words and signs people read in a room: one place, so that the same fact has the same words everywhere."""

import html
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from memwarden_relay.model import Alert, Severity

SIGNS: Mapping[Severity, str] = {
    Severity.CRITICAL: "🔴",
    Severity.WARNING: "🟠",
    Severity.INFO: "🔵",
    Severity.NONE: "⚪",
}
RESOLVED_SIGN = "✅"
ACKNOWLEDGE_SIGN = "👀"
SILENCE_SIGN = "🔕"
UNDO_SIGN = "❌"
HIDDEN_LABELS = frozenset({"alertname", "severity"})
# Fractions beyond microseconds (Go writes nanoseconds) are more than `fromisoformat` reads.
_FRACTION = re.compile(r"(\.\d{6})\d+")


def moment(text: str) -> str:
    """Return a time of Alertmanager as people read it; what is no time comes back as it is."""
    try:
        read = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    except ValueError:
        return text
    return f"{(read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def clock(seconds: float) -> str:
    """Return a time in seconds since the epoch as people read it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def duration(seconds: float) -> str:
    """Return a span in its largest whole units: 90 min, 2 h, 3 d."""
    minutes = max(1, round(seconds / 60))
    for size, unit in ((1440, "d"), (60, "h")):
        if minutes >= size and minutes % size == 0:
            return f"{minutes // size} {unit}"
    return f"{minutes} min"


def labels(pairs: Mapping[str, str], without: Mapping[str, str] | None = None) -> str:
    """Return labels in one line, sorted, without those that are said elsewhere."""
    said = without or {}
    shown = {k: v for k, v in pairs.items() if k not in HIDDEN_LABELS and said.get(k) != v}
    return ", ".join(f"{name}={value}" for name, value in sorted(shown.items()))


def count(alerts: Sequence[Alert], omitted: int) -> str:
    """Return how many fire and how many do not."""
    firing = sum(alert.is_firing for alert in alerts)
    parts = [f"{firing} firing"] if firing else []
    parts += [f"{len(alerts) - firing} resolved"] if len(alerts) > firing else []
    parts += [f"{omitted} not listed"] if omitted else []
    return ", ".join(parts) or "no alerts"


def escaped(text: str) -> str:
    """Return a text as HTML; homeservers store markup as it was sent, so nothing from outside may be markup."""
    return html.escape(text).replace("\n", "<br>")


def link(url: str, name: str) -> str:
    return f'<a href="{html.escape(url, quote=True)}">{escaped(name)}</a>'
