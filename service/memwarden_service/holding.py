"""A legal hold: a person who administers a domain keeps a memory, whatever any retention says, and lets it go again."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from memwarden_policy.model import Access
from memwarden_service import changing, journal, reading, terms
from memwarden_service.changing import Changing
from memwarden_service.database import Acting, acting_as, reach
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.review import need_person
from memwarden_service.spans import RowOf, Table

PAST = text("""
  select d.name as domain, v.owner is not null as private from memwarden.memory_version v
    join memwarden.domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id
    where v.workspace_id = :workspace and v.id = :id and v.held_by is not null limit 1
""")


async def put(by: Changing, memory_id: UUID, reason: str) -> None:
    """Put a memory on hold; the same again changes its reason.

    Raises:
        ProblemError: no person, no Admin of the domain, or no such memory, or it is another version.
    """
    need_person(by.subject)
    async with acting_as(by.database, by.subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
        row = await changing.take_up(by, acting, memory_id)
        _need_admin(acting, row.domain)
        actor = acting.caller.actor
        new = {"held_by": actor, "held_at": acting.now.isoformat(), "held_reason": reason}
        await changing.revise(acting, row, {**new, "changed_by": actor, "change_reason": reason})
        await _journal(acting, row, memory_id, ("memory.hold.put", reason))


async def lift(by: Changing, memory_id: UUID, reason: str | None) -> None:
    """Let a memory go, and its past with it: from now on retention speaks again.

    Raises:
        ProblemError: no person, no Admin of the domain, or no such memory on hold, or it is another version.
    """
    need_person(by.subject)
    async with acting_as(by.database, by.subject, row=RowOf(Table.VERSION, memory_id)) as acting:
        await journal.hold(acting)
        values = {"workspace": acting.workspace_id, "id": memory_id}
        row = (await acting.connection.execute(reading.MEMORY, values)).one_or_none()
        past = (await acting.connection.execute(PAST, values)).one_or_none()
        held = row if row is not None and row.held_by is not None else past
        if held is None:
            raise hidden()
        _need_admin(acting, held.domain)
        if row is not None and row.held_by is not None:
            if by.if_match is not None and by.if_match not in ("*", reading.etag(row)):
                raise ProblemError(Kind.STALE_VERSION)
            new = {"held_by": None, "held_at": None, "held_reason": None}
            await reach(acting, row.domain)
            await changing.revise(acting, row, {**new, "changed_by": acting.caller.actor, "change_reason": reason})
        await acting.connection.execute(terms.LIFT, {"id": memory_id})
        await terms.reckon_changed(acting, memory_id)
        await _journal(acting, held, memory_id, ("memory.hold.lifted", reason))


def _need_admin(acting: Acting, domain: str) -> None:
    if acting.rights.access(domain) < Access.ADMIN:
        raise ProblemError(Kind.FORBIDDEN, "a legal hold takes Admin of the domain")


async def _journal(acting: Acting, row: Any, memory_id: UUID, about: tuple[str, str | None]) -> None:
    action, reason = about
    private = {journal.PRIVATE: True} if row.private else {}
    await journal.append(acting, action, str(memory_id), {**({"reason": reason} if reason else {}), **private})
