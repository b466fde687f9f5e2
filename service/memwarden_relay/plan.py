"""Decides what a notification changes: the group as it is now, and what is to be sent for it. Pure.

What was heard last is what is shown. The peer of a pair may tell an older state late; its next word, at most one group
interval later, puts that right, because it compares with what it told itself. To leave a late state out would be to
guess, and a wrong guess would stay.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from memwarden_relay import render, severities, snapshots, states, timeline, words
from memwarden_relay.model import (
    NOBODY,
    Alert,
    Cancel,
    Group,
    Kind,
    Mentions,
    Notification,
    Payload,
    Put,
    RootState,
    Severity,
    Waiting,
    Write,
)

RANK_ANSWER = 15  # After what is critical: chatter must not hold that up. Before all else: a person waits.
RANK_NOTICE = 5
RANK_LAST = 90  # Marks and files: nice to have, after all that somebody must know.

MentionsOf = Callable[[Severity], Mentions]


class Outcome(StrEnum):
    """What became of a notification in one room."""

    ACCEPTED = "accepted"
    REPEATED = "repeated"  # Alertmanager's reminder of a state that is shown.
    DUPLICATE = "duplicate"  # A copy of a pair, or a retry.
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Spans in seconds that a notification is judged by."""

    repeat_after: float  # The same state again after this is a reminder, before it is a copy.
    reopen_within: float  # Firing again within this after the end goes on in the same message.


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The whole picture a notification is judged by."""

    notification: Notification
    room: str
    group: Group | None  # None: the first that is heard of it.
    waiting: Waiting
    next_id: int
    now: float
    times: Times
    mentions_of: MentionsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to store and send."""

    outcome: Outcome
    group: Group | None  # None: nothing changes.
    writes: tuple[Write, ...] = ()


def plan(seen: Seen) -> Plan:
    """Decide what one notification means for one room."""
    group, key = seen.group, states.state_key(seen.room, seen.notification)
    if not seen.notification.alerts:
        return Plan(outcome=Outcome.EMPTY, group=None)
    if group is None:
        return _open(seen)
    if group.state_key == key:
        return _same_again(seen, group)
    fires = any(alert.is_firing for alert in seen.notification.alerts)
    if fires and group.is_closed and seen.now - group.closed_at > seen.times.reopen_within:
        return _open(seen)
    return _change(seen, group)


def rank(severity: Severity, kind: Kind, mentions: Mentions = NOBODY) -> int:
    """Return the place in line: the worst first; within a severity new messages, then edits, then history."""
    if kind in (Kind.REACT, Kind.UNREACT, Kind.FILE):
        return RANK_LAST + int(severity)
    urgency = {Kind.ROOT: 1, Kind.EDIT: 2, Kind.NOTE: 1 if mentions else 3}[kind]
    return 10 * int(severity) + urgency


def display(group: Group, waiting: Waiting, mentions: Mentions = NOBODY) -> Iterable[Write]:
    """Yield what makes the room show the group as it is."""
    rendered = render.message(group, mentions)
    kind = Kind.ROOT if waiting.root in (RootState.NONE, RootState.WAITING) else Kind.EDIT
    # An edit pushes nobody: who must be called is called by a note in the thread.
    payload = rendered.payload if kind is Kind.ROOT else replace(rendered.payload, mentions=NOBODY)
    yield Put(kind=kind, payload=payload, rank=rank(severities.worst(group.alerts), kind))


def note(group: Group, waiting: Waiting, lines: tuple[str, ...], mentions: Mentions = NOBODY) -> Iterable[Write]:
    """Yield lines of history; nothing while the message itself is not in the room."""
    if waiting.root in (RootState.NONE, RootState.WAITING) or not lines:
        return
    earlier = waiting.note
    everybody = (earlier.mentions if earlier else NOBODY) | mentions
    payload = timeline.joined((*(earlier.lines if earlier else ()), *lines), everybody)
    yield Put(kind=Kind.NOTE, payload=payload, rank=rank(severities.worst(group.alerts), Kind.NOTE, everybody))


