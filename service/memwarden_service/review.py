"""A person's word on a candidate: confirm, edit and confirm, or reject."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from memwarden_policy.change import judge_update
from memwarden_policy.confirming import Objection, Person, missing, objection
from memwarden_policy.model import Access, Change, SourceKind
from memwarden_service import journal, metrics, reading, rows, terms
from memwarden_service.database import Acting, Database, acting_as, reach
from memwarden_service.picture import Picture, Subject
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.spans import RowOf, Table

CONFIRM = text("select memwarden.confirm(cast(:argument as jsonb))")
DROP = text("select memwarden.drop_candidate(cast(:argument as jsonb))")
APPROVALS = text("""
  select a.person, a.actor, a.roles, a.is_admin from memwarden.approval a
  where a.workspace_id = :workspace and a.candidate_id = :id order by a.at limit :limit
""")
APPROVE = text("""
  insert into memwarden.approval (workspace_id, candidate_id, person, actor, roles, is_admin, at)
  values (:workspace, :id, :person, :actor, cast(:roles as text[]), :is_admin, now())
""")
IN_PLACE = text("""
  select m.* from memwarden.candidate c,
    memwarden.in_place_of(c.domain_id, c.owner, c.memory_type, c.topic, c.subject) m
  where c.workspace_id = :workspace and c.id = :id
""")
APPROVALS_MAX = 64
OBJECTIONS = {
    Objection.OWN_PROPOSAL: (Kind.OWN_PROPOSAL, ""),
    Objection.ALREADY_APPROVED: (Kind.CONFLICT, "this person said yes already; it takes another one"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """What a review needs of the service, and whose it is."""

    database: Database
    subject: Subject
    hash_key: bytes
    if_match: str | None = None  # None: whatever version it is now.


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A review in its transaction: nobody else's is under way."""

    acting: Acting
    row: Row[Any]
    person: Person
    given: tuple[Person, ...]
    claim: str

    @property
    def entry(self) -> dict[str, Any]:
        return {journal.PRIVATE: True} if self.row.private else {}


async def confirm(reviewing: Reviewing, candidate_id: UUID) -> tuple[str, ...]:
    """Say yes to a candidate; returns what is still missing, empty when it has come into force.

    Raises:
        ProblemError: not this person, not this candidate, or it changed since.
    """
    need_person(reviewing.subject)
    row = RowOf(Table.CANDIDATE, candidate_id)
    async with acting_as(reviewing.database, reviewing.subject, row=row, level=Access.ADMIN) as acting:
        word = await take_up(reviewing, acting, candidate_id)
        problem = why_not(word)
        if problem is not None:
            raise problem
        lacking = await approve(word)
    metrics.REVIEWS.labels("approved" if lacking else "confirmed").inc()
    return lacking


async def reject(reviewing: Reviewing, candidate_id: UUID, reason: str | None) -> None:
    """Refuse a candidate: its text is gone, and the same claim does not come back. Who proposed it may take it back.

    Raises:
        ProblemError: not this person, not this candidate, or it changed since.
    """
    need_person(reviewing.subject)
    row = RowOf(Table.CANDIDATE, candidate_id)
    async with acting_as(reviewing.database, reviewing.subject, row=row, level=Access.ADMIN) as acting:
        word = await take_up(reviewing, acting, candidate_id)
        is_own = _is_own(word)
        problem = why_not(word)
        if not is_own and problem is not None and problem.kind not in (Kind.CONFLICT, Kind.OWN_PROPOSAL):
            raise problem
        detail = {**word.entry, **({"reason": reason} if reason else {})}
        whole = {
            "id": str(candidate_id),
            "by": acting.caller.actor,
            # What its own author takes back was not rejected; a deletion claims nothing.
            "claim": None if is_own or word.row.change == "delete" else word.claim,
            "due": False,
            "entry": json.loads(journal.line(acting, "candidate.rejected", str(candidate_id), detail)),
        }
        if not (await acting.connection.execute(DROP, {"argument": json.dumps(whole)})).scalar_one():
            raise hidden()
    metrics.REVIEWS.labels("rejected").inc()


async def approvals(acting: Acting, candidate_id: UUID) -> tuple[Person, ...]:
    """Return who said yes so far."""
    values = {"workspace": acting.workspace_id, "id": candidate_id, "limit": APPROVALS_MAX}
    found = await acting.connection.execute(APPROVALS, values)
    return tuple(
        Person(name=row.person, actor=row.actor, roles=frozenset(row.roles), is_admin=row.is_admin) for row in found
    )


