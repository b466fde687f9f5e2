"""Reads what people write and react in a room: a command, or nothing. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from memwarden_relay import words
from memwarden_relay.permissions import Right
from memwarden_relay.sanitise import clean

SILENCE_DEFAULT_SECONDS = 3_600
SILENCE_MAX_SECONDS = 7 * 86_400
COMMENT_LENGTH_MAX = 300
BODY_LENGTH_MAX = 2_000
_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"^((?:\d{1,4}[mhdw]){1,4})$")
_PART = re.compile(r"(\d{1,4})([mhdw])")
_NUMBER = re.compile(r"^#(\d{1,12})$")


class Verb(StrEnum):
    ACK = "ack"
    UNACK = "unack"
    SILENCE = "silence"
    UNSILENCE = "unsilence"
    UNDO = "undo"  # Acknowledgement and silence alike.
    ALERTS = "alerts"
    HELP = "help"
    RETRACT = "retract"  # A reaction was taken back: what it did is undone.


RIGHTS: Mapping[Verb, Right] = {
    Verb.ACK: Right.ACKNOWLEDGE,
    Verb.UNACK: Right.ACKNOWLEDGE,
    Verb.SILENCE: Right.SILENCE,
    Verb.UNSILENCE: Right.SILENCE,
    Verb.UNDO: Right.SILENCE,
}
REACTIONS: Mapping[str, Verb] = {
    words.ACKNOWLEDGE_SIGN: Verb.ACK,
    words.SILENCE_SIGN: Verb.SILENCE,
    words.UNDO_SIGN: Verb.UNDO,
}
HELP = """\
!ack [#number] · I take it; 👀 on the message does the same
!unack [#number] · I do not
!silence [#number] [30m|2h|1d] [why] · quiet in Alertmanager, one hour unless said; 🔕 does the same
!unsilence [#number] · end the silence
!alerts · what fires now
In a thread, or in reply to an alert, the number is not needed. Taking a reaction back undoes it; ❌ undoes both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a person wants."""

    verb: Verb
    room: str  # The name of the room, of the settings.
    room_id: str
    event: str
    sender: str
    target: str = ""  # An event it points at: root of the thread, what is replied or reacted to, what is taken back.
    number: int = 0  # 0: none named.
    seconds: int = SILENCE_DEFAULT_SECONDS
    comment: str = ""
    is_reaction: bool = False
    problem: str = ""  # "": it was understood.


def read(event: Mapping[str, Any], room: str, room_id: str) -> Command | None:
    """Return the command an event of a room's timeline holds."""
    sender, name, content = event.get("sender"), event.get("event_id"), event.get("content")
    if not isinstance(sender, str) or not isinstance(name, str) or not isinstance(content, Mapping):
        return None
    blank = Command(verb=Verb.RETRACT, room=room, room_id=room_id, event=name, sender=sender)
    match event.get("type"):
        case "m.reaction":
            return _reaction(content, blank)
        case "m.room.redaction":
            target = content.get("redacts") or event.get("redacts")
            return replace(blank, target=target) if isinstance(target, str) else None
        case "m.room.message":
            return _message(content, blank)
    return None


def seconds(text: str) -> int | None:
    """Read a span such as 2h or 1h30m; None when it is none."""
    if not _DURATION.match(text):
        return None
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def _reaction(content: Mapping[str, Any], blank: Command) -> Command | None:
    relation = content.get("m.relates_to")
    if not isinstance(relation, Mapping) or relation.get("rel_type") != "m.annotation":
        return None
    key, target = relation.get("key"), relation.get("event_id")
    # Some clients add U+FE0F, the wish for a coloured picture.
    verb = REACTIONS.get(key.rstrip("\ufe0f")) if isinstance(key, str) else None
    if verb is None or not isinstance(target, str):
        return None
    return replace(blank, verb=verb, target=target, is_reaction=True)


def _message(content: Mapping[str, Any], blank: Command) -> Command | None:
    body, relation = content.get("body"), content.get("m.relates_to")
    relation = relation if isinstance(relation, Mapping) else {}
    if not isinstance(body, str) or relation.get("rel_type") == "m.replace":
        return None
    parts = _without_quote(clean(body[:BODY_LENGTH_MAX])).split()
    if not parts or not parts[0].startswith("!"):
        return None
    verbs = {verb.value: verb for verb in (*RIGHTS, Verb.ALERTS, Verb.HELP) if verb is not Verb.UNDO}
    verb = verbs.get(parts[0][1:].lower())
    return _worded(verb, parts[1:], _target(relation), blank) if verb else None


def _worded(verb: Verb, rest: list[str], target: str, blank: Command) -> Command:
    number, span, problem = 0, SILENCE_DEFAULT_SECONDS, ""
    if rest and (found := _NUMBER.match(rest[0])):
        number, rest = int(found[1]), rest[1:]
    if verb is Verb.SILENCE and rest and rest[0][:1].isdigit():
        told = seconds(rest[0])
        rest = rest[1:]
        if told is None or not 60 <= told <= SILENCE_MAX_SECONDS:
            problem = (
                f"a silence lasts from 1m to {words.duration(SILENCE_MAX_SECONDS).replace(' ', '')}, as in 30m, 2h, 1d"
            )
        else:
            span = told
    comment = " ".join(rest)[:COMMENT_LENGTH_MAX]
    worded = replace(blank, number=number, seconds=span, comment=comment, problem=problem)
    return replace(worded, verb=verb, target=target)


def _target(relation: Mapping[str, Any]) -> str:
    if relation.get("rel_type") == "m.thread" and isinstance(relation.get("event_id"), str):
        return str(relation["event_id"])
    reply = relation.get("m.in_reply_to")
    return str(reply.get("event_id", "")) if isinstance(reply, Mapping) else ""


def _without_quote(body: str) -> str:
    """Drop the quoted lines that older clients put before a reply."""
    lines = body.lstrip().split("\n")
    while lines and (lines[0].startswith(">") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines)
