"""What the status of a ClusterMemoryPolicy should say, given what every workspace answered. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from memwarden_operator import statuses
from memwarden_operator.answers import ObjectAnswer, Version
from memwarden_operator.conditions import Condition, Truth
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import PolicyObject
from memwarden_operator.state import Held
from memwarden_operator.statuses import Judged
from memwarden_operator.work import Workspace
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import StoreDefaults

WORKSPACES_NAMED_MAX = 10


def judge(each: PolicyObject, held: Mapping[Workspace, Held], now: datetime) -> Judged | None:
    """Say what holds for a policy of the floor in all workspaces together; None: nothing is known that was not told."""
    if not held:
        return _nowhere(each)
    answers = {key: _current(each, one) for key, one in held.items()}
    refused = {key: said for key, said in answers.items() if said is not None and not said.accepted}
    if refused:
        return _refused(each, refused)
    behind = [key for key, said in answers.items() if said is None or not _is_enforced(said)]
    if behind and statuses.is_confirmed(each) and all(held[key].outage for key in behind):
        return None  # An outage takes nothing out of force.
    if behind:
        return _behind(each, behind)
    truth, reason, message = statuses.effect(each.resource, now)
    text = message.replace("The store enforces", "Every workspace enforces")
    return Judged(conditions=_accepted(truth, reason, text), in_force=_any_in_force(answers))


def _current(each: PolicyObject, held: Held) -> ObjectAnswer | None:
    """Return what a workspace said of this generation; None: nothing yet, or it cannot be asked."""
    said = held.floor.get(each.key)
    if said is None or (said.uid, said.offered.generation) != (each.resource.uid, each.resource.generation):
        return None
    return said


def _is_enforced(said: ObjectAnswer) -> bool:
    return said.in_force is not None and said.in_force.digest == said.offered.digest


def _nowhere(each: PolicyObject) -> Judged:
    """Without a workspace there is nobody to ask, so the operator compiles it itself."""
    verdict = compile_ruleset([each.resource], StoreDefaults(), workspace="").verdicts[each.key]
    if verdict.accepted:
        text = "There is no workspace yet; each will have it from its first moment"
        return Judged(conditions=_accepted("True", Reason.NO_WORKSPACES, text))
    return Judged(conditions=statuses.not_accepted(each, verdict.problems, None))


def _refused(each: PolicyObject, refused: Mapping[Workspace, ObjectAnswer]) -> Judged:
    said = refused[min(refused, key=_name)]
    conditions = statuses.not_accepted(each, said.problems, said.in_force)
    return Judged(conditions=conditions, in_force=said.in_force)


def _behind(each: PolicyObject, behind: Sequence[Workspace]) -> Judged:
    text = f"Not in force in {named(behind)}"
    reason = Reason.NOT_IN_FORCE_EVERYWHERE
    return Judged(
        conditions=(
            Condition(type="Accepted", status="Unknown", reason=reason, message=text),
            Condition(type="InForce", status="False", reason=reason, message=text),
            Condition(type="Ready", status="False", reason=reason, message=text),
            Condition(type="Reconciling", status="True", reason=reason, message="It is tried again until it succeeds"),
        ),
        in_force=statuses.known(each.status),
    )


def named(keys: Sequence[Workspace]) -> str:
    """Return the names of workspaces, sorted and bounded."""
    names = sorted(_name(key) for key in keys)
    more = len(names) - WORKSPACES_NAMED_MAX
    return ", ".join(names[:WORKSPACES_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _name(key: Workspace) -> str:
    return f"{key.namespace} of {key.store}"


def _accepted(truth: Truth, reason: Reason, text: str) -> tuple[Condition, ...]:
    return (
        Condition(type="Accepted", status="True", reason=Reason.ACCEPTED, message="It was understood"),
        Condition(type="InForce", status=truth, reason=reason, message=text),
        Condition(type="Ready", status="True", reason=reason, message=text),
    )


def _any_in_force(answers: Mapping[Workspace, ObjectAnswer | None]) -> Version | None:
    return next((said.in_force for said in answers.values() if said is not None), None)
