"""A person's feedback on a memory: it is right, it is wrong, it should read otherwise, it should go."""

import json
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text

from memwarden_policy import feedback
from memwarden_policy.feedback import FeedbackKind
from memwarden_policy.model import Point
from memwarden_service import asking, changing, journal, rows
from memwarden_service.changing import Changing, Result, Wish
from memwarden_service.database import Acting, acting_as
from memwarden_service.digests import keyed
from memwarden_service.picture import domain_id
from memwarden_service.problems import Kind, ProblemError
from memwarden_service.review import need_person
from memwarden_service.spans import RowOf, Table

Word = Literal["confirm", "reject", "edit", "delete"]
GIVEN = text("""
  select f.request, f.answer from memwarden.feedback f where f.workspace_id = :workspace and f.memory_id = :memory
    and f.person = :person and f.feedback_id = :feedback
""")
GIVE = text("""
  insert into memwarden.feedback (workspace_id, memory_id, person, feedback_id, domain_id, owner, kind, request, reason,
    actor, answer, at)
  values (:workspace, :memory, :person, :feedback, :domain, :owner, :kind, :request, :reason, :actor,
    cast(:answer as jsonb), now())
""")
BURY = text("""
  insert into memwarden.tombstone values (:workspace, :domain, :owner_key, :key, :memory, :by, now())
  on conflict do nothing
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One piece of feedback."""

    memory: UUID
    feedback_id: str
    kind: Word
    request: bytes  # The hash of the body, to tell a repeated one from another.
    content: str | None = None  # None: the text stays.
    reason: str | None = None  # None: none was given.

    @property
    def wish(self) -> Wish:
        point = Point.UPDATE if self.kind == "edit" else Point.DELETE
        return Wish(kind=point, content=self.content, reason=self.reason)


def request_hash(hash_key: bytes, body: bytes) -> bytes:
    """Return what tells one body from another."""
    return keyed(hash_key, "feedback", body)


async def give(by: Changing, given: Given) -> tuple[dict[str, Any], Result | None]:
    """Take feedback once, whatever number of times it is sent.

    Returns:
        the answer, and what the rules said where they were asked now (None: they were not).

    Raises:
        ProblemError: this is no person, or the memory is not theirs to change, or the id had another feedback.
    """
    need_person(by.subject)
    said = asking.UNASKED
    if given.kind == "edit" and (earlier := await _earlier(by, given)) is None:
        said = await changing.ask(by, given.memory, given.wish)
    elif given.kind == "edit" and earlier is not None:
        return earlier, None
    async with acting_as(by.database, by.subject, row=RowOf(Table.VERSION, given.memory)) as acting:
        await journal.hold(acting)
        repeated = await _repeated(acting, given)
        if repeated is not None:
            return repeated, None
        row = await changing.take_up(by, acting, given.memory)
        result = await _apply(by, acting, (row, given, said))
        answer = result.as_json(given.memory)
        if result.status != "refused":
            await _keep(acting, row, given, answer)
    return answer, result


async def _earlier(by: Changing, given: Given) -> dict[str, Any] | None:
    async with acting_as(by.database, by.subject, row=RowOf(Table.VERSION, given.memory)) as acting:
        return await _repeated(acting, given)


async def _repeated(acting: Acting, given: Given) -> dict[str, Any] | None:
    values = {
        "workspace": acting.workspace_id,
        "memory": given.memory,
        "person": acting.caller.principal,
        "feedback": given.feedback_id,
    }
    found = (await acting.connection.execute(GIVEN, values)).one_or_none()
    if found is None:
        return None
    if bytes(found.request) != given.request:
        raise ProblemError(Kind.KEY_REUSED, "this feedback_id had another feedback")
    answer: dict[str, Any] = found.answer
    return answer


async def _apply(by: Changing, acting: Acting, about: tuple[Any, Given, Any]) -> Result:
    row, given, said = about
    settings = feedback.settings(acting.in_force.ruleset, rows.memory(row, row.domain), acting.caller, acting.now)
    goes = given.kind == "delete" or (given.kind == "reject" and settings.deletes_on_reject)
    if given.kind == "edit" or goes:
        result = await changing.act(by, acting, row, given.wish, said)
        if given.kind == "reject" and result.status == "revoked":
            await _bury(by, acting, row)
        return result
    kind = FeedbackKind.CONFIRM if given.kind == "confirm" else FeedbackKind.REJECT
    confidence = feedback.apply(row.confidence, kind, settings)
    now, actor = acting.now.isoformat(), acting.caller.actor
    new = {"confidence": str(confidence), "changed_by": actor, "change_reason": given.reason}
    if kind is FeedbackKind.CONFIRM:
        new |= {"last_confirmed_at": now, "confirmed_by": actor}
    await changing.revise(acting, row, new)
    private = {journal.PRIVATE: True} if row.private else {}
    reason = {"reason": given.reason} if given.reason else {}
    await journal.append(acting, f"memory.feedback.{given.kind}", str(row.id), {**reason, **private})
    return Result(status="changed", decision=row.decision, version=row.version + 1, confidence=confidence)


async def _bury(by: Changing, acting: Acting, row: Any) -> None:
    stated = rows.statement(row, row.domain)
    values = {
        "workspace": acting.workspace_id,
        "domain": domain_id(acting.workspace_id, row.domain),
        "owner_key": row.owner or "",
        "key": rows.claim_key(by.hash_key, acting.subject.workspace, stated),
        "memory": row.id,
        "by": acting.caller.actor,
    }
    await acting.connection.execute(BURY, values)


async def _keep(acting: Acting, row: Any, given: Given, answer: dict[str, Any]) -> None:
    values = {
        "workspace": acting.workspace_id,
        "memory": given.memory,
        "person": acting.caller.principal,
        "feedback": given.feedback_id,
        "domain": domain_id(acting.workspace_id, row.domain),
        "owner": row.owner,
        "kind": given.kind,
        "request": given.request,
        "reason": given.reason,
        "actor": acting.caller.actor,
        "answer": json.dumps(answer),
    }
    await acting.connection.execute(GIVE, values)
