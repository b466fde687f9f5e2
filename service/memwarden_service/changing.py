"""Changes of a memory in force: a new version takes its place, or it is revoked; the rules say whether, or who must."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from uuid6 import uuid7

from memwarden_policy import cutting, explain, feedback
from memwarden_policy.attributes import Facts
from memwarden_policy.change import judge_delete, judge_update
from memwarden_policy.confirming import missing, objection
from memwarden_policy.decide import judged, kept
from memwarden_policy.model import Access, Action, Candidate, Change, Changed, Decision, Known, Point, SourceKind
from memwarden_policy.provenance import seed
from memwarden_policy.records import Said
from memwarden_policy.screened import at_least, withheld
from memwarden_service import asking, at_rest, care, handling, journal, outcomes, reading, recording, rows, wishes
from memwarden_service.database import Acting, Database, acting_as, reach
from memwarden_service.picture import Subject, domain_id
from memwarden_service.problems import Kind, ProblemError
from memwarden_service.review import person_of
from memwarden_service.spans import RowOf, Table

INSERT_DECISION = text("""
  insert into memwarden.decision select * from jsonb_populate_record(null::memwarden.decision, cast(:row as jsonb))
""")
INSERT_CANDIDATE = text("""
  insert into memwarden.candidate select * from jsonb_populate_record(null::memwarden.candidate, cast(:row as jsonb))
""")
REVISE = text("select memwarden.revise(:id, :version, cast(:new as jsonb))")
RETIRE = text("select memwarden.retire(:id, cast(:end as jsonb))")
REMEMBER = text("""
  insert into memwarden.intake (workspace_id, domain_id, owner_key, scope, key, id, decision_id)
  values (:workspace, :domain, :owner_key, 'content', :key, :id, :decision) on conflict do nothing
""")
WAS_REJECTED = text("""
  select exists (select from memwarden.tombstone t where t.workspace_id = :workspace and t.domain_id = :domain
    and t.owner_key = :owner_key and t.key = :key)
""")
# The columns in which the next version may differ.
CHANGING = (*rows.WORDS, "valid_until", "delete_at", "source", "confidence")
# What a rule on writing says, said of an edit.
AS_CHANGE = {
    Action.ACCEPT: Change.ALLOW,
    Action.REQUIRE_CONFIRMATION: Change.REQUIRE_CONFIRMATION,
    Action.QUARANTINE: Change.REQUIRE_CONFIRMATION,
    Action.REJECT: Change.REJECT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to become of a memory."""

    kind: Point  # Update or delete.
    source: SourceKind = SourceKind.AGENT_EXTRACTED  # On whose word; a person's own credential is their own word.
    reason: str | None = None  # None: none was given.
    content: str | None = None  # None: it stays. So with the next two.
    value: str | None = None
    valid_until: datetime | None = None
    delete_at: datetime | None = None
    vector: tuple[float, ...] = ()  # Of new words, where a vault memory is found by it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Changing:
    """What a change needs of the service, and whose it is."""

    database: Database
    subject: Subject
    hash_key: bytes
    if_match: str | None = None  # None: whatever version it is now.


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a wish."""

    status: str  # changed, revoked, held or refused.
    decision: UUID
    version: int
    confidence: Decimal
    candidate: UUID | None = None  # None: nothing waits.
    reason: str = ""
    rules: tuple[str, ...] = ()

    def as_json(self, memory: UUID) -> dict[str, Any]:
        """Return the answer to a change."""
        return {
            "id": str(memory),
            "status": self.status,
            "decision": str(self.decision),
            "version": self.version,
            "confidence": float(self.confidence),
            "candidate": str(self.candidate) if self.candidate else None,
        }


async def change(changing: Changing, memory_id: UUID, wish: Wish) -> Result:
    """Edit or revoke a memory, or let that wait for a person.

    Raises:
        ProblemError: there is none that this caller may change, or it is another version.
    """
    said = await ask(changing, memory_id, wish)
    async with acting_as(changing.database, changing.subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
        row = await take_up(changing, acting, memory_id)
        return await act(changing, acting, row, wish, said)


async def ask(changing: Changing, memory_id: UUID, wish: Wish) -> Said:
    """Return what the system of record says of an edit; no connection is held meanwhile."""
    if wish.kind is not Point.UPDATE:
        return asking.UNASKED
    async with acting_as(changing.database, changing.subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
        row = (await reading.memory(acting, memory_id)).row
        edited = _edited(acting, row, wish)
    return await asking.said(acting, edited)


async def take_up(changing: Changing, acting: Acting, memory_id: UUID) -> Row[Any]:
    """Return a memory that nobody else changes now; raises ProblemError for one that is not the caller's to change."""
    await journal.hold(acting)
    row = (await reading.memory(acting, memory_id)).row
    if acting.rights.access(row.domain) < Access.WRITE:
        raise ProblemError(Kind.FORBIDDEN, "this caller may read this memory, not change it")
    if changing.if_match is not None and changing.if_match not in ("*", reading.etag(row)):
        raise ProblemError(Kind.STALE_VERSION)
    await reach(acting, row.domain)
    return row


