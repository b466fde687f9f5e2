"""What a person's feedback does to the confidence of a memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import groupby
from typing import Final

from memwarden_policy import confidence, voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Caller, Memory, Point
from memwarden_policy.rules import Evaluation, FeedbackNumbers, Policy
from memwarden_policy.ruleset import Ruleset

LEAST, MOST = Decimal(0), Decimal(1)


class FeedbackKind(StrEnum):
    """What a person says of a memory: it is right, it is wrong, it should read otherwise."""

    CONFIRM = "confirm"
    REJECT = "reject"
    EDIT = "edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Confirming and rejecting add to confidence, an edit sets it."""

    confirm: Decimal = Decimal("0.100")
    reject: Decimal = Decimal("-0.300")
    edit: Decimal = Decimal("0.800")
    deletes_on_reject: bool = False


DEFAULT: Final = Feedback()


def apply(value: Decimal, kind: FeedbackKind, settings: Feedback = DEFAULT) -> Decimal:
    """Return the confidence after the feedback, from 0 to 1 in three places."""
    match kind:
        case FeedbackKind.CONFIRM:
            moved = value + settings.confirm
        case FeedbackKind.REJECT:
            moved = value + settings.reject
        case FeedbackKind.EDIT:
            moved = settings.edit
    return confidence.rounded(min(MOST, max(LEAST, moved)))


def settings(ruleset: Ruleset, memory: Memory, caller: Caller, now: datetime) -> Feedback:
    """Return what feedback on this memory does.

    The highest priority that says anything of feedback speaks, with the lowest of its numbers; the floor caps them.
    Rejection deletes where a policy that speaks says so.
    """
    roles = rights(ruleset, caller, now).roles
    facts = Facts(candidate=memory.statement, caller=caller, roles=roles, now=now, memory=memory)
    chosen = voices.choose(ruleset.layers[Point.UPDATE], Evaluation(facts))
    own, cap = _stated(chosen.namespace), _stated(chosen.floor)
    return Feedback(
        confirm=_least(own.confirm, cap.confirm, DEFAULT.confirm),
        reject=_least(own.reject, cap.reject, DEFAULT.reject),
        edit=_least(own.edit, cap.edit, DEFAULT.edit),
        deletes_on_reject=own.deletes_on_reject or cap.deletes_on_reject,
    )


def _least(own: Decimal | None, cap: Decimal | None, default: Decimal) -> Decimal:
    given = default if own is None else own
    return given if cap is None else min(given, cap)


def _stated(policies: Iterable[Policy]) -> FeedbackNumbers:
    """Return the numbers of the highest priority that says anything of feedback, the lowest of each."""
    speaking = [each for each in policies if each.feedback is not None and not each.is_audit]
    for _, level in groupby(speaking, key=lambda each: each.priority):
        held = [each.feedback for each in level if each.feedback is not None]
        return FeedbackNumbers(
            confirm=min((each.confirm for each in held if each.confirm is not None), default=None),
            reject=min((each.reject for each in held if each.reject is not None), default=None),
            edit=min((each.edit for each in held if each.edit is not None), default=None),
            deletes_on_reject=any(each.deletes_on_reject for each in held),
        )
    return FeedbackNumbers()
