"""The write path: what happens to a proposal, in this order. A new stage is one more name in one of two lists."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from starlette.requests import Request

from memwarden_policy import values
from memwarden_policy.confidence import rounded
from memwarden_policy.cutting import NO_CUTS, cuts, refusals
from memwarden_policy.decide import decide, kept
from memwarden_policy.model import Access, Candidate, Known
from memwarden_policy.provenance import seed
from memwarden_policy.screened import at_least, quarantined, withheld
from memwarden_service import arrivals, asking, bodies, care, expiry, handling, metrics, outcomes, recording, rows
from memwarden_service.arrivals import Remembered
from memwarden_service.authenticate import Authenticator
from memwarden_service.database import Database, acts, at_once, foresee
from memwarden_service.digests import keyed
from memwarden_service.drafts import Counts, Draft
from memwarden_service.picture import Picture
from memwarden_service.problems import Fault, Kind, ProblemError, hidden
from memwarden_service.shapes import Proposal
from memwarden_service.text import is_clean

RECORD_TRIES_MAX = 5
MOVED = "moved"  # The ruleset is another than the one decided by.
KNOWN = "known"  # What was known when it was decided is not what is there.
EXPIRED = "expired"  # The same was held before, and nobody answered in time.
AGAIN = (MOVED, KNOWN, EXPIRED)
IDEMPOTENCY_HEADER = "idempotency-key"
IDEMPOTENCY_KEY_LENGTH_MAX = 128
RECORD = acts("memwarden.record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What the write path needs of the service."""

    authenticator: Authenticator
    database: Database
    hash_key: bytes = field(repr=False)
    remembered: Remembered = field(default_factory=Remembered)


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


async def redact(_: Writing, draft: Draft) -> None:
    """Cut secrets out: from here on nobody sees them."""
    draft.proposal, draft.redactions = care.redact(draft.proposal)


async def screen(writing: Writing, draft: Draft) -> None:
    """Look for orders to agents, hidden text and false claims, and at how much arrives."""
    draft.source_key = arrivals.source_key(writing.hash_key, draft)
    if draft.source_key is not None:
        draft.likeness = arrivals.likeness(writing.hash_key, draft)
        draft.counts = writing.remembered.of(draft.source_key, draft.likeness)
    draft.screened = care.screened(draft.proposal, draft.principal, *draft.counts)


async def dedupe(writing: Writing, draft: Draft) -> None:
    """Name the event it comes from; the record compares, and compares what it says."""
    event = draft.proposal.source_event_id
    if event is not None:
        place = (draft.subject.workspace, draft.proposal.domain)
        draft.event_key = keyed(writing.hash_key, "event", *place, event)


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
    moments = {"valid_until": draft.proposal.valid_until, "delete_at": draft.proposal.delete_at}
    past = [name for name, moment in moments.items() if moment is not None and moment <= picture.now]
    if past:
        raise ProblemError(Kind.INVALID, faults=[Fault(f"body.{name}", "Past", "this moment is past") for name in past])


async def redact_as_told(picture: Picture, draft: Draft) -> None:
    """Cut what policies let be cut beside secrets, and what the owner of a private memory wants cut."""
    ruleset, wanted = picture.in_force.ruleset, NO_CUTS
    if not ruleset.redacting.is_empty:
        wanted = cuts(ruleset, _candidate(picture, draft.proposal), picture.rights.roles)
    draft.cuts = replace(wanted, contact=wanted.contact or draft.known.redacts)
    draft.told, draft.told_redactions = care.redact_as_told(draft.proposal, draft.cuts)


async def judge(picture: Picture, draft: Draft) -> None:
    """Let the rules in force decide, and the system of record where a rule needs its word."""
    candidate = _candidate(picture, draft.told)
    if draft.asked is None or draft.asked[0] != picture.in_force.revision:
        draft.asked = (picture.in_force.revision, await asking.said(picture, candidate))
    record, note = draft.asked[1]
    draft.known = replace(draft.known, record=record, record_note=note)
    decision = decide(picture.in_force.ruleset, candidate, picture.caller, picture.now, draft.known)
    quarantine = quarantined(draft.screened, draft.proposal.source, picture.rights.may_claim)
    refused = (withheld(draft.all_redactions), *refusals(draft.cuts, draft.told_redactions))
    for outcome in filter(None, (*refused, quarantine)):
        decision = at_least(decision, outcome)
    draft.decision = outcomes.without_content(decision)
    draft.candidate = kept(candidate, decision)


