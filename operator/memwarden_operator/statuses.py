"""What an object's status should say, given what the service answered. Pure: the clock comes in as a value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memwarden_operator import conditions, impacts
from memwarden_operator.answers import ObjectAnswer, Version
from memwarden_operator.assignment import Refusal
from memwarden_operator.conditions import Condition, Truth
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import PolicyObject, StoreKey
from memwarden_policy.model import Kind, Mode, Problem, Resource

PROBLEMS_SHOWN_MAX = 5
_REASON = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """The service could not be asked, or would not listen: what is in force is not known."""

    reason: Reason
    message: str


Outcome = ObjectAnswer | Refusal | Outage


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All that a status says of one object, before it is rendered."""

    conditions: tuple[Condition, ...]
    store: StoreKey | None = None  # None: no store takes the object, or all of them do.
    in_force: Version | None = None  # None: no version is known to be in force.


def of_object(each: PolicyObject, store: StoreKey | None, outcome: Outcome, now: datetime) -> dict[str, Any]:
    """Return the whole status of a policy or grant."""
    return render(each, judge(each, store, outcome, now), now)


def judge(each: PolicyObject, store: StoreKey | None, outcome: Outcome, now: datetime) -> Judged:
    """Say what holds for an object."""
    match outcome:
        case Refusal():
            return Judged(conditions=_refused(outcome.reason, outcome.message))
        case Outage():
            kept = known(each.status)
            return Judged(conditions=unknown(outcome.reason, outcome.message), store=store, in_force=kept)
        case ObjectAnswer(accepted=True):
            return Judged(conditions=_accepted(each.resource, outcome, now), store=store, in_force=outcome.in_force)
    refusal = not_accepted(each, outcome.problems, outcome.in_force)
    return Judged(conditions=refusal, store=store, in_force=outcome.in_force)


def render(each: PolicyObject, judged: Judged, now: datetime) -> dict[str, Any]:
    """Return the status as the API server stores it."""
    generation = each.resource.generation
    observed = each.status.get("conditions") or []
    status: dict[str, Any] = {
        "observedGeneration": generation,
        "conditions": conditions.rendered(judged.conditions, observed, generation, now),
    }
    if judged.in_force is not None and each.status.get("impact"):
        status["impact"] = each.status["impact"]  # Of the generation that it names, until the next is counted.
    if judged.store is not None:
        status["store"] = str(judged.store)
    if judged.in_force is not None:
        status["digest"] = judged.in_force.digest
        if judged.in_force.revision and each.resource.kind != Kind.CLUSTER_MEMORY_POLICY:
            status["revision"] = judged.in_force.revision
    return status


def without_memories(each: PolicyObject, status: Mapping[str, Any]) -> dict[str, Any]:
    """Return a status that needs no counting, since there is nothing to count."""
    if not impacts.is_due(each, status):
        return dict(status)
    return {**status, "impact": impacts.of((), each.resource.generation)}


