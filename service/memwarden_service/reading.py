"""Reading memories and candidates: what row-level security and the rules on reading let through, a page at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause, text

from memwarden_policy import recall, retention
from memwarden_policy.model import Memory, Recall, Shown
from memwarden_policy.ruleset import Ruleset
from memwarden_service import rows, sealed
from memwarden_service.database import Acting
from memwarden_service.journal import append
from memwarden_service.problems import hidden
from memwarden_service.shapes import MemoriesFilter, MemoryFilter

LOOKED_AT_MAX = 5_000  # For one page, where rules hide much: then the page ends early, and the next goes on.
REFILL_ROWS = 500
SHARED_COLUMNS = """
  t.id, t.domain_id, d.name as domain, t.topic, t.memory_type, t.category, t.content, t.source, t.source_uri,
  t.confidence, t.is_sensitive, t.tags, t.owner, t.owner is not null as private, t.about, t.observed_at, t.proposed_by,
  t.proposed_for, t.proposed_by_person, t.proposed_at, t.decision_id as decision, t.version, t.subject, t.value,
  t.reason, t.session, t.valid_until, t.delete_at, t.security_mode, t.encryption_state, t.retrieval_visibility,
  t.server_embeddings_enabled, t.server_content_search_enabled, t.vault_semantic_index_opt_in, t.vault_vector,
  t.vault_embedder
"""
JOIN = """
  join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id where t.workspace_id = :workspace
"""
STANDING = """
  t.confirmed_by, t.in_force_from, t.status, t.last_confirmed_at, t.since, t.changed_by, t.change_reason,
  t.falls, t.held_by, t.held_at, t.held_reason, t.ends_at, t.ends_by, t.retention
"""
IN_FORCE, IS_STANDING, IS_LOCAL = (
    f"select {SHARED_COLUMNS}, {STANDING} from memwarden.memory t {JOIN} and memwarden.{predicate}(t)"  # noqa: S608 - constants
    for predicate in ("is_in_force", "is_standing", "is_local")
)
# Every version, the one that is or was last in force among them: the past is served as what it is. It ends with the
# memory, or by itself where that is no longer in force.
HISTORY = f"""
  select v.* from (
    select {SHARED_COLUMNS}, {STANDING}, case when memwarden.is_in_force(t) then null else 'expired' end as ended_as,
      case when memwarden.is_in_force(t) then null else t.valid_until end as ended_at, null as ended_by,
      null as ended_reason, cast(null as uuid) as successor from memwarden.memory t {JOIN} and t.id = :id
    union all select {SHARED_COLUMNS}, {STANDING}, t.ended_as, t.ended_at, t.ended_by, t.ended_reason, t.successor
      from memwarden.memory_version t {JOIN} and t.id = :id
  ) v left join memwarden.memory l on l.workspace_id = :workspace and l.id = :id
  where v.version < :before and memwarden.is_kept(case when l.id is null then v.ends_at else l.ends_at end,
    case when l.id is null then v.held_by else l.held_by end)
  order by v.version desc limit :limit
"""  # noqa: S608 - constants
WAITING = f"""
  select {SHARED_COLUMNS}, t.state, t.confirmation, t.expires_at, t.change, t.target, t.target_version,
    t.proposed_by_maker
  from memwarden.candidate t {JOIN} and t.expires_at > now()
"""  # noqa: S608 - constants
ONE = " and t.id = :id"
KIND = """
  and (cast(:domain as text) is null or d.name = :domain)
  and (cast(:memory_type as text) is null or t.memory_type = :memory_type)
  and (cast(:category as text) is null or t.category = :category)
"""
FROM_WHOM = """
  and (cast(:source as text) is null or t.source = :source)
  and (cast(:state as text) is null or t.state = :state)
  and (cast(:proposed_by as text) is null or t.proposed_by = :proposed_by)
  and (cast(:proposed_after as timestamptz) is null or t.proposed_at >= :proposed_after)
  and (cast(:proposed_before as timestamptz) is null or t.proposed_at < :proposed_before)
"""
PAGE = """
  and (cast(:before as uuid) is null or t.id < cast(:before as uuid)) order by t.id desc limit :limit