def _open(seen: Seen) -> Plan:
    came = seen.notification
    group = _updated(
        Group(
            id=seen.next_id,
            room=seen.room,
            group_key=came.group_key,
            receiver=came.receiver,
            group_labels=came.group_labels,
            common_labels=came.common_labels,
            alerts=(),
            omitted=0,
            external_url=came.external_url,
            opened_at=seen.now,
            changed_at=seen.now,
            seen_at=seen.now,
        ),
        seen,
    )
    mentions = seen.mentions_of(severities.worst(group.alerts)) if group.firing else NOBODY
    return Plan(outcome=Outcome.ACCEPTED, group=group, writes=(*display(group, Waiting(), mentions), *_file(group, ())))


def _same_again(seen: Seen, group: Group) -> Plan:
    is_reminder = group.firing and seen.now - group.seen_at >= seen.times.repeat_after
    if not is_reminder:
        return Plan(outcome=Outcome.DUPLICATE, group=None)
    lines = (f"🔁 still {words.count(group.alerts, group.omitted)}",)
    writes = note(group, seen.waiting, lines)
    return Plan(outcome=Outcome.REPEATED, group=replace(group, seen_at=seen.now), writes=tuple(writes))


def _change(seen: Seen, before: Group) -> Plan:
    group, waiting = _updated(before, seen), seen.waiting
    news = _newly_firing(before, group)
    worst_news = severities.worst(news)
    is_worse = bool(news) and (worst_news is Severity.CRITICAL or worst_news < severities.worst(before.alerts))
    calls = is_worse or (before.is_closed and bool(news))
    mentions = seen.mentions_of(severities.worst(news)) if calls else NOBODY
    if is_worse:  # Whoever took the old trouble has not seen the new one.
        group = replace(group, acknowledged_by="", acknowledged_at=0.0, reminders=0, reminded_at=0.0)
    lines = timeline.changes(before.alerts, group.alerts)
    shown = mentions or (_mentions_while_unseen(seen, group) if waiting.root is RootState.WAITING else NOBODY)
    writes = [*display(group, waiting, shown), *note(group, waiting, lines, mentions), *_marks(before, group, waiting)]
    return Plan(outcome=Outcome.ACCEPTED, group=group, writes=(*writes, *_file(group, before.alerts)))


def _mentions_while_unseen(seen: Seen, group: Group) -> Mentions:
    """Return whom the message calls when it is rewritten before anybody saw it."""
    return seen.mentions_of(severities.worst(group.alerts)) if group.firing else NOBODY


def _newly_firing(before: Group, after: Group) -> tuple[Alert, ...]:
    """Return what fires that nobody was told of; a late copy of the other peer brings back only what was told."""
    known = {(alert.fingerprint, alert.starts_at) for alert in before.alerts}
    return tuple(alert for alert in after.firing if (alert.fingerprint, alert.starts_at) not in known)


def _updated(group: Group, seen: Seen) -> Group:
    came = seen.notification
    alerts = came.alerts
    is_over = not any(alert.is_firing for alert in alerts)
    return replace(
        group,
        receiver=came.receiver,
        group_labels=came.group_labels,
        common_labels=came.common_labels,
        alerts=alerts,
        omitted=came.omitted,
        external_url=came.external_url,
        changed_at=seen.now,
        seen_at=seen.now,
        closed_at=seen.now if is_over else 0.0,
        state_key=states.state_key(seen.room, came),
    )


def _marks(before: Group, after: Group, waiting: Waiting) -> Iterable[Write]:
    if after.is_closed and not before.is_closed and waiting.root in (RootState.SENT, RootState.UNCLEAR):
        place = rank(severities.worst(after.alerts), Kind.REACT)
        yield Put(kind=Kind.REACT, payload=Payload(key=words.RESOLVED_SIGN), rank=place)
    if before.is_closed and not after.is_closed:
        yield Cancel(kind=Kind.REACT)
        if before.mark_event:
            place = rank(severities.worst(after.alerts), Kind.UNREACT)
            yield Put(kind=Kind.UNREACT, payload=Payload(target=before.mark_event), rank=place)


def _file(group: Group, before: Iterable[Alert]) -> Iterable[Write]:
    """Yield the attachment when the message cannot hold the group and something in it is new."""
    known = {alert.fingerprint for alert in before}
    has_news = any(alert.fingerprint not in known for alert in group.alerts)
    if has_news and render.message(group, NOBODY).is_cut:
        text = snapshots.dump(snapshots.in_order(group.alerts))
        payload = Payload(key=f"alerts-{group.id}.json", body=text)
        yield Put(kind=Kind.FILE, payload=payload, rank=rank(severities.worst(group.alerts), Kind.FILE))