def person_of(picture: Picture, domain: str) -> Person:
    """Return the caller, who is a person, as one whose yes may count in a domain."""
    caller = picture.caller
    is_admin = picture.rights.access(domain) >= Access.ADMIN
    return Person(name=caller.principal or "", actor=caller.actor, roles=picture.rights.roles, is_admin=is_admin)


async def take_up(reviewing: Reviewing, acting: Acting, candidate_id: UUID) -> Word:
    """Return a candidate that nobody else reviews now; raises ProblemError without it, or at another version."""
    # Two reviews at once: the second waits here, and then finds no candidate.
    await journal.hold(acting)
    row = await reading.one(acting, reading.CANDIDATE, candidate_id)
    if reviewing.if_match is not None and reviewing.if_match not in ("*", reading.etag(row)):
        raise ProblemError(Kind.STALE_VERSION)
    stated = rows.statement(row, row.domain)
    return Word(
        acting=acting,
        row=row,
        person=person_of(acting, row.domain),
        given=await approvals(acting, candidate_id),
        claim=rows.claim_key(reviewing.hash_key, acting.subject.workspace, stated).hex(),
    )


def why_not(word: Word) -> ProblemError | None:
    """Say why this person's yes does not count; None: it does."""
    held = rows.held(word.row, word.row.domain, word.acting.in_force.ruleset)
    needed = rows.needed(word.row)
    found = objection(needed, held, word.person, word.given)
    if found is Objection.NOT_AUTHORISED:
        who = " and ".join(each.shown for each in needed.by) or "an Admin of the domain, or whom it concerns"
        return ProblemError(Kind.FORBIDDEN, f"this takes the word of {who}")
    # Whoever made a key could keep a copy of it: what is said with it may be their own word.
    if found is None and word.row.proposed_by_maker == word.person.name:
        return ProblemError(Kind.OWN_PROPOSAL)
    return ProblemError(*OBJECTIONS[found]) if found is not None else None


def _is_own(word: Word) -> bool:
    row, person = word.row, word.person
    return bool(row.proposed_by == person.actor or (row.proposed_by_person and row.proposed_for == person.name))


async def approve(word: Word) -> tuple[str, ...]:
    """Count a yes; returns what is still missing, empty when the candidate has come into force."""
    acting, row = word.acting, word.row
    held = rows.held(row, row.domain, acting.in_force.ruleset)
    lacking = missing(rows.needed(row), held, (*word.given, word.person))
    if lacking:
        values = {
            "workspace": acting.workspace_id,
            "id": row.id,
            "person": word.person.name,
            "actor": word.person.actor,
            "roles": sorted(word.person.roles),
            "is_admin": word.person.is_admin,
        }
        await acting.connection.execute(APPROVE, values)
        await journal.append(acting, "candidate.approved", str(row.id), word.entry)
        return lacking
    await _into_force(word)
    return ()


async def _into_force(word: Word) -> None:
    acting, row = word.acting, word.row
    # Whoever may confirm it may put it in the place of what is there, whatever they may else do in the domain.
    await reach(acting, row.domain)
    await _leave_what_is_protected(word)
    detail = {**word.entry, **({"approved_by": [each.actor for each in word.given]} if word.given else {})}
    whole = {
        "id": str(row.id),
        "by": acting.caller.actor,
        "claim": word.claim,
        "entry": json.loads(journal.line(acting, "candidate.confirmed", str(row.id), detail)),
    }
    state = (await acting.connection.execute(CONFIRM, {"argument": json.dumps(whole)})).scalar_one()
    if state == "moved":
        raise ProblemError(Kind.CONFLICT, "the memory that this would change is another by now")
    if state != "confirmed":
        raise hidden()
    await terms.reckon_changed(acting, row.target or row.id)


async def _leave_what_is_protected(word: Word) -> None:
    """Raise ProblemError where a rule forbids that a person's word takes the place of what is there."""
    acting, row = word.acting, word.row
    if row.change is not None or not row.topic:
        return
    values = {"workspace": acting.workspace_id, "id": row.id}
    found = (await acting.connection.execute(IN_PLACE, values)).one_or_none()
    if found is None:
        return
    old = rows.memory(found, row.domain)
    by = (acting.caller, acting.now, SourceKind.USER_STATED)
    changed = judge_update(acting.in_force.ruleset, old, *by)
    if changed.action is Change.REJECT:
        members = {"rules": list(changed.behind)}
        raise ProblemError(Kind.POLICY_REFUSED, "a rule protects the memory that this would replace", members=members)


def need_person(subject: Subject) -> None:
    """Raise ProblemError for everybody but a person with a credential of their own."""
    if not subject.caller.is_person:
        raise ProblemError(Kind.PERSON_REQUIRED)