def difference(observed: Mapping[str, Any], desired: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the merge patch that makes one status of the other; None: there is nothing to write."""
    gone = {key: None for key in observed if key not in desired}
    changed = {key: value for key, value in desired.items() if observed.get(key) != value}
    return (gone | changed) or None


def effect(resource: Resource, now: datetime) -> tuple[Truth, Reason, str]:
    """Say whether an object that the service holds does something at this moment."""
    spec = resource.spec
    if resource.kind == Kind.MEMORY_ACCESS_GRANT:
        return _validity(spec, now)
    if not spec.get("active", True):
        return "False", Reason.INACTIVE, "The policy is turned off by spec.active"
    if spec.get("mode") == Mode.AUDIT:
        return "True", Reason.AUDITED, "The rules are evaluated and recorded, and change nothing"
    return "True", Reason.IN_FORCE, "The store enforces this generation"


def moments(resource: Resource) -> tuple[datetime, ...]:
    """Return the moments at which what an object does changes by itself."""
    if resource.kind != Kind.MEMORY_ACCESS_GRANT:
        return ()
    found = (_moment(resource.spec.get(name)) for name in ("notBefore", "expiresAt"))
    return tuple(each for each in found if each is not None)


def unknown(reason: Reason, message: str) -> tuple[Condition, ...]:
    """Return the conditions of an object of which nothing is known now, and that is tried again."""
    kinds = ("Accepted", "InForce", "Ready")
    return (
        *(Condition(type=kind, status="Unknown", reason=reason, message=message) for kind in kinds),
        Condition(type="Reconciling", status="True", reason=reason, message="It is tried again until it succeeds"),
    )


def _refused(reason: Reason, message: str) -> tuple[Condition, ...]:
    kinds = ("Accepted", "InForce", "Ready")
    return (
        *(Condition(type=kind, status="False", reason=reason, message=message) for kind in kinds),
        Condition(type="Stalled", status="True", reason=reason, message=message),
    )


def _accepted(resource: Resource, said: ObjectAnswer, now: datetime) -> tuple[Condition, ...]:
    accepted = Condition(type="Accepted", status="True", reason=Reason.ACCEPTED, message=_notes(said.notes))
    if said.in_force is None or said.in_force.digest != said.offered.digest:
        text = "The store accepted this generation and does not hold it; it is offered again"
        return (
            accepted,
            Condition(type="InForce", status="False", reason=Reason.NOT_ENFORCED, message=text),
            Condition(type="Ready", status="False", reason=Reason.NOT_ENFORCED, message=text),
            Condition(type="Reconciling", status="True", reason=Reason.NOT_ENFORCED, message=text),
        )
    truth, reason, message = effect(resource, now)
    return (
        accepted,
        Condition(type="InForce", status=truth, reason=reason, message=message),
        Condition(type="Ready", status="True", reason=reason, message=message),
    )


def not_accepted(each: PolicyObject, problems: Sequence[Problem], in_force: Version | None) -> tuple[Condition, ...]:
    """Return the conditions of an object with problems; what was accepted before may be in force."""
    text = shown(problems)
    reason = problems[0].reason if problems else Reason.NOT_ACCEPTED
    named = reason if _REASON.fullmatch(reason) else Reason.NOT_ACCEPTED
    return (
        Condition(type="Accepted", status="False", reason=named, message=text),
        _last_good(each, problems, in_force),
        Condition(type="Ready", status="False", reason=Reason.NOT_ACCEPTED, message=text),
        Condition(type="Stalled", status="True", reason=Reason.NOT_ACCEPTED, message=text),
    )


def _last_good(each: PolicyObject, problems: Sequence[Problem], in_force: Version | None) -> Condition:
    if in_force is not None:
        text = f"Generation {in_force.generation}, the last that was accepted, stays in force"
        return Condition(type="InForce", status="True", reason=Reason.LAST_GOOD_IN_FORCE, message=text)
    is_lost = any(problem.reason == Reason.LAST_GOOD_LOST for problem in problems)
    if is_lost or each.status.get("digest") or _was_lost(each.status):
        text = "The store lost the last version that was accepted; its defaults apply until this one is corrected"
        return Condition(type="InForce", status="False", reason=Reason.LAST_GOOD_LOST, message=text)
    text = "No version of it was ever accepted"
    return Condition(type="InForce", status="False", reason=Reason.NOT_ACCEPTED, message=text)


def _was_lost(status: Mapping[str, Any]) -> bool:
    return conditions.find(status, "InForce").get("reason") == Reason.LAST_GOOD_LOST


def shown(problems: Sequence[Problem]) -> str:
    """Return problems as one line, path first, sorted and bounded."""
    if not problems:
        return "The store did not accept it and gave no problem"
    lines = [f"{each.path}: {each.message}" if each.path else each.message for each in problems[:PROBLEMS_SHOWN_MAX]]
    more = len(problems) - PROBLEMS_SHOWN_MAX
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _notes(notes: Sequence[Problem]) -> str:
    return shown(sorted(notes)) if notes else "The store understood this generation"


def is_confirmed(each: PolicyObject) -> bool:
    """Say whether this generation was once told to be in force, or not accepted."""
    is_current = each.status.get("observedGeneration") == each.resource.generation
    return is_current and conditions.find(each.status, "Accepted").get("status") in ("True", "False")


def known(status: Mapping[str, Any]) -> Version | None:
    """Return what the status last said to be in force: an outage takes nothing out of force."""
    if not status.get("digest"):
        return None
    generation = int(status.get("observedGeneration", 0))
    return Version(generation=generation, digest=str(status["digest"]), revision=int(status.get("revision", 0)))


def _validity(spec: Mapping[str, Any], now: datetime) -> tuple[Truth, Reason, str]:
    start, end = _moment(spec.get("notBefore")), _moment(spec.get("expiresAt"))
    if end is not None and now >= end:
        return "False", Reason.EXPIRED, "spec.expiresAt has passed; the grant gives nothing"
    if start is not None and now < start:
        return "False", Reason.NOT_YET_VALID, "spec.notBefore is still to come; the grant gives nothing until then"
    return "True", Reason.IN_FORCE, "The store enforces this generation"


def _moment(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
