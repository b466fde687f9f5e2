"""Decisions as rows, and back: what was decided, by which rules, in one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memwarden_policy import explain
from memwarden_policy.demands import Confirmation
from memwarden_policy.model import Action, Change, Changed, Decision, Ordered, Point, RuleOutcome
from memwarden_policy.truth import SOURCE_OF_TRUTH
from memwarden_service.picture import Picture, domain_id

HELD = "held"  # What a writer learns of everything that waits.
SCREENED = "builtin/screened"
LOOKED_AT = "A person looks at it first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was decided about which statement."""

    id: UUID
    domain: str
    owner: str | None
    answer: Decision | Changed
    content_key: bytes
    point: Point = Point.ADMISSION


def row(picture: Picture, outcome: Outcome) -> dict[str, Any]:
    """Return the row of a decision, as JSON."""
    answer = outcome.answer
    return {
        "workspace_id": str(picture.workspace_id),
        "id": str(outcome.id),
        "domain_id": str(domain_id(picture.workspace_id, outcome.domain)),
        "owner": outcome.owner,
        "actor": picture.caller.actor,
        "principal": picture.caller.principal,
        "action": answer.action,
        "rules": [_rule(rule) for rule in answer.rules],
        "reason": answer.reason,
        "revision": picture.in_force.revision,
        "content_key": "\\x" + outcome.content_key.hex(),
        "at": picture.now.isoformat(),
        "point": outcome.point,
        "detail": _detail(answer),
    }


def without_content(decision: Decision) -> Decision:
    """Return a refusal without what a system of record said of the text: refused text is stored nowhere."""
    if decision.action is not Action.REJECT:
        return decision
    rules = tuple(replace(each, note="") if each.rule == SOURCE_OF_TRUTH else each for each in decision.rules)
    return replace(decision, rules=rules)


def shown(row: Mapping[str, Any], *, reviews: bool) -> dict[str, Any]:
    """Return a decision as the API shows it; a writer who does not review learns that something waits, not how."""
    answer = _answer(row, masks=not reviews)
    waits = answer.action in (Action.REQUIRE_CONFIRMATION, Change.REQUIRE_CONFIRMATION)
    return {
        "id": row["id"],
        "domain": row["domain"],
        "point": row["point"],
        "action": HELD if waits and not reviews else answer.action.value,
        "rules": [
            {
                "rule": rule.address,
                "action": HELD if not reviews and rule.action == Action.REQUIRE_CONFIRMATION else rule.action.value,
                "counted": rule.counted,
                "failed": rule.failed,
                "note": rule.message or rule.note or None,
            }
            for rule in answer.rules
        ],
        "explanation": explain.sentence(answer) if _has_voice(answer) else LOOKED_AT,
        "actor": row["actor"],
        "principal": row["principal"],
        "revision": row["revision"],
        "at": row["at"],
        "detected": list(row["detail"].get("detected", [])) if reviews else [],
    }


def _has_voice(answer: Decision | Changed) -> bool:
    """Say whether a rule that is shown is behind the answer; screening is shown to reviewers alone."""
    return any(rule.counted and rule.action is answer.action for rule in answer.rules)


def _rule(rule: RuleOutcome) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rule": rule.address,
        "action": rule.action,
        "counted": rule.counted,
        "failed": rule.failed,
    }
    more = {"note": rule.note, "message": rule.message}
    return {**found, **{name: text for name, text in more.items() if text}}


def _detail(answer: Decision | Changed) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if answer.confirmation is not None:
        detail["confirmation"] = answer.confirmation.as_json()
    if isinstance(answer, Decision) and answer.reference:
        detail["reference"] = True
    if isinstance(answer, Decision) and answer.detected:
        detail["detected"] = list(answer.detected)
    return detail


def _answer(row: Mapping[str, Any], *, masks: bool) -> Decision | Changed:
    is_admission = row["point"] == Point.ADMISSION
    word: type[Ordered] = Action if is_admission else Change
    rules = tuple(
        RuleOutcome(
            policy=each["rule"].rpartition("/")[0],
            rule=each["rule"].rpartition("/")[2],
            action=_masked(word(each["action"])) if masks else word(each["action"]),
            counted=each["counted"],
            failed=each["failed"],
            note=each.get("note", ""),
            message=each.get("message", ""),
        )
        for each in row["rules"]
        if not (masks and each["rule"] == SCREENED)
    )
    action = _masked(word(row["action"])) if masks else word(row["action"])
    asked = row["detail"].get("confirmation")
    confirmation = Confirmation.of_json(asked) if asked and not masks else None
    if is_admission:
        reference = bool(row["detail"].get("reference"))
        return Decision(
            action=Action(action), rules=rules, reason=row["reason"], confirmation=confirmation, reference=reference
        )
    return Changed(action=Change(action), rules=rules, reason=row["reason"], confirmation=confirmation)


def _masked(action: Ordered) -> Ordered:
    return Action.REQUIRE_CONFIRMATION if action is Action.QUARANTINE else action
