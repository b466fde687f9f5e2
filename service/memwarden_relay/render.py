"""Writes the message of a group: what is wrong, what it means, what to do, within what an event can hold."""

from collections.abc import Iterator
from dataclasses import dataclass

from memwarden_relay import severities, snapshots, words
from memwarden_relay.model import Alert, Group, Mentions, Payload
from memwarden_relay.sizes import HTML_BYTES_MAX, TEXT_BYTES_MAX, cut, encoded

ALERTS_SHOWN_MAX = 20
TITLE_BYTES_MAX = 400
LABELS_BYTES_MAX = 600
SUMMARY_BYTES_MAX = 400
DESCRIPTION_BYTES_MAX = 1_200
FOOT_BYTES = 600  # Kept free for the last lines.
HINT = "React 👀 to acknowledge, 🔕 to silence for an hour; or !ack, !silence 2h, !help in the thread."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A message, and whether something of the group is not in it."""

    payload: Payload
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """The same words twice."""

    text: str
    html: str


def message(group: Group, mentions: Mentions) -> Rendered:
    """Write the message that shows a group as it is now."""
    text_left, html_left = TEXT_BYTES_MAX - FOOT_BYTES, HTML_BYTES_MAX - FOOT_BYTES
    pieces: list[Piece] = []
    for piece in _head(group):
        pieces.append(piece)
        text_left, html_left = text_left - encoded(piece.text) - 2, html_left - encoded(piece.html) - 4
    shown, is_cut, runbooks = 0, False, set[str]()
    for alert in snapshots.in_order(group.alerts)[:ALERTS_SHOWN_MAX]:
        piece, was_cut = _block(alert, group, runbooks)
        text_left, html_left = text_left - encoded(piece.text) - 2, html_left - encoded(piece.html) - 4
        if min(text_left, html_left) < 0:
            break
        pieces.append(piece)
        shown, is_cut = shown + 1, is_cut or was_cut
    hidden = len(group.alerts) - shown
    pieces += _foot(group, hidden)
    payload = Payload(
        body="\n".join(piece.text for piece in pieces),
        html="<br>".join(piece.html for piece in pieces),
        mentions=mentions,
    )
    return Rendered(payload=payload, is_cut=is_cut or hidden > 0)


def title(group: Group) -> str:
    """Return the one line that says what this is about."""
    names = sorted({alert.name for alert in group.firing or group.alerts})
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more" if names else "alerts"
    counted = words.count(group.alerts, group.omitted)
    if group.is_closed:
        return cut(f"{words.RESOLVED_SIGN} RESOLVED · {name} · {counted} · #{group.id}", TITLE_BYTES_MAX)
    place = severities.worst(group.alerts)
    return cut(f"{words.SIGNS[place]} {place.name} · {name} · {counted} · #{group.id}", TITLE_BYTES_MAX)


def _head(group: Group) -> Iterator[Piece]:
    line = title(group)
    yield Piece(line, f"<strong>{words.escaped(line)}</strong>")
    shared = cut(words.labels({**group.common_labels, **group.group_labels}), LABELS_BYTES_MAX)
    if shared:
        yield Piece(shared, f"<em>{words.escaped(shared)}</em>")
    for state in _states(group):
        yield Piece(state, words.escaped(state))


def _states(group: Group) -> Iterator[str]:
    if group.acknowledged_by:
        when = words.clock(group.acknowledged_at)
        yield f"{words.ACKNOWLEDGE_SIGN} acknowledged by {group.acknowledged_by}, {when}"
    if group.silence:
        until = words.clock(group.silenced_until)
        yield f"{words.SILENCE_SIGN} silenced by {group.silenced_by} until {until}"


def _block(alert: Alert, group: Group, runbooks: set[str]) -> tuple[Piece, bool]:
    sign = words.SIGNS[severities.severity(alert)] if alert.is_firing else words.RESOLVED_SIGN
    own = words.labels(alert.labels, without={**group.common_labels, **group.group_labels})
    when = f"since {words.moment(alert.starts_at)}" if alert.starts_at else ""
    if not alert.is_firing and alert.ends_at:
        when = f"resolved {words.moment(alert.ends_at)}"
    texts = [
        (" · ".join(part for part in (alert.name, own, when) if part), LABELS_BYTES_MAX),
        (alert.annotations.get("summary", "") or alert.annotations.get("message", ""), SUMMARY_BYTES_MAX),
        (alert.annotations.get("description", "") if alert.is_firing else "", DESCRIPTION_BYTES_MAX),
    ]
    shown = [cut(text.strip(), limit) for text, limit in texts if text.strip()]
    was_cut = shown != [text.strip() for text, _ in texts if text.strip()]
    text = f"\n{sign} " + "\n".join(shown)
    html = f"<br>{sign} <strong>{words.escaped(shown[0])}</strong>"
    html += "".join(f"<br>{words.escaped(line)}" for line in shown[1:])
    for name, url in _links(alert, runbooks):
        text, html = f"{text}\n{name}: {url}", f"{html}<br>{words.link(url, name)}"
    return Piece(text, html), was_cut


def _links(alert: Alert, runbooks: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the links of an alert that fires; a runbook that stands above already is not repeated."""
    if not alert.is_firing:
        return
    runbook = alert.annotations.get("runbook_url", "")
    if runbook.startswith(("http://", "https://")) and len(runbook) <= LABELS_BYTES_MAX and runbook not in runbooks:
        runbooks.add(runbook)
        yield "runbook", runbook
    dashboard = alert.annotations.get("dashboard_url", "")
    if dashboard.startswith(("http://", "https://")) and len(dashboard) <= LABELS_BYTES_MAX:
        yield "dashboard", dashboard
    if alert.source_url and len(alert.source_url) <= LABELS_BYTES_MAX:
        yield "source", alert.source_url


def _foot(group: Group, hidden: int) -> Iterator[Piece]:
    if hidden:
        line = f"\n… and {hidden} more; the file in the thread has them all."
        yield Piece(line, f"<br>{words.escaped(line.strip())}")
    if not group.is_closed:
        yield Piece(f"\n{HINT}", f"<br><em>{words.escaped(HINT)}</em>")
