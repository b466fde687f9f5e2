"""Reads candidates and memories as cases, exports and people write them: the words of the HTTP API."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from memwarden_policy import bounds, confidence, structured, values
from memwarden_policy.envelope import SecurityMode, Wanted, completed
from memwarden_policy.model import (
    ActorKind,
    Caller,
    Candidate,
    Memory,
    MemoryType,
    Problem,
    SourceKind,
    Status,
)
from memwarden_policy.shapes import Findings, Node

STATED_FIELDS: Final = (
    "domain",
    "topic",
    "memory_type",
    "category",
    "content",
    "source",
    "source_uri",
    "confidence",
    "is_sensitive",
    "tags",
    "about",
    "observed_at",
    "subject",
    "value",
    "reason",
    "valid_until",
    "delete_at",
    "security_mode",
)
PROPOSAL_FIELDS: Final = (*STATED_FIELDS, "private")
STANDING_FIELDS: Final = ("status", "created_at", "last_confirmed_at", "version", "confirmed", "held")
MEMORY_FIELDS: Final = (*STATED_FIELDS, "id", "owner", *STANDING_FIELDS, "proposed_by", "proposed_for")
VERSIONS_MAX = 2**31 - 1


def candidate(node: Node, caller: Caller, now: datetime) -> Candidate:
    """Read a proposal. With problems in its findings the answer means nothing."""
    node.knows(*PROPOSAL_FIELDS)
    is_private = node.flag("private", default=False)
    if is_private and caller.principal is None:
        node.problem("private", "Conflict", "a private memory needs a person: say `user` or `onBehalfOf`")
    return _stated(node, caller.principal if is_private else None, now)


def memory(node: Node, now: datetime) -> Memory:
    """Read a memory. With problems in its findings the answer means nothing."""
    node.knows(*MEMORY_FIELDS)
    return _memory(node, now)


def read(document: Mapping[str, Any], now: datetime) -> Memory | tuple[Problem, ...]:
    """Read a memory as an export or `GET /v1/memories` gives it; what it has beyond that is left alone."""
    findings = Findings()
    known = {name: value for name, value in document.items() if name in MEMORY_FIELDS and value is not None}
    handled = document.get("envelope")
    if isinstance(handled, Mapping) and "security_mode" in handled:
        known.setdefault("security_mode", handled["security_mode"])
    known.setdefault("created_at", document.get("in_force_from"))
    known.setdefault("confirmed", document.get("confirmed_by") is not None)
    known.setdefault("held", document.get("hold") is not None)
    if document.get("private") is True:
        known.setdefault("owner", document.get("proposed_for"))
    for name in ("source_uri", "about", "owner", "proposed_for", *EMPTY_FIELDS):
        if known.get(name) == "":
            del known[name]
    found = _memory(Node("", known, findings), now)
    return tuple(findings.problems) or found


# What the API gives as an empty text, and a case leaves out.
EMPTY_FIELDS: Final = ("topic", "category", "subject", "reason")


def _memory(node: Node, now: datetime) -> Memory:
    return Memory(
        id=node.text("id", bounds.NAME_MAX) or "",
        statement=_stated(node, node.text("owner", bounds.PERSON_LENGTH_MAX), now),
        status=node.word("status", Status) or Status.CONFIRMED,
        created_at=moment(node, "created_at", now) or now,
        last_confirmed_at=moment(node, "last_confirmed_at", now),
        version=node.whole("version", 1, VERSIONS_MAX) or 1,
        confirmed=node.flag("confirmed", default=False),
        proposer=_proposer(node),
        is_held=node.flag("held", default=False),
    )


def _proposer(node: Node) -> Caller | None:
    principal = node.text("proposed_for", bounds.PERSON_LENGTH_MAX)
    actor = node.text("proposed_by", 2 * bounds.NAME_MAX + len(ActorKind.SERVICE_ACCOUNT) + 1)
    if actor is None:
        return None
    kind, _, name = actor.partition(":")
    namespace, slash, account = name.partition("/")
    if kind == ActorKind.SERVICE_ACCOUNT and slash:
        return Caller.service_account(namespace, account, principal=principal)
    if kind == ActorKind.API_KEY and name:
        return Caller(actor_kind=ActorKind.API_KEY, actor_name=name, principal=principal)
    node.problem("proposed_by", "InvalidName", "expected `ServiceAccount:namespace/name` or `APIKey:name`")
    return None


def _stated(node: Node, owner: str | None, now: datetime) -> Candidate:
    for name in ("domain", "content", "source"):
        node.require(name)
    source = node.word("source", SourceKind) or SourceKind.AGENT_EXTRACTED
    return Candidate(
        domain=node.text("domain", bounds.DOMAIN_LENGTH_MAX) or "",
        topic=node.text("topic", bounds.TOPIC_LENGTH_MAX) or "",
        memory_type=node.word("memory_type", MemoryType) or MemoryType.SEMANTIC,
        category=node.text("category", bounds.CATEGORY_LENGTH_MAX) or "",
        content=node.text("content", bounds.CONTENT_LENGTH_MAX) or "",
        source=source,
        source_uri=node.text("source_uri", bounds.SOURCE_URI_LENGTH_MAX) or "",
        confidence=_confidence(node, source),
        is_sensitive=node.flag("is_sensitive", default=False),
        tags=node.texts("tags", bounds.TAGS_MAX, bounds.TAG_LENGTH_MAX),
        owner=owner,
        about=node.text("about", bounds.PERSON_LENGTH_MAX),
        observed_at=moment(node, "observed_at", now),
        subject=node.text("subject", bounds.SUBJECT_LENGTH_MAX) or "",
        value=_value(node),
        reason=node.text("reason", bounds.REASON_LENGTH_MAX) or "",
        valid_until=moment(node, "valid_until", now),
        delete_at=moment(node, "delete_at", now),
        envelope=completed(Wanted(node.word("security_mode", SecurityMode) or SecurityMode.STANDARD)),
    )


def _value(node: Node) -> str:
    value = values.canonical(node.values.get("value"))
    if isinstance(value, str):
        return value
    node.problem("value", "InvalidValue", value.message)
    return ""


def _confidence(node: Node, source: SourceKind) -> Decimal:
    value = node.values.get("confidence")
    if value is None:
        return confidence.seed(source)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        node.problem("confidence", "OutOfRange", "expected a number from 0 to 1")
        return confidence.seed(source)
    return confidence.rounded(value)


def moment(node: Node, name: str, now: datetime) -> datetime | None:
    """Read a time, fixed or counted from `now`; None where it is missing or makes no sense."""
    text = node.text(name, bounds.TIME_LENGTH_MAX)
    if text is None:
        return None
    moment = structured.moment(text)
    if isinstance(moment, structured.Moment):
        return moment.at(now)
    node.problem(name, "InvalidTime", moment.message)
    return None
