"""Reading memories and candidates: what row-level security lets through, a page at a time."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause, text

from memwarden_service.database import Acting
from memwarden_service.journal import append
from memwarden_service.problems import hidden
from memwarden_service.shapes import MemoryFilter

SHARED_COLUMNS = """
  t.id, d.name as domain, t.topic, t.memory_type, t.category, t.content, t.source, t.source_uri, t.confidence,
  t.is_sensitive, t.tags, t.owner is not null as private, t.about, t.observed_at, t.proposed_by, t.proposed_for,
  t.proposed_at, t.decision_id as decision, t.version
"""
FROM_MEMORY = f"""
  select {SHARED_COLUMNS}, t.confirmed_by, t.in_force_from from memwarden.memory t
  join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id where t.workspace_id = :workspace
"""  # noqa: S608 - two constants
FROM_CANDIDATE = f"""
  select {SHARED_COLUMNS}, t.state, t.proposed_by_person from memwarden.candidate t
  join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id where t.workspace_id = :workspace
"""  # noqa: S608 - two constants
ONE = " and t.id = :id"
MANY = """
  and (cast(:domain as text) is null or d.name = :domain)
  and (cast(:memory_type as text) is null or t.memory_type = :memory_type)
  and (cast(:category as text) is null or t.category = :category)
  and (cast(:before as uuid) is null or t.id < cast(:before as uuid))
  order by t.id desc limit :limit
"""
MEMORY, MEMORIES = text(FROM_MEMORY + ONE), text(FROM_MEMORY + MANY)
CANDIDATE, CANDIDATES = text(FROM_CANDIDATE + ONE), text(FROM_CANDIDATE + MANY)


async def one(acting: Acting, query: TextClause, wanted: UUID) -> Row[Any]:
    """Return a row; raises ProblemError where there is none that this caller may see."""
    found = (await acting.connection.execute(query, {"workspace": acting.workspace_id, "id": wanted})).one_or_none()
    if found is None:
        raise hidden()
    return found


async def many(acting: Acting, query: TextClause, wanted: MemoryFilter, before: str | None) -> list[Row[Any]]:
    """Return a page and one row more, newest first."""
    values = {
        "workspace": acting.workspace_id,
        "domain": wanted.domain,
        "memory_type": wanted.memory_type,
        "category": wanted.category,
        "before": before,
        "limit": wanted.limit + 1,
    }
    return list(await acting.connection.execute(query, values))


async def note_sensitive(acting: Acting, rows: list[Row[Any]]) -> None:
    """Write down in the journal who read which sensitive memories; a caller's own private ones are their own affair."""
    read = [str(row.id) for row in rows if row.is_sensitive and not row.private]
    if read:
        await append(acting, "memory.read", None, {"memories": read})


def shown(row: Row[Any]) -> dict[str, Any]:
    """Return the row as the API shows it."""
    return {**row._asdict(), "confidence": float(row.confidence)}


def etag(row: Row[Any]) -> str:
    """Return the entity tag of the row's version."""
    return f'"{row.id}-{row.version}"'
