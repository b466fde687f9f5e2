"""Statements as the core knows them, to and from rows."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from memwarden_policy import bounds, retention, values
from memwarden_policy.confidence import rounded
from memwarden_policy.confirming import Held
from memwarden_policy.demands import Confirmation
from memwarden_policy.envelope import EncryptionState, Envelope, SecurityMode, Visibility
from memwarden_policy.model import ActorKind, Caller, Candidate, Memory, MemoryType, SourceKind, Status
from memwarden_policy.ruleset import Ruleset
from memwarden_service import sealed
from memwarden_service.digests import keyed
from memwarden_service.shapes import EARLIEST

Columns = Row[Any] | Mapping[str, Any]  # As the driver gives them, or as JSON does.
# What goes from one version to the next when its words change: they, and how they are kept.
WORDS = (
    "content",
    "value",
    "vault_vector",
    "encryption_state",
    "server_embeddings_enabled",
    "server_content_search_enabled",
)
ANYBODY = Confirmation()  # What was held before confirmations said more.


def statement(row: Columns, domain: str) -> Candidate:
    """Return the statement of a row of candidate, memory or memory_version."""
    row = sealed.opened(_named(row))
    return Candidate(
        domain=domain,
        topic=row["topic"],
        memory_type=MemoryType(row["memory_type"]),
        category=row["category"],
        content=row["content"],
        source=SourceKind(row["source"]),
        source_uri=row["source_uri"] or "",
        confidence=_confidence(row["confidence"]),
        is_sensitive=row["is_sensitive"],
        tags=tuple(row["tags"]),
        owner=row["owner"],
        about=row["about"],
        observed_at=_moment(row["observed_at"]),
        subject=row["subject"],
        value=_value(row["value"]),
        reason=row["reason"],
        valid_until=_moment(row["valid_until"]),
        delete_at=_moment(row["delete_at"]),
        envelope=envelope(row),
    )


def envelope(row: Columns) -> Envelope:
    """Return the security envelope of a row."""
    row = _named(row)
    return Envelope(
        security_mode=SecurityMode(row["security_mode"]),
        encryption_state=EncryptionState(row["encryption_state"]),
        retrieval_visibility=Visibility(row["retrieval_visibility"]),
        server_embeddings_enabled=row["server_embeddings_enabled"],
        server_content_search_enabled=row["server_content_search_enabled"],
        vault_semantic_index_opt_in=row["vault_semantic_index_opt_in"],
        vault_vector=tuple(row["vault_vector"] or ()),
        vault_embedder=row["vault_embedder"] or "",
    )


def memory(row: Columns, domain: str) -> Memory:
    """Return the memory that a row of `memory` holds; times may be texts, as JSON has them."""
    row = _named(row)
    return Memory(
        id=str(row["id"]),
        statement=statement(row, domain),
        status=Status(row.get("ended_as") or row["status"]),
        created_at=_moment(row["in_force_from"]) or EARLIEST,
        last_confirmed_at=_moment(row["last_confirmed_at"]),
        version=row["version"],
        confirmed=row["confirmed_by"] is not None,
        proposer=proposer(row),
        falls=tuple((_confidence(each["confidence"]), _time(each["until"])) for each in row["falls"] or ()),
        is_held=row["held_by"] is not None,
    )


def proposer(row: Columns) -> Caller:
    """Return who proposed it, as far as the row says."""
    row = _named(row)
    kind, _, name = row["proposed_by"].partition(":")
    principal = row["proposed_for"]
    if kind == ActorKind.SERVICE_ACCOUNT:
        namespace, _, account = name.partition("/")
        return Caller.service_account(namespace, account, principal=principal)
    is_person = row["proposed_by_person"]
    return Caller(actor_kind=ActorKind.API_KEY, actor_name=name, principal=principal, is_person=is_person)


def columns(stated: Candidate, now: datetime) -> dict[str, Any]:
    """Return the columns of a statement, as JSON."""
    return {
        "owner": stated.owner,
        "about": stated.about,
        "topic": stated.topic,
        "memory_type": stated.memory_type,
        "category": stated.category,
        "content": stated.content,
        "source": stated.source,
        "source_uri": stated.source_uri or None,
        "confidence": str(stated.confidence),
        "is_sensitive": stated.is_sensitive,
        "tags": list(stated.tags),
        "observed_at": (stated.observed_at or now).isoformat(),
        "subject": stated.subject,
        "value": values_of(stated),
        "reason": stated.reason,
        "valid_until": stated.valid_until.isoformat() if stated.valid_until else None,
        "delete_at": stated.delete_at.isoformat() if stated.delete_at else None,
        **_envelope_columns(stated.envelope),
    }


def end(ruleset: Ruleset, memory: Memory) -> dict[str, Any]:
    """Return the columns that say when a memory ends, and by which rules that was reckoned."""
    found = retention.ending(ruleset, memory)
    return {
        "ends_at": found.at.isoformat() if found else None,
        "ends_by": found.by if found else None,
        "retention": ruleset.retention_digest,
    }


def _envelope_columns(held: Envelope) -> dict[str, Any]:
    return {
        "security_mode": held.security_mode,
        "encryption_state": held.encryption_state,
        "retrieval_visibility": held.retrieval_visibility,
        "server_embeddings_enabled": held.server_embeddings_enabled,
        "server_content_search_enabled": held.server_content_search_enabled,
        "vault_semantic_index_opt_in": held.vault_semantic_index_opt_in,
        "vault_vector": list(held.vault_vector) or None,
        "vault_embedder": held.vault_embedder or None,
    }


def values_of(stated: Candidate) -> Any:
    """Return the structured value; None: there is none."""
    return json.loads(stated.value) if stated.value else None


def reworded(stated: Candidate, words: Any) -> Candidate:
    """Return a statement with other `content` and `value`."""
    value = values.canonical(words["value"])
    return replace(stated, content=words["content"], value=value if isinstance(value, str) else "")


def content_key(hash_key: bytes, workspace: str, stated: Candidate) -> bytes:
    """Return what names a statement by what it says, so that the same one is not taken twice."""
    place = (workspace, stated.domain, stated.memory_type, stated.topic, stated.content)
    more = (stated.subject, stated.value) if stated.subject or stated.value else ()
    return keyed(hash_key, "content", *place, *more)


def claim_key(hash_key: bytes, workspace: str, stated: Candidate) -> bytes:
    """Return what names a claim whatever its case and its spaces: what a person rejected is known by it."""
    words = " ".join(stated.content.casefold().split())
    return keyed(hash_key, "claim", workspace, stated.domain, stated.topic, stated.subject, stated.value, words)


def held(row: Columns, domain: str, ruleset: Ruleset) -> Held:
    """Return whose a row is and who proposed it, for the judgement of a confirmation."""
    row = _named(row)
    known = ruleset.domain_of(domain)
    return Held(
        proposed_by=row["proposed_by"],
        proposed_for=row["proposed_for"],
        proposed_by_person=row["proposed_by_person"],
        owner=row["owner"],
        about=row["about"],
        domain_owner=known.owner if known else None,
    )


def needed(row: Columns) -> Confirmation:
    """Return what the confirmation of a candidate needs."""
    asked = _named(row)["confirmation"]
    return Confirmation.of_json(asked) if asked else ANYBODY


def stricter(one: Confirmation, other: Confirmation) -> Confirmation:
    """Return what fulfils both."""
    return Confirmation(
        by=tuple(sorted({*one.by, *other.by})),
        people=max(one.people, other.people),
        expires_after=min(one.expires_after, other.expires_after),
        questions=tuple(dict.fromkeys((*one.questions, *other.questions)))[: bounds.QUESTIONS_PER_DECISION_MAX],
    )


def _named(row: Columns) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else row._asdict()


def _confidence(number: Decimal | float) -> Decimal:
    return rounded(number if isinstance(number, Decimal) else Decimal(str(number)))


def _moment(value: datetime | str | None) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _value(value: Any) -> str:
    text = values.canonical(value)
    return text if isinstance(text, str) else ""
