"""The policy engine by the names that a table of rules knows it by; every answer is the write path's own."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import text

from memwarden_policy.decide import decide
from memwarden_policy.model import Action, Candidate, Decision, Known
from memwarden_service import asking, rows, terms
from memwarden_service.database import Database, acting_as, foresee
from memwarden_service.picture import Subject
from memwarden_service.problems import hidden
from memwarden_service.spans import RowOf, Table

STORED = text("""
  select t.*, d.name as domain from memwarden.memory t
  join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id
  where t.workspace_id = :workspace and t.id = :id
""")
KNOWN = text("""
  select exists (select from memwarden.tombstone t where t.workspace_id = :workspace and t.domain_id = d.id
      and t.owner_key = :owner_key and t.key = :key) as was_rejected,
    (select to_jsonb(m) from memwarden.in_place_of(d.id, :owner, :memory_type, :topic, :subject) m) as supersedes
  from memwarden.domain d where d.workspace_id = :workspace and d.name = :domain
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicyEngine:
    """Answers for one subject in one workspace, by the rules that are in force at the moment of the question."""

    database: Database
    subject: Subject
    hash_key: bytes

    async def should_store_in_long_term(self, candidate: Candidate) -> bool:
        """Say whether the candidate would come into force without a person; raises ProblemError for a stranger."""
        return (await self._decision(candidate)).action is Action.ACCEPT

    async def requires_user_confirmation(self, candidate: Candidate) -> bool:
        """Say whether a person would be asked first; raises ProblemError for a stranger."""
        return (await self._decision(candidate)).action in (Action.REQUIRE_CONFIRMATION, Action.QUARANTINE)

    async def apply_retention_policy(self, memory_id: UUID) -> bool:
        """End a memory at once if a retention, or its own term, has ended it; returns whether it ended now.

        Raises:
            ProblemError: there is no such memory, or it is not this subject's to read.
        """
        async with acting_as(self.database, self.subject, row=RowOf(Table.MEMORY, memory_id)) as acting:
            values = {"workspace": acting.workspace_id, "id": memory_id}
            row = (await acting.connection.execute(STORED, values)).one_or_none()
            if row is None:
                raise hidden()
        place = terms.Place(self.database, acting.workspace_id, acting.in_force)
        await terms.reckon_one(place, {**row._asdict(), "id": str(row.id)})
        return bool(await terms.end(place, memory_id))

    async def _decision(self, candidate: Candidate) -> Decision:
        picture = await foresee(self.database, self.subject, is_fresh=True)
        record, note = await asking.said(picture, candidate)
        known = replace(await self._known(candidate), record=record, record_note=note)
        return decide(picture.in_force.ruleset, candidate, picture.caller, picture.now, known)

    async def _known(self, candidate: Candidate) -> Known:
        async with acting_as(self.database, self.subject, domain=candidate.domain) as acting:
            values = {
                "workspace": acting.workspace_id,
                "domain": candidate.domain,
                "owner": candidate.owner,
                "owner_key": candidate.owner or "",
                "key": rows.claim_key(self.hash_key, self.subject.workspace, candidate),
                "memory_type": candidate.memory_type,
                "topic": candidate.topic,
                "subject": candidate.subject,
            }
            row = (await acting.connection.execute(KNOWN, values)).one_or_none()
        if row is None:
            return Known()
        memory = rows.memory(row.supersedes, candidate.domain) if row.supersedes else None
        return Known(supersedes=memory, was_rejected=row.was_rejected)
