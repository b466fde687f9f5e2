"""Edit and confirm: a reviewer puts other words in the place of those that wait, and says yes to them."""

import json
from dataclasses import replace
from uuid import UUID

from sqlalchemy import text

from memwarden_policy import explain, feedback
from memwarden_policy.attributes import Facts
from memwarden_policy.decide import judged
from memwarden_policy.model import Access, Action, Candidate, Memory, SourceKind
from memwarden_service import at_rest, handling, journal, metrics, reading, rows
from memwarden_service.database import Acting, acting_as, reach
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.review import Reviewing, approve, need_person, take_up, why_not
from memwarden_service.spans import RowOf, Table

REWORD = text("select memwarden.reword(:id, cast(:new as jsonb))")


async def edit(reviewing: Reviewing, candidate_id: UUID, content: str, value: str | None) -> tuple[str, ...]:
    """Reword a candidate and say yes to it; returns what is still missing, empty when it has come into force.

    Args:
        reviewing: who.
        candidate_id: which.
        content: the new text.
        value: the new structured value as canonical JSON; None: it stays.

    Raises:
        ProblemError: not this person, not this candidate, it changed since, or a policy refuses the new words.
    """
    need_person(reviewing.subject)
    wanted = RowOf(Table.CANDIDATE, candidate_id)
    async with acting_as(reviewing.database, reviewing.subject, row=wanted, level=Access.ADMIN) as acting:
        word = await take_up(reviewing, acting, candidate_id)
        problem = why_not(word)
        if problem is not None and problem.kind is not Kind.CONFLICT:
            raise problem
        if word.row.change == "delete":
            raise ProblemError(Kind.CONFLICT, "a deletion that waits has no words to edit")
        before = rows.statement(word.row, word.row.domain)
        after = reworded(acting, before, content, before.value if value is None else value)
        new = at_rest.columns(acting, after)
        kept = {name: new[name] for name in (*rows.WORDS, "source", "confidence")}
        await reach(acting, word.row.domain)
        if not (await acting.connection.execute(REWORD, {"id": candidate_id, "new": json.dumps(kept)})).scalar_one():
            raise hidden()
        await journal.append(acting, "candidate.edited", str(candidate_id), word.entry)
        row = await reading.one(acting, reading.CANDIDATE, candidate_id)
        claim = rows.claim_key(reviewing.hash_key, acting.subject.workspace, after).hex()
        lacking = await approve(replace(word, row=row, given=(), claim=claim))
    metrics.REVIEWS.labels("approved" if lacking else "confirmed").inc()
    return lacking


def reworded(acting: Acting, before: Candidate, content: str, value: str) -> Candidate:
    """Return a statement in a person's own words; raises ProblemError where a policy refuses them."""
    memory = Memory(id="", statement=before, created_at=acting.now)
    ruleset, caller, now = acting.in_force.ruleset, acting.caller, acting.now
    confidence = feedback.settings(ruleset, memory, caller, now).edit
    own = replace(
        handling.reworded(before, replace(before, content=content, value=value)),
        source=SourceKind.USER_STATED,
        confidence=confidence,
    )
    decision = judged(ruleset, Facts(candidate=own, caller=caller, roles=acting.rights.roles, now=now))
    if decision.action is Action.REJECT:
        members = {"rules": list(decision.behind)}
        raise ProblemError(Kind.POLICY_REFUSED, explain.sentence(decision), members=members)
    return replace(own, source=SourceKind.USER_CONFIRMED)
