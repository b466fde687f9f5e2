"""The write path: what happens to a proposal, in this order. A new stage is one more name in one of two lists."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from starlette.requests import Request
from uuid6 import uuid7

from memwarden_policy.confidence import rounded, seed
from memwarden_policy.decide import decide
from memwarden_policy.model import Access, Action, Candidate, Decision
from memwarden_service import bodies, metrics
from memwarden_service.authenticate import Authenticator
from memwarden_service.database import Database, acts, at_once, foresee
from memwarden_service.digests import keyed
from memwarden_service.picture import Picture, Subject, domain_id
from memwarden_service.problems import Fault, Kind, ProblemError, hidden
from memwarden_service.shapes import Proposal
from memwarden_service.text import is_clean

RECORD_TRIES_MAX = 5
MOVED = "moved"  # The ruleset is another than the one decided by.
IDEMPOTENCY_HEADER = "idempotency-key"
IDEMPOTENCY_KEY_LENGTH_MAX = 128
IDEMPOTENCY_LIFE = timedelta(hours=24)
RECORD = acts("memwarden.record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What the write path needs of the service."""

    authenticator: Authenticator
    database: Database
    hash_key: bytes = field(repr=False)


@dataclass(slots=True)
class Draft:
    """A proposal on its way; each stage fills in what it knows."""

    request: Request
    subject: Subject = field(init=False)
    body: bytes = field(init=False)
    proposal: Proposal = field(init=False)
    intake: dict[str, bytes] = field(init=False)  # Keys by scope: the content, and the event where one is named.
    idempotency_key: str | None = field(init=False, default=None)  # None: the caller sent none.
    candidate: Candidate = field(init=False)
    picture: Picture = field(init=False)
    decision: Decision = field(init=False)
    state: str = field(init=False)
    answer: dict[str, Any] = field(init=False)

    @property
    def is_private(self) -> bool:
        return self.proposal.private


async def authenticate(writing: Writing, draft: Draft) -> None:
    """Know the caller, from the credential alone."""
    draft.subject = await writing.authenticator.subject(draft.request)


async def bound(_: Writing, draft: Draft) -> None:
    """Take no more than is allowed."""
    draft.body = await bodies.read(draft.request)
    keys = draft.request.headers.getlist(IDEMPOTENCY_HEADER)
    if len(keys) > 1 or any(not 0 < len(key) <= IDEMPOTENCY_KEY_LENGTH_MAX or not is_clean(key) for key in keys):
        raise ProblemError(Kind.BAD_REQUEST, "Idempotency-Key must be one name of at most 128 characters")
    draft.idempotency_key = keys[0] if keys else None


async def sanitise(_: Writing, draft: Draft) -> None:
    """Strict JSON, Unicode NFC, no NUL, no half characters."""
    draft.proposal = bodies.parse(draft.body, Proposal)


async def dedupe(writing: Writing, draft: Draft) -> None:
    """Name the proposal by what it says and by the event it comes from; the record compares."""
    proposal, place = draft.proposal, (draft.subject.workspace, draft.proposal.domain)
    draft.intake = {
        "content": keyed(writing.hash_key, "content", *place, proposal.memory_type, proposal.topic, proposal.content)
    }
    if proposal.source_event_id is not None:
        draft.intake["event"] = keyed(writing.hash_key, "event", *place, proposal.source_event_id)


async def authorise(picture: Picture, draft: Draft) -> None:
    """Ask for the right to write in the domain, before any rule is asked."""
    access = picture.rights.access(draft.proposal.domain)
    if access < Access.READ:
        raise hidden()
    if access < Access.WRITE:
        raise ProblemError(Kind.FORBIDDEN, "this caller may read this domain, not write in it")
    if draft.is_private and picture.caller.principal is None:
        fault = Fault("body.private", "NoPrincipal", "a private memory needs the person it belongs to")
        raise ProblemError(Kind.INVALID, faults=[fault])


async def judge(picture: Picture, draft: Draft) -> None:
    """Let the rules in force decide."""
    proposal = draft.proposal
    confidence = seed(proposal.source) if proposal.confidence is None else rounded(proposal.confidence)
    draft.candidate = Candidate(
        domain=proposal.domain,
        topic=proposal.topic,
        memory_type=proposal.memory_type,
        category=proposal.category,
        content=proposal.content,
        source=proposal.source,
        source_uri=proposal.source_uri or "",
        confidence=confidence,
        is_sensitive=proposal.is_sensitive,
        tags=proposal.tags,
        owner=picture.caller.principal if proposal.private else None,
        about=proposal.about,
        observed_at=proposal.observed_at or picture.now,
    )
    draft.decision = decide(picture.in_force.ruleset, draft.candidate, picture.caller, picture.now)


BEFORE: tuple[Callable[[Writing, Draft], Awaitable[None]], ...] = (authenticate, bound, sanitise, dedupe)
WITHIN: tuple[Callable[[Picture, Draft], Awaitable[None]], ...] = (authorise, judge)


async def propose(writing: Writing, request: Request) -> dict[str, Any]:
    """Take a proposal through all stages and record the outcome in one transaction.

    Returns:
        status (confirmed, held or refused), decision, and id where something was taken.

    Raises:
        ProblemError: it was not decided.
    """
    draft = Draft(request)
    for stage in BEFORE:
        await stage(writing, draft)
    is_fresh = False
    for _ in range(RECORD_TRIES_MAX):
        try:
            await _decide(writing, draft, is_fresh=is_fresh)
        except ProblemError:
            if is_fresh:
                raise
        else:
            await record(writing, draft)
            if draft.state != MOVED:
                return _answer(draft)
        # Nobody is turned away, and nothing decided, by rules that are no longer those in force.
        is_fresh = True
    raise ProblemError(Kind.UNAVAILABLE, "the rules of this workspace change faster than a write can be decided")