async def act(changing: Changing, acting: Acting, row: Row[Any], wish: Wish, said: Said) -> Result:
    """Decide and do it in the open transaction. What is refused is written down: the caller raises after that."""
    if wish.kind is Point.DELETE and row.held_by is not None:
        raise ProblemError(Kind.ON_HOLD)
    stated = rows.statement(row, row.domain)
    if wish.kind is Point.UPDATE:
        stated = await _told(acting, _edited(acting, row, wish))
    answer = await _decided(changing, acting, row, (wish, stated, said))
    if isinstance(answer, tuple):
        answer, stated = answer
    waits = answer.action is Change.REQUIRE_CONFIRMATION and not _settles(acting, row, answer)
    done = "revoked" if wish.kind is Point.DELETE else "changed"
    status = "refused" if answer.action is Change.REJECT else "held" if waits else done
    decision = await _write_down(changing, acting, (answer, stated, wish.kind))
    candidate = None
    if status == "held":
        candidate = await _wait(acting, row, (answer, stated, wish), decision)
    elif status == "changed":
        await revise(acting, row, _next(acting, stated, wish, decision))
        await _remember(changing, acting, row, stated, decision)
    elif status == "revoked":
        await revoke(acting, row, wish.reason)
    note = {"reason": wish.reason} if wish.reason else {}
    await _journal(acting, row, f"memory.{wish.kind}.{status}", (decision, note))
    return Result(
        status=status,
        decision=decision,
        version=row.version + (status == "changed"),
        confidence=stated.confidence if status == "changed" else row.confidence,
        candidate=candidate,
        reason=explain.sentence(answer),
        rules=answer.behind,
    )


async def revise(acting: Acting, row: Row[Any], new: dict[str, Any]) -> None:
    """Put the next version in place."""
    values = {"id": row.id, "version": row.version, "new": json.dumps(new)}
    if not (await acting.connection.execute(REVISE, values)).scalar_one():
        raise ProblemError(Kind.STALE_VERSION)


async def revoke(acting: Acting, row: Row[Any], reason: str | None) -> None:
    """Move a memory among the past versions."""
    end = {"as": "revoked", "by": acting.caller.actor, "reason": reason, "successor": None}
    if not (await acting.connection.execute(RETIRE, {"id": row.id, "end": json.dumps(end)})).scalar_one():
        raise ProblemError(Kind.STALE_VERSION)


def source_of(acting: Acting, wish: Wish) -> SourceKind:
    """Return on whose word a change is."""
    return SourceKind.USER_STATED if acting.caller.is_person else wish.source


def _edited(acting: Acting, row: Row[Any], wish: Wish) -> Candidate:
    old = rows.memory(row, row.domain)
    stated = replace(
        old.statement,
        content=old.statement.content if wish.content is None else wish.content,
        value=old.statement.value if wish.value is None else wish.value,
        valid_until=old.statement.valid_until if wish.valid_until is None else wish.valid_until,
        delete_at=old.statement.delete_at if wish.delete_at is None else wish.delete_at,
        source=source_of(acting, wish),
    )
    stated = handling.reworded(old.statement, stated, wish.vector)
    by = (acting.caller, acting.now)
    if acting.caller.is_person:
        return replace(stated, confidence=feedback.settings(acting.in_force.ruleset, old, *by).edit)
    return replace(stated, confidence=seed(acting.in_force.ruleset, stated, *by))


async def _told(acting: Acting, stated: Candidate) -> Candidate:
    """Return a statement without what policies, or the owner of a private memory, let be cut beside secrets.

    Raises:
        ProblemError: a policy refuses what holds contact data.
    """
    wanted = cutting.cuts(acting.in_force.ruleset, stated, acting.rights.roles)
    if stated.owner is not None and not wanted.contact:
        wanted = replace(wanted, contact=(await wishes.found(acting, stated.owner)).auto_redact_pii)
    if not wanted.is_anything or stated.envelope.is_vault:
        return stated
    done = cutting.cut({"content": stated.content, "value": rows.values_of(stated)}, wanted)
    refused = next(iter(cutting.refusals(wanted, done.redactions)), None) or withheld(done.redactions)
    if refused is not None:
        raise ProblemError(Kind.POLICY_REFUSED, refused.note, members={"rules": [refused.address]})
    return rows.reworded(stated, done.value) if done.applied else stated


