"""The journal: what was written, read and decided, chained by hashes."""

import json
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from memwarden_service.database import Acting
from memwarden_service.problems import Kind, ProblemError
from memwarden_service.shapes import Entry, Verification

APPEND = text("select memwarden.journal_append(cast(:entry as jsonb))")
LOCK = text("select memwarden.journal_lock()")
STILL = text("select from memwarden.ruleset r where r.workspace_id = :workspace and r.revision = :revision")
ENTRIES = text("""
  select j.seq, j.entry, j.hash from memwarden.journal j
  where j.workspace_id = :workspace and (cast(:before as bigint) is null or j.seq < cast(:before as bigint))
  order by j.seq desc limit :limit
""")
VERIFY = text("select entries, first_bad_seq, head_matches from memwarden.journal_verification()")
PRIVATE = "private"


def line(acting: Acting, action: str, about: str | None, detail: dict[str, Any], decision: UUID | None = None) -> str:
    """Return an entry as the append function takes it; `about` is the id of what it concerns, None: of nothing."""
    return json.dumps(
        {
            "action": action,
            "actor": acting.caller.actor,
            "principal": acting.caller.principal,
            "object": about,
            "decision": str(decision) if decision else None,
            "revision": acting.in_force.revision,
            "detail": detail,
        }
    )


async def append(
    acting: Acting, action: str, about: str | None, detail: dict[str, Any], decision: UUID | None = None
) -> None:
    """Append an entry in the open transaction: it is there if, and only if, the change is."""
    await acting.connection.execute(APPEND, {"entry": line(acting, action, about, detail, decision)})


async def lock(acting: Acting) -> None:
    """Wait until no other write of this workspace is under way."""
    await acting.connection.execute(LOCK)


async def hold(acting: Acting) -> None:
    """Do the same, and make sure that the rules are still those that were read; raises ProblemError where not."""
    await lock(acting)
    values = {"workspace": acting.workspace_id, "revision": acting.in_force.revision}
    if (await acting.connection.execute(STILL, values)).one_or_none() is None:
        raise ProblemError(Kind.UNAVAILABLE, "the rules of this workspace changed just now")


async def entries(acting: Acting, before: str | None, limit: int) -> list[Row[Any]]:
    """Return a page of raw entries and one more, newest first."""
    values = {"workspace": acting.workspace_id, "before": before, "limit": limit + 1}
    return list(await acting.connection.execute(ENTRIES, values))


def shown(row: Row[Any], principal: str | None) -> Entry:
    """Return an entry as the API shows it. Of another person's private memory it says that something happened."""
    _, _, seq, at, action, actor, for_whom, about, decision, revision, detail = json.loads(row.entry)
    if detail.get(PRIVATE) and for_whom != principal:
        action, actor, for_whom, about, decision, detail = PRIVATE, PRIVATE, None, None, None, {}
    return Entry(
        seq=seq,
        at=at,
        action=action,
        actor=actor,
        principal=for_whom,
        object=about,
        decision=decision,
        revision=revision,
        detail=detail,
        hash=bytes(row.hash).hex(),
    )


async def verification(acting: Acting) -> Verification:
    """Walk the whole chain of the workspace in the database."""
    row = (await acting.connection.execute(VERIFY)).one()
    ok = row.first_bad_seq is None and bool(row.head_matches)
    return Verification(
        ok=ok, entries=row.entries, first_bad_seq=row.first_bad_seq, head_matches=bool(row.head_matches)
    )
