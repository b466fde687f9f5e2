"""What the record of a decided proposal is made of: the one argument of `memwarden.record`."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from uuid6 import uuid7

from memwarden_policy import explain
from memwarden_policy.demands import By
from memwarden_policy.model import Action, Candidate, Decision, Memory
from memwarden_service import at_rest, outcomes, rows
from memwarden_service.digests import keyed
from memwarden_service.picture import Picture, domain_id

if TYPE_CHECKING:
    from memwarden_service.write import Draft

IDEMPOTENCY_LIFE = timedelta(hours=24)
WAITING = (Action.REQUIRE_CONFIRMATION, Action.QUARANTINE)


def whole(hash_key: bytes, draft: "Draft") -> dict[str, Any]:
    """Return all that is to be written of a decided proposal."""
    picture, decision, candidate = draft.picture, draft.decision, draft.candidate
    outcome = outcomes.Outcome(
        id=uuid7(), domain=candidate.domain, owner=candidate.owner, answer=decision, content_key=draft.content_key
    )
    row = _row(picture, candidate, decision, outcome.id) if decision.action is not Action.REJECT else None
    memory = draft.known.supersedes
    return {
        "revision": picture.in_force.revision,
        "decision": outcomes.row(picture, outcome),
        "row": row,
        "held": decision.action in WAITING,
        "domain": candidate.domain,
        "owner_key": candidate.owner or "",
        "event_key": draft.event_key.hex() if draft.event_key else None,
        "claim": draft.claim_key.hex(),
        "place": _place(candidate),
        "known": {
            "was_rejected": draft.known.was_rejected,
            "redacts": draft.known.redacts,
            "supersedes": memory.id if memory else None,
            "version": memory.version if memory else None,
        },
        "entry": _entry(draft, outcome.id, row),
        "refusal": {
            "status": "refused",
            "decision": str(outcome.id),
            "reason": explain.sentence(decision),
            "rules": list(decision.behind),
        }
        if row is None
        else None,
        "idempotency": _idempotency(hash_key, draft),
    }


def candidate_row(picture: Picture, candidate: Candidate, answer: Decision | Any, decision: UUID) -> dict[str, Any]:
    """Return the columns of what waits: what its confirmation needs, and until when."""
    needed = answer.confirmation or rows.ANYBODY
    return {
        **_shared(picture, candidate, decision),
        "version": 1,
        "state": "quarantined" if answer.action is Action.QUARANTINE else "pending",
        "confirmation": needed.as_json(),
        "confirm_roles": [each.role for each in needed.by if each.kind is By.ROLE],
        "proposed_by_maker": picture.subject.made_by,
        "expires_at": (picture.now + needed.expires_after).isoformat(),
        "change": None,
        "target": None,
        "target_version": None,
    }


def _place(candidate: Candidate) -> dict[str, str] | None:
    if not candidate.topic:
        return None
    return {"memory_type": candidate.memory_type, "topic": candidate.topic, "subject": candidate.subject}


def _row(picture: Picture, candidate: Candidate, decision: Decision, decision_id: UUID) -> dict[str, Any]:
    if decision.action in WAITING:
        return candidate_row(picture, candidate, decision, decision_id)
    now = picture.now.isoformat()
    standing = {"version": 1, "in_force_from": now, "status": "confirmed", "since": now}
    return {**_shared(picture, candidate, decision_id), **standing, **_end(picture, candidate)}


def _end(picture: Picture, candidate: Candidate) -> dict[str, Any]:
    ruleset = picture.in_force.ruleset
    return rows.end(ruleset, Memory(id="", statement=candidate, created_at=picture.now))


def _shared(picture: Picture, candidate: Candidate, decision: UUID) -> dict[str, Any]:
    return {
        **at_rest.columns(picture, candidate),
        "workspace_id": str(picture.workspace_id),
        "id": str(uuid7()),
        "domain_id": str(domain_id(picture.workspace_id, candidate.domain)),
        "proposed_by": picture.caller.actor,
        "proposed_for": picture.caller.principal,
        "proposed_by_person": picture.caller.is_person,
        "proposed_at": picture.now.isoformat(),
        "decision_id": str(decision),
    }


def _entry(draft: "Draft", decision_id: UUID, row: dict[str, Any] | None) -> dict[str, Any]:
    detail: dict[str, Any] = {"action": draft.decision.action, "content": draft.content_key.hex()}
    if draft.all_redactions:
        detail["redactions"] = {each.kind: each.count for each in draft.all_redactions}
    if draft.is_private:
        detail["private"] = True
    if draft.subject.is_unreviewed:
        detail["token_reviewed"] = False
    return {
        "action": "proposal.decided",
        "actor": draft.picture.caller.actor,
        "principal": draft.picture.caller.principal,
        "object": row["id"] if row is not None else None,
        "decision": str(decision_id),
        "revision": draft.picture.in_force.revision,
        "detail": detail,
    }


def _idempotency(hash_key: bytes, draft: "Draft") -> dict[str, Any] | None:
    if draft.idempotency_key is None:
        return None
    picture, caller = draft.picture, draft.picture.caller
    parts = (str(picture.workspace_id), caller.actor, caller.principal or "", draft.idempotency_key)
    key = keyed(hash_key, "idempotency", *parts)
    return {
        "key": key.hex(),
        "request": keyed(hash_key, "request", draft.body).hex(),
        "lock": int.from_bytes(key[:8], signed=True),
        "expires_at": (picture.now + IDEMPOTENCY_LIFE).isoformat(),
    }
