"""Carries out one command: asks who may, decides, acts in Alertmanager, stores and answers."""

import json
import logging
import sqlite3
import time
from dataclasses import dataclass, replace
from functools import partial

from memwarden_relay import answers, deliveries, groups, ledger, metrics
from memwarden_relay.alertmanager import Alertmanager, RefusedError
from memwarden_relay.answers import Asked, Response, Undone
from memwarden_relay.commands import RIGHTS, Command, Verb
from memwarden_relay.matrix import UnansweredError
from memwarden_relay.model import Group, Kind, Payload, Put
from memwarden_relay.permissions import RoomPowers
from memwarden_relay.plan import RANK_ANSWER, display
from memwarden_relay.queue import Queue
from memwarden_relay.rooms import Rooms
from memwarden_relay.sender import Sender
from memwarden_relay.settings import Settings

ANSWERS_WAITING_MAX = 5  # In one room: whoever floods it is heard, not answered.
NO_POWERS = RoomPowers(version="1", creators=(), levels={})
log = logging.getLogger("memwarden_relay.handle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the queue knows when a command comes in."""

    seen: str  # "new", "" when it was begun and not finished, else how it ended.
    group: Group | None
    undone: Undone | None
    open_groups: tuple[Group, ...]


class Handler:
    """Carries out commands, one after another."""

    def __init__(self, settings: Settings, queue: Queue, rooms: Rooms, alertmanager: Alertmanager) -> None:
        self.settings = settings
        self._queue, self._rooms, self._alertmanager = queue, rooms, alertmanager
        self.sender: Sender | None = None  # None: nobody waits for news.

    async def handle(self, command: Command) -> None:
        """Carry out a command, unless it was carried out before."""
        picture = await self._queue.run(partial(_gathered, command=command, now=time.time()))
        if picture.seen not in ("new", ""):
            return
        response = await self._decided(command, picture)
        response = await self._acted(command, response, was_begun=picture.seen == "")
        await self._queue.run(partial(_stored, command=command, response=response, now=time.time()))
        metrics.COMMANDS.labels(command.verb.value, response.outcome).inc()
        line = {"event": "command", "verb": command.verb.value, "outcome": response.outcome, "sender": command.sender}
        log.info(json.dumps(line))
        if self.sender:
            self.sender.news.set()

    async def _decided(self, command: Command, picture: Picture) -> Response:
        needs_right = (command.verb in RIGHTS and picture.group) or picture.undone
        try:
            powers = await self._rooms.powers(command.room_id) if needs_right else NO_POWERS
        except UnansweredError:
            return Response(outcome="failed", answer="The homeserver did not say who may do this; try again.")
        return answers.respond(
            Asked(
                command=command,
                group=picture.group,
                undone=picture.undone,
                open_groups=picture.open_groups,
                powers=powers,
                rules=self.settings.rights(),
                now=time.time(),
            )
        )

    async def _acted(self, command: Command, response: Response, *, was_begun: bool) -> Response:
        """Do in Alertmanager what was decided; a silence made just before a crash is found again, not made twice."""
        try:
            if response.unsilence:
                await self._alertmanager.unsilence(response.unsilence)
            if response.silence and response.group:
                there = await self._alertmanager.find(command.event) if was_begun else None
                silence, until = there or await self._alertmanager.silence(response.silence)
                silenced = replace(response.group, silence=silence, silenced_by=command.sender, silenced_until=until)
                return replace(response, group=silenced)
        except RefusedError as error:
            return Response(outcome="failed", answer=f"Alertmanager did not do it ({error}); try again.")
        return response


def _gathered(connection: sqlite3.Connection, command: Command, now: float) -> Picture:
    group = groups.by_id(connection, command.number) if command.number else None
    if not command.number and command.target and command.verb is not Verb.RETRACT:
        group = groups.by_event(connection, command.room, command.target)
    if group and group.room != command.room:
        group = None
    is_retraction, is_list = command.verb is Verb.RETRACT, command.verb is Verb.ALERTS
    undone = _undone(connection, command) if is_retraction else None
    if is_retraction and undone is None:  # People take back many things; only what did something is noted.
        return Picture(seen="nothing", group=None, undone=None, open_groups=())
    if command.is_reaction and group is None:
        return Picture(seen="nothing", group=None, undone=None, open_groups=())
    about = undone.group if undone else group
    seen = ledger.begin(connection, command, about.id if about else None, now)
    listed = groups.open_ones(connection, command.room) if is_list else ()
    return Picture(seen=seen, group=group, undone=undone, open_groups=listed)


def _undone(connection: sqlite3.Connection, command: Command) -> Undone | None:
    row = ledger.deed(connection, command.target)
    group = groups.by_id(connection, row["group_id"]) if row else None
    if row is None or group is None or group.room != command.room:
        return None
    verb = Verb(row["verb"])
    return Undone(verb=verb, group=group, sender=row["sender"]) if verb in (Verb.ACK, Verb.SILENCE) else None


def _stored(connection: sqlite3.Connection, command: Command, response: Response, now: float) -> None:
    group = _merged(connection, response.group) if response.group and response.outcome == "done" else None
    if group:
        groups.save(connection, group)
        deliveries.write(connection, group, display(group, deliveries.waiting(connection, group)), now)
    if response.answer:
        about = response.group or (
            groups.by_event(connection, command.room, command.target) if command.target else None
        )
        target = "" if command.is_reaction or command.verb is Verb.RETRACT else command.event
        put = Put(kind=Kind.ANSWER, payload=Payload(body=response.answer, target=target), rank=RANK_ANSWER)
        has_place = deliveries.waiting_answers(connection, command.room) < ANSWERS_WAITING_MAX
        if has_place and (about is None or about.root_event or target):
            group_id = about.id if about else None
            deliveries.add(connection, room=command.room, group_id=group_id, put=put, now=now)
    ledger.finish(connection, command.event, response.outcome, _detail(command, response))


def _merged(connection: sqlite3.Connection, decided: Group) -> Group | None:
    """Put what people decided on the group as it is by now: alerts may have come in meanwhile."""
    current = groups.by_id(connection, decided.id)
    return current and replace(
        current,
        acknowledged_by=decided.acknowledged_by,
        acknowledged_at=decided.acknowledged_at,
        reminded_at=decided.reminded_at,
        silence=decided.silence,
        silenced_by=decided.silenced_by,
        silenced_until=decided.silenced_until,
    )


def _detail(command: Command, response: Response) -> str:
    if response.silence:
        return f"{command.seconds} s; {command.comment}"[:400]
    return response.answer[:400] if response.outcome in ("refused", "failed") else ""