"""
# By its id a memory is given to whoever may read it; every other reader is given what is standing.
MEMORY, MEMORIES = text(IN_FORCE + ONE), text(IS_STANDING + KIND + PAGE)
LOCAL_MEMORIES = text(IS_LOCAL + KIND + PAGE)
EVERY_MEMORY = text(IS_STANDING)
CANDIDATE, CANDIDATES = text(WAITING + ONE), text(WAITING + KIND + FROM_WHOM + PAGE)
VERSIONS = text(HISTORY)
STORED = text(f"select {SHARED_COLUMNS}, {STANDING} from memwarden.memory t {JOIN} and t.id = :id")  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class Seen:
    """A memory as its reader may see it."""

    row: Row[Any]
    shown: Shown


async def one(acting: Acting, query: TextClause, wanted: UUID) -> Row[Any]:
    """Return a row; raises ProblemError where there is none that this caller may see."""
    found = (await acting.connection.execute(query, {"workspace": acting.workspace_id, "id": wanted})).one_or_none()
    if found is None:
        raise hidden()
    return found


async def memory(acting: Acting, wanted: UUID) -> Seen:
    """Return a memory in force; raises ProblemError where there is none, or a rule hides it from this caller."""
    row = await one(acting, MEMORY, wanted)
    found = next(seen(acting, [row]), None)
    if found is None:
        raise hidden()
    return found


async def many(
    acting: Acting, query: TextClause, wanted: MemoryFilter, before: str | None, limit: int | None = None
) -> list[Row[Any]]:
    """Return a page and one row more, newest first; `limit` rows where it is given."""
    values = {
        **wanted.model_dump(exclude={"limit", "cursor", "local"}),
        "workspace": acting.workspace_id,
        "before": before,
        "limit": limit or wanted.limit + 1,
    }
    return list(await acting.connection.execute(query, values))


async def memories(acting: Acting, wanted: MemoriesFilter, before: str | None) -> tuple[list[Seen], str | None]:
    """Return a page of memories and the id after which the next begins (None: it is the last).

    What a rule hides is not there: other memories fill the page, unless far too many are hidden.
    """
    found: list[Seen] = []
    query = LOCAL_MEMORIES if wanted.local else MEMORIES
    looked_at, limit = 0, wanted.limit + 1
    while True:
        rows_ = await many(acting, query, wanted, before, limit)
        found += seen(acting, rows_)
        looked_at += len(rows_)
        if len(found) > wanted.limit:
            return found[: wanted.limit], str(found[wanted.limit - 1].row.id)
        if len(rows_) < limit:
            return found, None
        before, limit = str(rows_[-1].id), REFILL_ROWS
        if looked_at >= LOOKED_AT_MAX:
            return found, before


def seen(acting: Acting, rows_: Iterable[Row[Any]], *, ends: bool = True) -> Iterator[Seen]:
    """Yield the memories that have not ended, and that no rule hides from this caller. `ends` false: none has ended."""
    ruleset = acting.in_force.ruleset
    held = [(row, rows.memory(row, row.domain)) for row in rows_]
    kept = [(row, memory) for row, memory in held if not (ends and _has_ended(ruleset, row, memory, acting.now))]
    judged = recall.judge_all(ruleset, (memory for _, memory in kept), acting.caller, acting.now)
    for (row, _), shown_ in zip(kept, judged, strict=True):
        if shown_.action is not Recall.HIDE:
            yield Seen(row, shown_)


def _has_ended(ruleset: Ruleset, row: Row[Any], memory: Memory, now: datetime) -> bool:
    """Say whether a retention has ended what was not reckoned by these rules yet; the database looks at the rest."""
    return row.retention != ruleset.retention_digest and retention.is_over(ruleset, memory, now)


async def history(acting: Acting, wanted: UUID, before: int, limit: int) -> tuple[list[Seen], int | None]:
    """Return a page of versions, newest first, and the version before which the next page begins.

    Returns:
        the page, and that version; None: it is the last page.

    Raises:
        ProblemError: there is no version that this caller may see.
    """
    values = {"workspace": acting.workspace_id, "id": wanted, "before": before, "limit": limit + 1}
    present = (await acting.connection.execute(STORED, values)).one_or_none()
    if present is not None:
        memory_ = rows.memory(present, present.domain)
        if _has_ended(acting.in_force.ruleset, present, memory_, acting.now):
            raise hidden()
    found = list(await acting.connection.execute(VERSIONS, values))
    page = list(seen(acting, found[:limit], ends=present is None))
    if not page:
        raise hidden()
    return page, found[limit - 1].version if len(found) > limit else None


async def note_sensitive(acting: Acting, rows_: list[Row[Any]]) -> None:
    """Write down in the journal who read which sensitive memories; a caller's own private ones are their own affair."""
    read = [str(row.id) for row in rows_ if row.is_sensitive and not row.private]
    if read:
        await append(acting, "memory.read", None, {"memories": read})


def shown(row: Row[Any]) -> dict[str, Any]:
    """Return the row as the API shows it."""
    return {**sealed.opened(row._asdict()), "confidence": float(row.confidence), "envelope": rows.envelope(row)}


def flagged(found: Seen) -> dict[str, Any]:
    """Return a memory as the API shows it, with the rules that put a flag on it."""
    row = found.row
    flag = {"rules": list(found.shown.behind)} if found.shown.action is Recall.FLAG else None
    hold = {"by": row.held_by, "at": row.held_at, "reason": row.held_reason} if row.held_by is not None else None
    return {**shown(row), "flag": flag, "hold": hold}


def version(found: Seen) -> dict[str, Any]:
    """Return a version as the API shows it."""
    return {**flagged(found), "status": found.row.ended_as or found.row.status}


def etag(row: Row[Any]) -> str:
    """Return the entity tag of the row's version."""
    return f'"{row.id}-{row.version}"'
