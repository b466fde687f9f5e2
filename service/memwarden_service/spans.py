"""What a transaction touches: nothing, one domain, the domain of one row, or every domain that a right covers."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memwarden_policy.model import Access
from memwarden_service.picture import (
    LEVELS,
    NOBODY,
    Picture,
    may_review,
    owned_prefixes,
    reviewing_roles,
    settings_for,
    settings_in,
)
from memwarden_service.problems import Fault, Kind, ProblemError

ALL = "all"
DOMAINS_TOUCHED_MAX = 1_000
DOMAINS_PER_READING = 1_000
READINGS_MAX = 100

TAKE_UP = text("""
  select set_config('memwarden.principal', :principal, true), set_config('memwarden.person', :person, true),
    set_config('memwarden.readable', :readable, true), set_config('memwarden.writable', :writable, true),
    set_config('memwarden.administered', :administered, true),
    set_config('memwarden.roles', coalesce(cast(cast(:roles as text[]) as text), ''), true)
""")
COVERED = """
  select d.id, d.name from memwarden.domain d where d.workspace_id = :workspace and d.name > :after
    and exists (select from unnest(cast(:prefixes as text[])) p
      where p = '' or d.name = p or starts_with(d.name, p || '/'))
"""
IN_ORDER = " order by d.name limit :limit"
# A private or an unconfirmed item does not make its domain known: only a memory that the caller sees does.
HOLDS_A_MEMORY = """
    and exists (select from memwarden.memory m where m.workspace_id = d.workspace_id and m.domain_id = d.id
      and memwarden.is_standing(m))
"""
NAMES, SHOWN = text(COVERED + IN_ORDER), text(COVERED + HOLDS_A_MEMORY + IN_ORDER)


class Table(StrEnum):
    """Tables whose rows are asked for by id."""

    MEMORY = "memory"
    VERSION = "memory_version"  # And what is in force: the whole history.
    CANDIDATE = "candidate"
    DECISION = "decision"


@dataclass(frozen=True, slots=True)
class RowOf:
    """One row, by its id; its domain is looked up, so that no list of domains is needed."""

    table: Table
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What is asked for; nothing named: every domain where the caller has `level`."""

    domain: str | None = None
    row: RowOf | None = None
    level: Access = Access.READ  # NONE: no domain at all.


ROWS = {
    **{table: f"memwarden.{table}" for table in Table},
    Table.VERSION: """(select workspace_id, id, domain_id from memwarden.memory
      union all select workspace_id, id, domain_id from memwarden.memory_version)""",
}
DOMAIN_OF = {
    table: text(f"""
      select d.name from {rows} t
        join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id
      where t.workspace_id = :workspace and t.id = :id limit 1
    """)  # noqa: S608 - a constant
    for table, rows in ROWS.items()
}


async def take_up(connection: AsyncConnection, picture: Picture, touched: Touched) -> None:
    """Tell row-level security who acts, and what they may touch from here on.

    Raises:
        ProblemError: no domain is named, and the caller's are too many.
    """
    await _tell(connection, picture, await _settings(connection, picture, touched))


async def names_shown(connection: AsyncConnection, picture: Picture) -> list[str]:
    """Return the first domains, by name, in which the caller sees a memory. Leaves the transaction touching nothing."""
    await _tell(connection, picture, _at(picture, Access.READ, ALL))
    found, _ = await _covered(connection, picture, Access.READ, is_shown=True)
    await _tell(connection, picture, _at(picture, Access.NONE, NOBODY))
    return list(found)[:DOMAINS_TOUCHED_MAX]


async def _settings(connection: AsyncConnection, picture: Picture, touched: Touched) -> dict[str, str]:
    level = touched.level
    if touched.domain is not None:
        return settings_in(picture, touched.domain)
    if level is Access.NONE:
        return _at(picture, level, NOBODY)
    if picture.rights.everything(level):
        return _at(picture, level, ALL)
    if touched.row is not None:
        return await _settings_at(connection, picture, touched.row, level)
    settings = _at(picture, level, await _ids(connection, picture, level))
    if level is Access.ADMIN and (owned := owned_prefixes(picture)):
        # Who owns a domain reviews in it, and may do nothing else there for that.
        ids = await _ids(connection, picture, level, owned)
        settings["administered"] = _joined(settings["administered"], ids)
    return settings


async def _tell(connection: AsyncConnection, picture: Picture, settings: dict[str, str]) -> None:
    await connection.execute(TAKE_UP, {**settings, "roles": reviewing_roles(picture)})


def _joined(one: str, other: str) -> str:
    ids = [each.strip("{}") for each in (one, other) if each]
    return "{" + ",".join(ids) + "}" if ids else NOBODY


async def _settings_at(connection: AsyncConnection, picture: Picture, row: RowOf, level: Access) -> dict[str, str]:
    """Return the settings in the domain of a row. Another's private row has none here: its owner's policy holds."""
    await _tell(connection, picture, _at(picture, level, ALL))
    values = {"workspace": picture.workspace_id, "id": row.id}
    domain = (await connection.execute(DOMAIN_OF[row.table], values)).scalar_one_or_none()
    # Where there is no such row the transaction goes on as for one that is hidden, and takes as long.
    return settings_in(picture, domain or NOBODY)


async def _ids(
    connection: AsyncConnection, picture: Picture, level: Access, owned: tuple[str, ...] | None = None
) -> str:
    found, is_whole = await _covered(connection, picture, level, is_shown=False, owned=owned)
    if len(found) > DOMAINS_TOUCHED_MAX or not is_whole:
        fault = Fault("query.domain", "TooManyDomains", "these are too many domains for one request: name one")
        raise ProblemError(Kind.INVALID, faults=[fault])
    return "{" + ",".join(str(each) for each in found.values()) + "}" if found else NOBODY


async def _covered(
    connection: AsyncConnection,
    picture: Picture,
    level: Access,
    *,
    is_shown: bool,
    owned: tuple[str, ...] | None = None,
) -> tuple[dict[str, UUID], bool]:
    """Return domains where the caller has the level, until there are too many; and whether these are all.

    Only names that the caller's own grants lead to are read: how many others there are changes no answer.
    """
    found: dict[str, UUID] = {}
    prefixes = list(picture.rights.prefixes(level) if owned is None else owned)
    values = {"workspace": picture.workspace_id, "prefixes": prefixes, "after": "", "limit": DOMAINS_PER_READING}
    for _ in range(READINGS_MAX if prefixes else 0):
        rows = list(await connection.execute(SHOWN if is_shown else NAMES, values))
        found |= {row.name: row.id for row in rows if _has(picture, row.name, level, owned)}
        if len(rows) < DOMAINS_PER_READING or len(found) > DOMAINS_TOUCHED_MAX:
            return found, True
        values["after"] = rows[-1].name
    return found, not prefixes


def _has(picture: Picture, domain: str, level: Access, owned: tuple[str, ...] | None) -> bool:
    return picture.rights.access(domain) >= level if owned is None else may_review(picture, domain)


def _at(picture: Picture, level: Access, span: str) -> dict[str, str]:
    return settings_for(picture.caller, {each: span if level >= each else NOBODY for each in LEVELS})
