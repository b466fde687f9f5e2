"""How bad an alert is, by its label `severity`; many words are in use, four places in line."""

from collections.abc import Iterable, Mapping

from memwarden_relay.model import Alert, Severity

WORDS: Mapping[str, Severity] = {
    **dict.fromkeys(("critical", "page", "emergency", "fatal", "disaster", "alert", "p1"), Severity.CRITICAL),
    **dict.fromkeys(("warning", "warn", "error", "high", "major", "p2"), Severity.WARNING),
    **dict.fromkeys(("info", "information", "informational", "notice", "low", "minor", "p3"), Severity.INFO),
    **dict.fromkeys(("none", "debug"), Severity.NONE),
}
UNKNOWN = Severity.WARNING  # A word nobody knows must not make an alert quiet.


def severity(alert: Alert) -> Severity:
    """Return the place of an alert."""
    return WORDS.get(alert.labels.get("severity", "").strip().lower(), UNKNOWN)


def worst(alerts: Iterable[Alert]) -> Severity:
    """Return the worst of some alerts: of those that fire, else of all."""
    known = tuple(alerts)
    counted = [alert for alert in known if alert.is_firing] or known
    return min((severity(alert) for alert in counted), default=Severity.NONE)
