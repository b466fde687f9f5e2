"""A person in a Matrix room: makes it, reads it as a client shows it, reacts, writes, invites, kicks, upgrades."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from local.homeserver import Homeserver, User, call
from local.processes import NotReadyError

POLL_SECONDS = 0.1
Event = Mapping[str, Any]
_transactions = count(int(time.time() * 1000))


@dataclass(slots=True, kw_only=True)
class Message:
    """One message as a client shows it: the newest edit, its thread, its reactions."""

    id: str
    sender: str
    body: str
    first_body: str
    at: int
    mentions: Mapping[str, Any]
    edits: int = 0
    thread: list[Event] = field(default_factory=list)
    reactions: list[tuple[str, str]] = field(default_factory=list)  # Mark and sender.

    @property
    def thread_bodies(self) -> list[str]:
        return [event["content"]["body"] for event in self.thread]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with a client."""

    server: Homeserver
    user: User

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Call the homeserver; anything but success is an error."""
        for _ in range(20):
            status, answer = call(f"{self.server.url}/_matrix/client/v3{path}", method, body, self.user.token)
            if status != 429:
                break
            time.sleep(answer.get("retry_after_ms", 1000) / 1000)
        if status != 200:
            raise NotReadyError(f"{method} {path}: {status} {answer}")
        return answer

    def make_room(self, *others: User, **more: Any) -> str:
        body = {"preset": "private_chat", "invite": [other.id for other in others], "name": "ops"}
        return str(self.ask("POST", "/createRoom", {**body, **more})["room_id"])

    def send(self, room: str, content: Event, kind: str = "m.room.message") -> str:
        path = f"/rooms/{quote(room)}/send/{kind}/{next(_transactions)}"
        return str(self.ask("PUT", path, content)["event_id"])

    def say(self, room: str, body: str, *, thread: str = "") -> str:
        content: dict[str, Any] = {"msgtype": "m.text", "body": body}
        if thread:
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": thread}
        return self.send(room, content)

    def react(self, room: str, event: str, mark: str) -> str:
        relation = {"rel_type": "m.annotation", "event_id": event, "key": mark}
        return self.send(room, {"m.relates_to": relation}, "m.reaction")

    def take_back(self, room: str, event: str) -> None:
        self.ask("PUT", f"/rooms/{quote(room)}/redact/{quote(event)}/{next(_transactions)}", {})

    def set_state(self, room: str, kind: str, content: Event) -> None:
        self.ask("PUT", f"/rooms/{quote(room)}/state/{kind}/", content)

    def power_levels(self, room: str, **changes: Any) -> None:
        levels = self.ask("GET", f"/rooms/{quote(room)}/state/m.room.power_levels/")
        self.set_state(room, "m.room.power_levels", {**levels, **changes})

    def kick(self, room: str, user: User) -> None:
        self.ask("POST", f"/rooms/{quote(room)}/kick", {"user_id": user.id})

    def invite(self, room: str, user: User) -> None:
        self.ask("POST", f"/rooms/{quote(room)}/invite", {"user_id": user.id})

    def events(self, room: str) -> list[Event]:
        """Return all events of a room, oldest first."""
        found: list[Event] = []
        start = ""
        while True:
            query = urlencode({"dir": "b", "limit": "200"} | ({"from": start} if start else {}))
            page = self.ask("GET", f"/rooms/{quote(room)}/messages?{query}")
            found += page["chunk"]
            start = page.get("end", "")
            if not start or not page["chunk"]:
                return found[::-1]

    def read(self, room: str) -> list[Message]:
        """Return the messages of a room as a client shows them: edits in place, thread and reactions at their root."""
        shown: dict[str, Message] = {}
        for event in self.events(room):
            content = event["content"]
            relation = content.get("m.relates_to", {})
            root = shown.get(relation.get("event_id", ""))
            if event["type"] == "m.reaction" and root:
                root.reactions.append((relation["key"], event["sender"]))
            elif event["type"] == "m.room.message" and "body" in content:
                _place(event, relation, root, shown)
        return list(shown.values())

    def wait_for(
        self, room: str, claim: Callable[[list[Message]], Any], what: str, seconds: float = 20.0
    ) -> list[Message]:
        """Read until a claim holds of the messages.

        Raises:
            NotReadyError: it does not within `seconds`; the message shows what is there.
        """
        deadline = time.monotonic() + seconds
        while True:
            messages = self.read(room)
            if claim(messages):
                return messages
            if time.monotonic() > deadline:
                shown = "\n".join(f"- {one.body[:200]!r} thread={one.thread_bodies}" for one in messages)
                raise NotReadyError(f"after {seconds:.0f} s not: {what}; the room reads\n{shown}")
            time.sleep(POLL_SECONDS)


def _place(event: Event, relation: Event, root: Message | None, shown: dict[str, Message]) -> None:
    content = event["content"]
    kind = relation.get("rel_type")
    if kind == "m.replace" and root:
        if root.sender == event["sender"]:
            root.body = content["m.new_content"]["body"]
            root.edits += 1
    elif kind == "m.thread" and root:
        root.thread.append(event)
    else:
        shown[event["event_id"]] = Message(
            id=event["event_id"],
            sender=event["sender"],
            body=content["body"],
            first_body=content["body"],
            at=event["origin_server_ts"],
            mentions=content.get("m.mentions", {}),
        )


def person(server: Homeserver, name: str) -> Person:
    return Person(server=server, user=server.register(name))
