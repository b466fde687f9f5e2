"""What a person wants of the service for the memories that are theirs alone."""

from typing import NamedTuple

from sqlalchemy import text

from memwarden_service import journal
from memwarden_service.database import Acting, Database, acting_as
from memwarden_service.picture import Subject
from memwarden_service.problems import Kind, ProblemError
from memwarden_service.review import need_person

FIND = text("""
  select s.auto_redact_pii, s.version from memwarden.person_setting s
  where s.workspace_id = :workspace and s.person = :person
""")
PUT = text("""
  insert into memwarden.person_setting values (:workspace, :person, :auto_redact_pii, 1)
  on conflict (workspace_id, person) do update set auto_redact_pii = excluded.auto_redact_pii,
    version = person_setting.version + 1, changed_at = now()
  returning version
""")


class Wishes(NamedTuple):
    """What a person wants; version 0: they never said anything."""

    auto_redact_pii: bool = False
    version: int = 0

    @property
    def etag(self) -> str:
        return f'"{self.version}"'


async def found(acting: Acting, person: str | None) -> Wishes:
    """Return what a person wants; nothing, where there is no person."""
    if person is None:
        return Wishes()
    values = {"workspace": acting.workspace_id, "person": person}
    row = (await acting.connection.execute(FIND, values)).one_or_none()
    return Wishes(row.auto_redact_pii, row.version) if row is not None else Wishes()


async def get(database: Database, subject: Subject) -> Wishes:
    """Return what the caller wants; raises ProblemError for everybody but a person."""
    need_person(subject)
    async with acting_as(database, subject) as acting:
        return await found(acting, acting.caller.principal)


async def put(database: Database, subject: Subject, auto_redact_pii: bool, if_match: str | None) -> Wishes:
    """Take down what the caller wants from now on; what is kept already stays as it is.

    Raises:
        ProblemError: this is no person, or it has changed since it was read.
    """
    need_person(subject)
    async with acting_as(database, subject) as acting:
        await journal.lock(acting)
        before = await found(acting, acting.caller.principal)
        if if_match is not None and if_match not in ("*", before.etag):
            raise ProblemError(Kind.STALE_VERSION)
        values = {
            "workspace": acting.workspace_id,
            "person": acting.caller.principal,
            "auto_redact_pii": auto_redact_pii,
        }
        version = (await acting.connection.execute(PUT, values)).scalar_one()
        detail = {"auto_redact_pii": auto_redact_pii, journal.PRIVATE: True}
        await journal.append(acting, "settings.put", None, detail)
    return Wishes(auto_redact_pii, version)
