"""Decides what time alone brings: reminders, silences that end, an Alertmanager gone quiet. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memwarden_relay import severities, words
from memwarden_relay.model import Group, Mentions, Severity, Status

REMINDERS_MAX = 4  # For one incident: after that, another reminder tells nobody anything.


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """When critical alerts that nobody acknowledged are spoken of again, and to whom."""

    after_seconds: float  # 0: never.
    mentions: Mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What one group needs now."""

    group: Group
    lines: tuple[str, ...]
    mentions: Mentions
    has_new_look: bool  # The message itself reads differently.


def due(groups: Sequence[Group], now: float, reminding: Reminding) -> tuple[Due, ...]:
    """Return what is due for groups that are open or silenced."""
    found = (_silence_over(group, now) or _reminder(group, now, reminding) for group in groups)
    return tuple(one for one in found if one)


def _silence_over(group: Group, now: float) -> Due | None:
    if not group.silence or now < group.silenced_until:
        return None
    changed = replace(group, silence="", silenced_by="")
    line = f"{words.SILENCE_SIGN} the silence is over"
    return Due(group=changed, lines=(line,), mentions=Mentions(), has_new_look=True)


def over_meanwhile(group: Group, now: float) -> Group:
    """Return a group that ended while it was silenced: Alertmanager tells nobody of such an end."""
    alerts = tuple(replace(alert, status=Status.RESOLVED) for alert in group.alerts)
    return replace(group, alerts=alerts, closed_at=now, changed_at=now, silenced_until=0.0, state_key="")


def _reminder(group: Group, now: float, reminding: Reminding) -> Due | None:
    if not reminding.after_seconds or group.is_closed or group.acknowledged_by or group.silence or not group.root_event:
        return None
    if severities.worst(group.alerts) is not Severity.CRITICAL or group.reminders >= REMINDERS_MAX:
        return None
    since = max(group.reminded_at, group.opened_at)
    if now - since < reminding.after_seconds:
        return None
    waited = words.duration(now - group.opened_at)
    changed = replace(group, reminders=group.reminders + 1, reminded_at=now)
    line = f"⏰ nobody has acknowledged this for {waited}"
    return Due(group=changed, lines=(line,), mentions=reminding.mentions, has_new_look=False)


def is_quiet(last_heartbeat_at: float, now: float, quiet_after: float) -> bool:
    """Say whether the heartbeat of Alertmanager stopped. One that was never heard (0) cannot have stopped."""
    return 0 < last_heartbeat_at < now - quiet_after