async def _decided(
    changing: Changing, acting: Acting, row: Row[Any], about: tuple[Wish, Candidate, Said]
) -> Changed | tuple[Changed, Candidate]:
    wish, stated, said = about
    ruleset, memory = acting.in_force.ruleset, rows.memory(row, row.domain)
    by = (memory, acting.caller, acting.now, source_of(acting, wish))
    if wish.kind is Point.DELETE:
        return judge_delete(ruleset, *by)
    claim = rows.claim_key(changing.hash_key, acting.subject.workspace, stated)
    known = Known(record=said[0], record_note=said[1], was_rejected=await _was_rejected(acting, stated, claim))
    # A person's own word needs no leave to be claimed; all other rules on writing hold for it.
    facts = Facts(candidate=stated, caller=acting.caller, roles=acting.rights.roles, now=acting.now)
    decision = judged(ruleset, facts, known)
    if not acting.caller.is_person:
        worry = care.worry(stated, wish.reason, acting.caller.principal, acting.rights.may_claim)
        decision = at_least(decision, worry) if worry is not None else decision
    decision = outcomes.without_content(decision)
    return _both(judge_update(ruleset, *by), decision), kept(stated, decision)


def _both(changed: Changed, decision: Decision) -> Changed:
    """Return the stricter of what the rules on updates and those on writing say."""
    translated = tuple(replace(each, action=AS_CHANGE[Action(each.action)]) for each in decision.rules)
    action = max(changed.action, AS_CHANGE[decision.action])
    reason = changed.reason if changed.action is action else decision.reason
    needed = [each for each in (changed.confirmation, decision.confirmation) if each is not None]
    confirmation = None
    if action is Change.REQUIRE_CONFIRMATION and needed:
        confirmation = needed[0] if len(needed) == 1 else rows.stricter(*needed)
    return Changed(action=action, rules=(*changed.rules, *translated), reason=reason, confirmation=confirmation)


def _settles(acting: Acting, row: Row[Any], answer: Changed) -> bool:
    """Say whether the caller is a person whose yes alone would confirm it: then their change is that yes."""
    if not acting.caller.is_person:
        return False
    needed = answer.confirmation or rows.ANYBODY
    held, person = rows.held(row, row.domain, acting.in_force.ruleset), person_of(acting, row.domain)
    return objection(needed, held, person) is None and not missing(needed, held, [person])


async def _was_rejected(acting: Acting, stated: Candidate, claim: bytes) -> bool:
    values = {**_place(acting, stated), "key": claim}
    return bool((await acting.connection.execute(WAS_REJECTED, values)).scalar_one())


async def _write_down(changing: Changing, acting: Acting, about: tuple[Changed, Candidate, Point]) -> UUID:
    answer, stated, point = about
    key = rows.content_key(changing.hash_key, acting.subject.workspace, stated)
    outcome = outcomes.Outcome(
        id=uuid7(), domain=stated.domain, owner=stated.owner, answer=answer, content_key=key, point=point
    )
    row = outcomes.row(acting, outcome)
    await acting.connection.execute(INSERT_DECISION, {"row": json.dumps(row)})
    return outcome.id


async def _wait(acting: Acting, row: Row[Any], about: tuple[Changed, Candidate, Wish], decision: UUID) -> UUID:
    answer, stated, wish = about
    waits = {
        **recording.candidate_row(acting, stated, answer, decision),
        "reason": wish.reason or "",
        "change": "delete" if wish.kind is Point.DELETE else "edit",
        "target": str(row.id),
        "target_version": row.version,
    }
    await acting.connection.execute(INSERT_CANDIDATE, {"row": json.dumps(waits)})
    return UUID(waits["id"])


def _next(acting: Acting, stated: Candidate, wish: Wish, decision: UUID) -> dict[str, Any]:
    columns = at_rest.columns(acting, stated)
    new = {name: columns[name] for name in CHANGING}
    caller = acting.caller
    confirmed = {"confirmed_by": caller.actor, "last_confirmed_at": acting.now.isoformat()} if caller.is_person else {}
    by = {"changed_by": caller.actor, "change_reason": wish.reason}
    return {**new, "decision_id": str(decision), **by, **confirmed}


async def _remember(changing: Changing, acting: Acting, row: Row[Any], stated: Candidate, decision: UUID) -> None:
    key = rows.content_key(changing.hash_key, acting.subject.workspace, stated)
    values = {**_place(acting, stated), "key": key, "id": row.id, "decision": decision}
    await acting.connection.execute(REMEMBER, values)


def _place(acting: Acting, stated: Candidate) -> dict[str, Any]:
    domain = domain_id(acting.workspace_id, stated.domain)
    return {"workspace": acting.workspace_id, "domain": domain, "owner_key": stated.owner or ""}


async def _journal(acting: Acting, row: Row[Any], action: str, about: tuple[UUID, dict[str, Any]]) -> None:
    decision, note = about
    private = {journal.PRIVATE: True} if row.private else {}
    await journal.append(acting, action, str(row.id), {**note, **private}, decision=decision)
