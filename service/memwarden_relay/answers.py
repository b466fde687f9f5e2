"""Decides what a command does: to the group, to Alertmanager's silences, and what is answered. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memwarden_relay import render, severities, words
from memwarden_relay.commands import HELP, RIGHTS, Command, Verb
from memwarden_relay.model import Group
from memwarden_relay.permissions import Right, RoomPowers, Rule, may
from memwarden_relay.redaction import MARK

LISTED_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What a reaction that was taken back had done."""

    verb: Verb
    group: Group
    sender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The whole picture a command is judged by."""

    command: Command
    group: Group | None  # None: it points at no group of this room.
    undone: Undone | None  # None: what was taken back is no reaction that did something.
    open_groups: Sequence[Group]
    powers: RoomPowers
    rules: dict[Right, Rule]
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A silence to make in Alertmanager."""

    matchers: tuple[tuple[str, str], ...]
    seconds: int
    created_by: str
    comment: str

    def body(self, starts_at: str, ends_at: str) -> dict[str, Any]:
        """Return it in the words of Alertmanager's API v2."""
        matchers = [{"name": n, "value": v, "isRegex": False, "isEqual": True} for n, v in self.matchers]
        told = {"createdBy": self.created_by, "comment": self.comment}
        return {"matchers": matchers, "startsAt": starts_at, "endsAt": ends_at, **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What to do about a command."""

    outcome: str  # For the journal: done, refused, nothing.
    answer: str = ""  # "": nothing is said.
    group: Group | None = None  # As it is after; None: unchanged.
    silence: Silence | None = None
    unsilence: str = ""  # The silence to end.


def respond(asked: Asked) -> Response:
    """Decide what a command does."""
    command = asked.command
    if command.verb is Verb.HELP:
        return Response(outcome="done", answer=HELP)
    if command.verb is Verb.ALERTS:
        return Response(outcome="done", answer=listed(asked.open_groups))
    if command.verb is Verb.RETRACT:
        return _retract(asked)
    refusal = _refusal(asked)
    if refusal or asked.group is None:
        return refusal or Response(outcome="nothing")
    return _act(command.verb, command, asked.group, asked.now)


def listed(groups: Sequence[Group]) -> str:
    """Return what fires now, the worst first."""
    ordered = sorted(groups, key=lambda group: (severities.worst(group.alerts), group.opened_at))
    lines = [_line(group) for group in ordered[:LISTED_MAX]]
    more = len(ordered) - len(lines)
    return "\n".join([*lines, *([f"… and {more} more"] if more else [])]) or "Nothing fires."


def _line(group: Group) -> str:
    states = [f"{words.ACKNOWLEDGE_SIGN} {group.acknowledged_by}"] if group.acknowledged_by else []
    states += [f"{words.SILENCE_SIGN} until {words.clock(group.silenced_until)}"] if group.silence else []
    return " · ".join((render.title(group), *states))


def _refusal(asked: Asked) -> Response | None:
    command = asked.command
    if asked.group is None:
        if command.is_reaction:  # People react to other messages as well.
            return Response(outcome="nothing")
        return Response(outcome="refused", answer=f"Which alert? Say it in its thread, or !{command.verb} #number.")
    if not may(command.sender, asked.rules[RIGHTS[command.verb]], asked.powers):
        return Response(outcome="refused", answer=f"You may not {RIGHTS[command.verb]} alerts in this room.")
    if command.problem:
        return Response(outcome="refused", answer=f"That was not understood: {command.problem}.")
    return None


def _act(verb: Verb, command: Command, group: Group, now: float) -> Response:
    match verb:
        case Verb.ACK:
            return _acknowledge(command, group, now)
        case Verb.UNACK:
            return _unacknowledge(group)
        case Verb.SILENCE:
            return _silence(command, group)
        case Verb.UNSILENCE:
            return _unsilence(group)
        case Verb.UNDO:
            both = _unsilence(_unacknowledge(group).group or group)
            is_changed = both.unsilence or group.acknowledged_by
            return replace(both, outcome="done", answer="Undone.") if is_changed else both
    raise AssertionError(f"nothing is decided for {verb}")


def _retract(asked: Asked) -> Response:
    undone, sender = asked.undone, asked.command.sender
    if undone is None:
        return Response(outcome="nothing")
    right = RIGHTS[undone.verb]
    if sender != undone.sender and not may(sender, asked.rules[right], asked.powers):
        return Response(outcome="refused")
    return _unacknowledge(undone.group) if right is Right.ACKNOWLEDGE else _unsilence(undone.group)


def _acknowledge(command: Command, group: Group, now: float) -> Response:
    if group.is_closed:
        return Response(outcome="refused", answer="It is resolved already.")
    if group.acknowledged_by == command.sender:
        return Response(outcome="nothing")
    changed = replace(group, acknowledged_by=command.sender, acknowledged_at=now)
    return Response(outcome="done", answer=f"{words.ACKNOWLEDGE_SIGN} {command.sender} takes it.", group=changed)


def _unacknowledge(group: Group) -> Response:
    if not group.acknowledged_by:
        return Response(outcome="nothing", answer="Nobody had acknowledged it.")
    changed = replace(group, acknowledged_by="", acknowledged_at=0.0, reminded_at=0.0)
    return Response(outcome="done", answer="No longer acknowledged.", group=changed)


def _silence(command: Command, group: Group) -> Response:
    matchers = tuple(sorted(group.group_labels.items())) or tuple(sorted(group.common_labels.items()))
    if not matchers:
        return Response(
            outcome="refused", answer="The alerts have no label in common: a silence would cover everything."
        )
    if any(MARK in value for _, value in matchers):
        return Response(outcome="refused", answer="A label was redacted: silence it in Alertmanager itself.")
    if group.silence:
        return Response(outcome="refused", answer="It is silenced already; !unsilence first.")
    where = f"https://matrix.to/#/{command.room_id}/{command.event}"
    comment = f"{command.comment or 'from the room'} · {command.sender} · {where}"
    silence = Silence(matchers=matchers, seconds=command.seconds, created_by=command.sender, comment=comment)
    span = words.duration(command.seconds)
    return Response(outcome="done", silence=silence, answer=f"{words.SILENCE_SIGN} Silenced for {span}.", group=group)


def _unsilence(group: Group) -> Response:
    if not group.silence:
        return Response(outcome="nothing", answer="It is not silenced.", group=group)
    changed = replace(group, silence="", silenced_by="")
    return Response(outcome="done", answer="The silence is over.", group=changed, unsilence=group.silence)