def _candidate(picture: Picture, proposal: Proposal) -> Candidate:
    candidate = Candidate(
        domain=proposal.domain,
        topic=proposal.topic,
        memory_type=proposal.memory_type,
        category=proposal.category,
        content=proposal.content,
        source=proposal.source,
        source_uri=proposal.source_uri or "",
        confidence=Decimal(0) if proposal.confidence is None else rounded(proposal.confidence),
        is_sensitive=proposal.is_sensitive,
        tags=proposal.tags,
        owner=picture.caller.principal if proposal.private else None,
        about=proposal.about,
        observed_at=proposal.observed_at or picture.now,
        subject=proposal.subject,
        value=canonical(proposal.value, "body.value"),
        reason=proposal.reason,
        session=proposal.session or "",
        valid_until=proposal.valid_until,
        delete_at=proposal.delete_at,
        envelope=handling.wanted(proposal),
    )
    if proposal.confidence is not None:
        return candidate
    return replace(candidate, confidence=seed(picture.in_force.ruleset, candidate, picture.caller, picture.now))


def canonical(value: Any, path: str) -> str:
    """Return a structured value as the one text of it; raises ProblemError for one that is too large or too deep."""
    text = values.canonical(_plain(value))
    if isinstance(text, values.Refused):
        raise ProblemError(Kind.INVALID, faults=[Fault(path, "Value", text.message)])
    return text


def _plain(value: Any) -> Any:
    """Return JSON with binary numbers: a structured value is no amount of confidence, and databases compare it so."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


BEFORE: tuple[Callable[[Writing, Draft], Awaitable[None]], ...] = (
    authenticate,
    bound,
    sanitise,
    redact,
    screen,
    dedupe,
)
WITHIN: tuple[Callable[[Picture, Draft], Awaitable[None]], ...] = (authorise, redact_as_told, judge)


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
            if draft.state not in AGAIN:
                return _answer(draft)
            await _learn(writing, draft)
        # Nobody is turned away, and nothing decided, by rules that are no longer those in force.
        is_fresh = True
    raise ProblemError(Kind.UNAVAILABLE, "the rules of this workspace change faster than a write can be decided")


async def _decide(writing: Writing, draft: Draft, *, is_fresh: bool) -> None:
    draft.picture = await foresee(writing.database, draft.subject, is_fresh=is_fresh)
    for step in WITHIN:
        await step(draft.picture, draft)


async def record(writing: Writing, draft: Draft) -> None:
    """Write everything in one statement, unless it was decided by what is no longer so, or is there already."""
    place = (draft.subject.workspace, draft.candidate)
    draft.content_key = rows.content_key(writing.hash_key, *place)
    draft.claim_key = rows.claim_key(writing.hash_key, *place)
    whole = json.dumps(recording.whole(writing.hash_key, draft))
    row = await at_once(writing.database, draft.picture, draft.proposal.domain, RECORD, whole)
    draft.state, draft.answer = (row.state, row.answer) if row is not None else (MOVED, {})


async def _learn(writing: Writing, draft: Draft) -> None:
    """Take up what the record found, for the next decision."""
    match draft.state:
        case "known":
            held: Mapping[str, Any] | None = draft.answer["supersedes"]
            memory = rows.memory(held, draft.proposal.domain) if held else None
            _count(writing, draft)
            draft.known = Known(
                supersedes=memory, was_rejected=draft.answer["was_rejected"], redacts=draft.answer["redacts"]
            )
        case "expired":
            due = expiry.Due(draft.picture.workspace_id, UUID(draft.answer["id"]), draft.candidate.owner)
            await expiry.expire(writing.database, due)


def _count(writing: Writing, draft: Draft) -> None:
    if draft.source_key is not None and draft.answer["counts"] is not None:
        draft.counts = Counts(**draft.answer["counts"])
        writing.remembered.saw(draft.source_key, draft.likeness, draft.counts)
        draft.screened = care.screened(draft.proposal, draft.principal, *draft.counts)


def _answer(draft: Draft) -> dict[str, Any]:
    match draft.state:
        case "busy":
            raise ProblemError(Kind.IN_PROGRESS)
        case "mismatch":
            raise ProblemError(Kind.KEY_REUSED)
        case "recorded":
            metrics.DECISIONS.labels(draft.decision.action.value).inc()
            metrics.cared(draft.all_redactions, draft.screened)
        case _:
            metrics.REPEATS.inc()
    # The same body has the same cuts: they need not be stored with the answer.
    return {**draft.answer, "redactions": [{"kind": each.kind, "count": each.count} for each in draft.all_redactions]}
