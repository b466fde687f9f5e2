"""Turns a delivery into the content of a Matrix event."""

from collections.abc import Mapping
from typing import Any

from memwarden_relay.model import Delivery, Kind, Mentions, Payload
from memwarden_relay.sizes import cut

DELIVERY_ID = "dev.memwarden.delivery_id"  # Our own mark: what is in the room is known by it.
TITLE_BYTES_MAX = 400
SHRUNK_BYTES_MAX = (8_000, 2_000, 400)  # Of the text, after each refusal as too large.
Content = dict[str, Any]


def event_type(kind: Kind) -> str:
    return "m.reaction" if kind is Kind.REACT else "m.room.message"


def content(delivery: Delivery) -> Content:
    """Return the content of the event. The same delivery always gives the same content."""
    payload = delivery.payload
    match delivery.kind:
        case Kind.REACT:
            relation = {"rel_type": "m.annotation", "event_id": delivery.root_event, "key": payload.key}
            made: Content = {"m.relates_to": relation}
        case Kind.EDIT:
            made = _edit(_words(payload, delivery.shrinks), payload, delivery.root_event)
        case Kind.NOTE:
            made = _words(payload, delivery.shrinks, is_quiet=not payload.mentions)
            made["m.relates_to"] = _thread(delivery.root_event, delivery.root_event)
        case Kind.ANSWER:
            made = _words(payload, delivery.shrinks, is_quiet=True)
            made["m.relates_to"] = _reply(payload.target, delivery.root_event)
        case Kind.ROOT | Kind.NOTICE:
            made = _words(payload, delivery.shrinks)
        case Kind.FILE | Kind.UNREACT:
            raise AssertionError(f"{delivery.kind} has no content of its own")
    return {**made, DELIVERY_ID: delivery.id}


def file_content(delivery: Delivery, url: str) -> Content:
    """Return the content that attaches an uploaded file to the thread."""
    payload = delivery.payload
    return {
        "msgtype": "m.file",
        "body": payload.key,
        "filename": payload.key,
        "url": url,
        "info": {"mimetype": "application/json", "size": len(payload.body.encode())},
        "m.mentions": {},
        "m.relates_to": _thread(delivery.root_event, delivery.root_event),
        DELIVERY_ID: delivery.id,
    }


def _words(payload: Payload, shrinks: int, *, is_quiet: bool = False) -> Content:
    made: Content = {"msgtype": "m.notice" if is_quiet else "m.text", "m.mentions": _mentions(payload.mentions)}
    if shrinks:
        return {**made, "body": cut(payload.body, SHRUNK_BYTES_MAX[min(shrinks, len(SHRUNK_BYTES_MAX)) - 1])}
    made["body"] = payload.body
    if payload.html:
        made.update(format="org.matrix.custom.html", formatted_body=payload.html)
    return made


def _edit(new: Content, payload: Payload, root: str) -> Content:
    # Clients that know no edits show the first line; the whole text stands once, in m.new_content.
    first = cut(payload.body.split("\n", 1)[0], TITLE_BYTES_MAX)
    return {
        "msgtype": new["msgtype"],
        "body": f"* {first}",
        "m.mentions": {},
        "m.new_content": new,
        "m.relates_to": {"rel_type": "m.replace", "event_id": root},
    }


def _thread(root: str, reply_to: str) -> Mapping[str, Any]:
    return {
        "rel_type": "m.thread",
        "event_id": root,
        "is_falling_back": reply_to == root,
        "m.in_reply_to": {"event_id": reply_to},
    }


def _reply(target: str, root: str) -> Mapping[str, Any]:
    return _thread(root, target or root) if root else {"m.in_reply_to": {"event_id": target}}


def _mentions(mentions: Mentions) -> Mapping[str, Any]:
    found: dict[str, Any] = {"user_ids": list(mentions.users)} if mentions.users else {}
    return {**found, "room": True} if mentions.room else found
