"""The API keys of a workspace: made once in full, kept as a hash."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from memwarden_service import keys
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.shapes import MadeKey, NewPersonKey

KEYS_PER_WORKSPACE_MAX = 10_000
INSERT = text("""
  insert into memwarden.api_key (workspace_id, id, name, person, hash, created_by, maker, expires_at)
  select :workspace, :id, :name, :person, :hash, :created_by, :maker, :expires_at
  where (select count(*) from memwarden.api_key k where k.workspace_id = :workspace) < :most
""")
LIST = text("""
  select k.id, k.name, k.person as user, k.created_at, k.created_by, k.expires_at from memwarden.api_key k
  where k.workspace_id = :workspace and (cast(:after as text) is null or k.name > :after) order by k.name limit :limit
""")
DELETE = text("delete from memwarden.api_key k where k.workspace_id = :workspace and k.id = :id")


async def create(
    connection: AsyncConnection, workspace: UUID, wanted: NewPersonKey, created_by: str, maker: str | None = None
) -> MadeKey:
    """Make a key in the open transaction; `maker` is the person who does, None: nobody's.

    Raises:
        ProblemError: the name is taken, or there are too many keys.
    """
    key = keys.make()
    values = {
        "workspace": workspace,
        "id": key.id,
        "name": wanted.name,
        "person": wanted.user,
        "hash": key.hash,
        "created_by": created_by,
        "maker": maker,
        "expires_at": wanted.expires_at,
        "most": KEYS_PER_WORKSPACE_MAX,
    }
    try:
        made = await connection.execute(INSERT, values)
    except IntegrityError as error:
        raise ProblemError(Kind.CONFLICT, "a key of this name is there already") from error
    if made.rowcount == 0:
        raise ProblemError(Kind.CONFLICT, f"a workspace holds at most {KEYS_PER_WORKSPACE_MAX} keys")
    return MadeKey(id=key.id, name=wanted.name, user=wanted.user, key=key.text, expires_at=wanted.expires_at)


async def listed(connection: AsyncConnection, workspace: UUID, after: str | None, limit: int) -> list[Row[Any]]:
    """Return a page of keys and one more, by name."""
    values: dict[str, UUID | str | int | datetime | None] = {"workspace": workspace, "after": after, "limit": limit + 1}
    return list(await connection.execute(LIST, values))


async def delete(connection: AsyncConnection, workspace: UUID, key_id: str) -> None:
    """Delete a key: it is refused from the next request on. Raises ProblemError when there is none."""
    gone = await connection.execute(DELETE, {"workspace": workspace, "id": key_id})
    if gone.rowcount == 0:
        raise hidden()