async def _decide(writing: Writing, draft: Draft, *, is_fresh: bool) -> None:
    draft.picture = await foresee(writing.database, draft.subject, is_fresh=is_fresh)
    for step in WITHIN:
        await step(draft.picture, draft)


async def record(writing: Writing, draft: Draft) -> None:
    """Write everything in one statement, unless the ruleset moved or the proposal is there already."""
    whole = json.dumps(_recorded(writing, draft.picture, draft))
    row = await at_once(writing.database, draft.picture, draft.proposal.domain, RECORD, whole)
    draft.state, draft.answer = (row.state, row.answer) if row is not None else (MOVED, {})


def _answer(draft: Draft) -> dict[str, Any]:
    match draft.state:
        case "busy":
            raise ProblemError(Kind.IN_PROGRESS)
        case "mismatch":
            raise ProblemError(Kind.KEY_REUSED)
        case "recorded":
            metrics.DECISIONS.labels(draft.decision.action.value).inc()
        case _:
            metrics.REPEATS.inc()
    return draft.answer


def _recorded(writing: Writing, picture: Picture, draft: Draft) -> dict[str, Any]:
    decision_id, domain = uuid7(), domain_id(picture.workspace_id, draft.proposal.domain)
    action = draft.decision.action
    row = _row(picture, draft, decision_id, domain) if action is not Action.REJECT else None
    return {
        "revision": picture.in_force.revision,
        "decision": _decision(picture, draft, decision_id, domain),
        "row": row,
        "held": action in (Action.REQUIRE_CONFIRMATION, Action.QUARANTINE),
        "domain": draft.proposal.domain,
        "owner_key": draft.candidate.owner or "",
        "event_key": draft.intake["event"].hex() if "event" in draft.intake else None,
        "entry": _entry(picture, draft, decision_id, row),
        "refusal": {
            "status": "refused",
            "decision": str(decision_id),
            "reason": draft.decision.reason,
            "rules": list(draft.decision.behind),
        },
        "idempotency": _idempotency(writing, picture, draft),
    }


def _decision(picture: Picture, draft: Draft, decision_id: UUID, domain: UUID) -> dict[str, Any]:
    return {
        "workspace_id": str(picture.workspace_id),
        "id": str(decision_id),
        "domain_id": str(domain),
        "owner": draft.candidate.owner,
        "actor": picture.caller.actor,
        "principal": picture.caller.principal,
        "action": draft.decision.action,
        "rules": [
            {"rule": rule.address, "action": rule.action, "counted": rule.counted, "failed": rule.failed}
            for rule in draft.decision.rules
        ],
        "reason": draft.decision.reason,
        "revision": picture.in_force.revision,
        "content_key": "\\x" + draft.intake["content"].hex(),
        "at": picture.now.isoformat(),
    }


def _row(picture: Picture, draft: Draft, decision_id: UUID, domain: UUID) -> dict[str, Any]:
    candidate = draft.candidate
    state = "quarantined" if draft.decision.action is Action.QUARANTINE else "pending"
    return {
        "workspace_id": str(picture.workspace_id),
        "id": str(uuid7()),
        "domain_id": str(domain),
        "owner": candidate.owner,
        "about": candidate.about,
        "topic": candidate.topic,
        "memory_type": candidate.memory_type,
        "category": candidate.category,
        "content": candidate.content,
        "source": candidate.source,
        "source_uri": candidate.source_uri or None,
        "confidence": str(candidate.confidence),
        "is_sensitive": candidate.is_sensitive,
        "tags": list(candidate.tags),
        "observed_at": (candidate.observed_at or picture.now).isoformat(),
        "proposed_by": picture.caller.actor,
        "proposed_for": picture.caller.principal,
        "proposed_by_person": picture.caller.is_person,
        "proposed_at": picture.now.isoformat(),
        "decision_id": str(decision_id),
        "version": 1,
        "in_force_from": picture.now.isoformat(),
        "state": state,
    }


def _entry(picture: Picture, draft: Draft, decision_id: UUID, row: dict[str, Any] | None) -> dict[str, Any]:
    detail: dict[str, Any] = {"action": draft.decision.action, "content": draft.intake["content"].hex()}
    if draft.is_private:
        detail["private"] = True
    if draft.subject.is_unreviewed:
        detail["token_reviewed"] = False
    return {
        "action": "proposal.decided",
        "actor": picture.caller.actor,
        "principal": picture.caller.principal,
        "object": row["id"] if row is not None else None,
        "decision": str(decision_id),
        "revision": picture.in_force.revision,
        "detail": detail,
    }


def _idempotency(writing: Writing, picture: Picture, draft: Draft) -> dict[str, Any] | None:
    if draft.idempotency_key is None:
        return None
    caller = picture.caller
    parts = (str(picture.workspace_id), caller.actor, caller.principal or "", draft.idempotency_key)
    key = keyed(writing.hash_key, "idempotency", *parts)
    return {
        "key": key.hex(),
        "request": keyed(writing.hash_key, "request", draft.body).hex(),
        "lock": int.from_bytes(key[:8], signed=True),
        "expires_at": (picture.now + IDEMPOTENCY_LIFE).isoformat(),
    }
