"""Says what changed between two states of a group: the lines of its thread."""

from collections.abc import Iterator, Sequence

from memwarden_relay import severities, words
from memwarden_relay.model import Alert, Mentions, Payload
from memwarden_relay.sizes import cut

LINES_MAX = 25
LINE_BYTES_MAX = 300


def changes(before: Sequence[Alert], after: Sequence[Alert]) -> tuple[str, ...]:
    """Return a line a change, the worst first."""
    old = {alert.fingerprint: alert for alert in before}
    lines = list(_news(old, after))
    still = {alert.fingerprint for alert in after}
    gone = [alert for alert in before if alert.is_firing and alert.fingerprint not in still]
    lines += [_line("⬜", alert, "is no longer in the group") for alert in gone]
    return tuple(lines)


def joined(lines: Sequence[str], mentions: Mentions) -> Payload:
    """Write lines as one note of the thread, the last ones when there are too many."""
    kept = tuple(lines)
    left_out = len(kept) - LINES_MAX
    shown = kept if left_out <= 0 else (f"… {left_out} earlier changes", *kept[-LINES_MAX:])
    # What is kept for joining is bounded as well: a homeserver that is down for days must not grow the row.
    return Payload(
        body="\n".join(shown),
        html="<br>".join(words.escaped(line) for line in shown),
        mentions=mentions,
        lines=kept[-LINES_MAX:],
    )


def _news(old: dict[str, Alert], after: Sequence[Alert]) -> Iterator[str]:
    for alert in sorted(after, key=lambda one: (not one.is_firing, severities.severity(one), one.name)):
        before = old.get(alert.fingerprint)
        was_firing = before is not None and before.is_firing
        if alert.is_firing and before is not None and before.status == alert.status:
            if before.starts_at != alert.starts_at:
                yield _line(words.SIGNS[severities.severity(alert)], alert, "fires again")
        elif alert.is_firing:
            yield _line(words.SIGNS[severities.severity(alert)], alert, "fires")
        elif was_firing or before is None:
            yield _line(words.RESOLVED_SIGN, alert, "is resolved")


def _line(sign: str, alert: Alert, what: str) -> str:
    when = words.moment(alert.starts_at if alert.is_firing else alert.ends_at)
    place = words.labels(alert.labels)
    named = f"{alert.name} ({place})" if place else alert.name
    return cut(f"{sign} {named} {what}{f', {when}' if when else ''}", LINE_BYTES_MAX)
