"""The one door to the database: a transaction that knows its workspace, its caller and the domains they may touch."""

import asyncio
import dataclasses
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import QueuePool, Row, TextClause, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from memwarden_policy.model import Access
from memwarden_service.picture import NOBODY, Picture, Subject, domain_id, picture_of, settings_in
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.rulesets import READ_RULESET, InForce, Rows, Rulesets, Version
from memwarden_service.spans import RowOf, Touched, take_up

POOL_CONNECTIONS_MAX = 10
POOL_WAIT_SECONDS = 5.0
CONNECT_SECONDS = 5
PLACES_MAX = 10_000
RULESET_TRIES_MAX = 8
LISTEN_RETRY_SECONDS = 2.0
CHANNEL = "memwarden_ruleset"

RESOLVE = text("select e.workspace_id, e.revision, e.moved_in, e.digest from memwarden.resolve(:name) e")
ENTER = text("""
  select e.workspace_id, e.revision, e.moved_in, e.digest, set_config('memwarden.workspace', e.workspace_id::text, true)
  from memwarden.resolve(:name) e
""")
# Everything in one statement; nothing happens unless the workspace is at the revision that was decided by.
AT_ONCE = """
  with place as materialized (
    select set_config('memwarden.workspace', e.workspace_id::text, true)
      || set_config('memwarden.principal', :principal, true) || set_config('memwarden.person', :person, true)
      || set_config('memwarden.readable', :readable, true) || set_config('memwarden.writable', :writable, true)
      || set_config('memwarden.administered', :administered, true) as settings
    from memwarden.resolve(:name) e where e.workspace_id = :workspace
      and (e.revision, e.moved_in, e.digest) = (:revision, :moved_in, :digest)
  )
  select done.* from place
    cross join lateral {function}(case when place.settings is not null then cast(:argument as jsonb) end) done
"""
# What a keeper does is told by the function that it calls, not by the rights of a person.
AS_KEEPER = text("""
  select set_config('memwarden.workspace', :workspace, true), set_config('memwarden.principal', :owner, true),
    set_config('memwarden.person', :owner, true), set_config('memwarden.administered', 'all', true)
""")
RETENTION_WORK = text("select w.workspace_id from memwarden.retention_work(:limit) w")
UNREAD_WORK = text("select w.workspace_id from memwarden.unread_work(:limit) w")
RETENTION_LAG = text("select memwarden.retention_lag()")
DUE = text("select d.workspace_id, d.id, d.owner from memwarden.due_candidates(:limit) d")
REACH = text("""
  select set_config('memwarden.readable', :domain, true), set_config('memwarden.writable', :domain, true)
""")
AS_COUNTER = text("""
  select set_config('memwarden.workspace', :workspace, true), set_config('memwarden.readable', 'all', true)
""")
AS_OPERATOR = text("""
  select set_config('memwarden.workspace', :workspace, true), set_config('memwarden.operator', 'on', true)
""")
FIND_KEY = text("select workspace, name, person, maker, hash, expires_at from memwarden.find_key(:id)")
SCHEMA_VERSION = text("select version_num from memwarden.alembic_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting(Picture):
    """The same in an open transaction, which row-level security keeps to it."""

    connection: AsyncConnection


Place = tuple[UUID, Version]  # A workspace and the version of its rules.


class Database:
    """The pool and the rulesets read through it."""

    def __init__(self, url: URL, *, pool_size: int = POOL_CONNECTIONS_MAX) -> None:
        self.url = url
        self.rulesets = Rulesets()
        self._places: OrderedDict[str, Place] = OrderedDict()
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=POOL_WAIT_SECONDS,
            pool_use_lifo=True,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "memwarden-service",
                "options": "-c timezone=UTC",
            },
        )

        self.at_once = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def last_seen(self, workspace: str) -> Place | None:
        """Return where a workspace was when it was last looked up; None: it was not, or long ago."""
        return self._places.get(workspace)

    def saw(self, workspace: str, place: Place) -> None:
        """Remember where a workspace is."""
        self._places[workspace] = place
        self._places.move_to_end(workspace)
        while len(self._places) > PLACES_MAX:
            self._places.popitem(last=False)

    async def in_force(self, workspace: UUID) -> InForce:
        """Return what is in force now, compiled."""
        return await self.rulesets.load(workspace, lambda: self._read(workspace))

    async def _read(self, workspace: UUID) -> Rows:
        async with acting_as_operator(self, workspace) as connection:
            row = (await connection.execute(READ_RULESET, {"workspace": workspace})).one_or_none()
        if row is None:
            raise hidden()
        return Rows(
            workspace=row.name,
            revision=row.revision,
            moved_in=row.moved_in,
            digest=row.digest,
            store=row.store,
            objects=row.objects,
        )

    @property
    def in_use(self) -> int:
        """How many connections are checked out now."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


@asynccontextmanager
async def acting_as(
    database: Database,
    subject: Subject,
    *,
    domain: str | None = None,
    row: RowOf | None = None,
    level: Access = Access.READ,
) -> AsyncIterator[Acting]:
    """Open one transaction as the subject. Commits on a clean exit.

    Args:
        database: where.
        subject: who; row-level security sees them alone.
        domain: the only domain that is touched.
        row: the only row that is touched, in whatever domain it is.
        level: what is needed. Where neither is named, every domain where the subject has it is touched; none for NONE.

    Raises:
        ProblemError: the workspace is not there, or not for this subject; there are too many domains; try again.
    """
    for _ in range(RULESET_TRIES_MAX):
        async with database.engine.begin() as connection:
            entered = (await connection.execute(ENTER, {"name": subject.workspace})).one_or_none()
            if entered is None:
                raise hidden()
            in_force = database.rulesets.get(entered.workspace_id, version_of(entered))
            if in_force is not None:
                picture = picture_of(entered.workspace_id, in_force, subject)
                acting = Acting(connection=connection, **_fields(picture))
                await take_up(connection, picture, Touched(domain=domain, row=row, level=level))
                yield acting
                return
        # Compiling may take long: not while a connection of the pool is held.
        await database.in_force(entered.workspace_id)
    raise ProblemError(Kind.UNAVAILABLE, "the rules of this workspace change faster than they can be read")


async def foresee(database: Database, subject: Subject, *, is_fresh: bool) -> Picture:
    """Return what the subject may do, without a transaction: for a decision that `at_once` checks as it acts.

    Args:
        database: where.
        subject: who.
        is_fresh: True: ask the database for the revision; False: the last one that was seen will do.

    Raises:
        ProblemError: the workspace is not there, or not for this subject.
    """
    place = None if is_fresh else database.last_seen(subject.workspace)
    if place is None:
        async with database.at_once.connect() as connection:
            row = (await connection.execute(RESOLVE, {"name": subject.workspace})).one_or_none()
        if row is None:
            raise hidden()
        place = (row.workspace_id, version_of(row))
    workspace, version = place
    in_force = database.rulesets.get(workspace, version) or await database.in_force(workspace)
    if in_force.version != version and in_force.revision <= version[0]:
        # Somebody's reading was under way that began before the change.
        in_force = await database.in_force(workspace)
    database.saw(subject.workspace, (workspace, in_force.version))
    return picture_of(workspace, in_force, subject)


async def at_once(
    database: Database, picture: Picture, domain: str, statement: TextClause, argument: str
) -> Row[Any] | None:
    """Act in one statement that is a transaction of its own, in the one domain that was decided on.

    Args:
        database: where.
        picture: what was decided by.
        domain: the only domain that is touched.
        statement: made by `acts`.
        argument: what it is called with.

    Returns:
        its answer; None: the workspace is no longer what the picture shows, and nothing was done.
    """
    values = {
        **settings_in(picture, domain),
        "name": picture.subject.workspace,
        "workspace": picture.workspace_id,
        "revision": picture.in_force.revision,
        "moved_in": picture.in_force.moved_in,
        "digest": picture.in_force.recorded_digest,
        "argument": argument,
    }
    async with database.at_once.connect() as connection:
        return (await connection.execute(statement, values)).one_or_none()


def acts(function: str) -> TextClause:
    """Return the statement for `at_once` that calls a function of the schema, which takes one jsonb."""
    return text(AT_ONCE.format(function=function))


async def reach(acting: Acting, domain: str) -> None:
    """Let the open transaction bring something into force in one domain, by leave of a confirmation."""
    one = "{" + str(domain_id(acting.workspace_id, domain)) + "}"
    await acting.connection.execute(REACH, {"domain": one})


@asynccontextmanager
async def acting_as_keeper(database: Database, workspace: UUID, owner: str | None) -> AsyncIterator[AsyncConnection]:
    """Open one transaction that sees what waits in a workspace, and of private things those of one owner."""
    async with database.engine.begin() as connection:
        await connection.execute(AS_KEEPER, {"workspace": str(workspace), "owner": owner or NOBODY})
        yield connection


async def due(database: Database, limit: int) -> list[Row[Any]]:
    """Return where candidates are that nobody answered in time: workspace, id and owner, of any workspace."""
    async with database.at_once.connect() as connection:
        return list(await connection.execute(DUE, {"limit": limit}))


async def retention_work(database: Database, limit: int) -> list[UUID]:
    """Return the workspaces in which the end of memories is to be reckoned, or has come."""
    async with database.at_once.connect() as connection:
        return list((await connection.execute(RETENTION_WORK, {"limit": limit})).scalars())


async def unread_work(database: Database, limit: int) -> list[UUID]:
    """Return the workspaces in which there are memories whose words search does not know yet."""
    async with database.at_once.connect() as connection:
        return list((await connection.execute(UNREAD_WORK, {"limit": limit})).scalars())


async def retention_lag(database: Database) -> float:
    """Return for how many seconds what ended first has waited to be deleted, in any workspace."""
    async with database.at_once.connect() as connection:
        return float((await connection.execute(RETENTION_LAG)).scalar_one())


@asynccontextmanager
async def acting_as_operator(database: Database, workspace: UUID | None) -> AsyncIterator[AsyncConnection]:
    """Open one transaction in which the rules of a workspace may be written; None: before there is one."""
    async with database.engine.begin() as connection:
        await connection.execute(AS_OPERATOR, {"workspace": str(workspace or NOBODY)})
        yield connection


@asynccontextmanager
async def counting_as_operator(database: Database, workspace: UUID) -> AsyncIterator[AsyncConnection]:
    """Open one transaction that reads the shared memories of a workspace, to count them for its operator."""
    async with database.engine.begin() as connection:
        await connection.execute(AS_COUNTER, {"workspace": str(workspace)})
        yield connection


async def find_key(database: Database, public_id: str) -> Row[tuple[object, ...]] | None:
    """Return what is known of an API key (the columns of FIND_KEY). None: there is no such key."""
    async with database.at_once.connect() as connection:
        return (await connection.execute(FIND_KEY, {"id": public_id})).one_or_none()


async def schema_version(database: Database) -> str | None:
    """Return the revision of the schema that is there; raises SQLAlchemyError when there is none or no database."""
    async with database.at_once.connect() as connection:
        version: str | None = (await connection.execute(SCHEMA_VERSION)).scalar_one_or_none()
        return version


async def warm(database: Database, log: logging.Logger) -> None:
    """Load rulesets as they change, until cancelled. Only warms: each transaction reads the revision for itself."""
    conninfo = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(
                conninfo, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="memwarden-listener"
            )
            async with connection:
                await connection.execute(f"listen {CHANNEL}")
                async for notice in connection.notifies():
                    await database.in_force(UUID(notice.payload))
        except (psycopg.Error, SQLAlchemyError, ProblemError, ValueError, OSError) as error:
            log.warning("listening again", extra={"error": type(error).__name__})
            await asyncio.sleep(LISTEN_RETRY_SECONDS)


def version_of(row: Row[Any]) -> Version:
    """Return the version of the rules that a row of `resolve` names."""
    return row.revision, row.moved_in, row.digest


def _fields(picture: Picture) -> dict[str, Any]:
    return {field.name: getattr(picture, field.name) for field in dataclasses.fields(picture)}
