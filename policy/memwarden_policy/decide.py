"""Decides what is done with a candidate: total, deterministic, and never milder than the floor."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from memwarden_policy import bounds
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Action, Caller, Candidate, Decision, RuleOutcome
from memwarden_policy.rules import Evaluation, Policy
from memwarden_policy.ruleset import Ruleset

BUILTIN = "builtin"


def decide(ruleset: Ruleset, candidate: Candidate, caller: Caller, now: datetime) -> Decision:
    """Return what the ruleset says of the candidate. Whether the caller may write in the domain is asked before."""
    held = rights(ruleset, caller, now)
    if candidate.source not in held.may_claim:
        return _refused_claim(candidate)
    evaluation = Evaluation(Facts(candidate=candidate, caller=caller, roles=held.roles, now=now))
    floor = _speak(ruleset.floor.select(candidate, held.roles), evaluation)
    namespace = _speak(ruleset.policies.select(candidate, held.roles), evaluation)
    speaking = [*floor.speaking, *namespace.speaking]
    if not namespace.speaking:
        default = ruleset.store.admission_default
        speaking.append(RuleOutcome(policy=BUILTIN, rule="admission-default", action=default))
    if candidate.is_sensitive:
        speaking.append(RuleOutcome(policy=BUILTIN, rule="sensitive", action=Action.REQUIRE_CONFIRMATION))
    return _decision(speaking, [*floor.silent, *namespace.silent])


@dataclass(slots=True)
class Voices:
    """The rules that speak of a candidate, and those that are recorded without effect."""

    speaking: list[RuleOutcome] = field(default_factory=list)
    silent: list[RuleOutcome] = field(default_factory=list)


def _speak(policies: list[Policy], evaluation: Evaluation) -> Voices:
    """Let the highest priority speak at which a rule of an Enforce policy matches; hear every Audit policy."""
    voices = Voices()
    for _, level in groupby((each for each in policies if not each.is_audit), key=lambda each: each.priority):
        _hear(level, evaluation, voices)
        if voices.speaking:
            break
    _hear((each for each in policies if each.is_audit), evaluation, voices)
    return voices


def _hear(policies: Iterable[Policy], evaluation: Evaluation, voices: Voices) -> None:
    """Collect what each rule says that matches or fails."""
    for policy in policies:
        for rule in policy.rules:
            answer = evaluation.holds(rule.condition)
            if answer is False:
                continue
            outcome = rule.outcome if answer is True else _failed(rule.outcome, str(answer))
            (voices.speaking if outcome.counted else voices.silent).append(outcome)


def _failed(outcome: RuleOutcome, note: str) -> RuleOutcome:
    """A failing Accept does not match, a stricter action does."""
    return replace(outcome, counted=outcome.counted and outcome.action is not Action.ACCEPT, failed=True, note=note)


def _refused_claim(candidate: Candidate) -> Decision:
    note = f"the caller may not claim the source {candidate.source}"
    outcome = RuleOutcome(policy=BUILTIN, rule="may-claim", action=Action.REJECT, note=note)
    return Decision(action=Action.REJECT, rules=(outcome,), reason=f"{outcome.address}: {note}")


def _decision(speaking: list[RuleOutcome], silent: list[RuleOutcome]) -> Decision:
    # Strictest first, then by name: what is behind the action leads, whatever the order of the objects.
    counted = sorted(speaking, key=lambda each: (-each.action.rank, each.policy, each.rule))
    action = counted[0].action
    recorded = (*counted, *sorted(silent, key=lambda each: (each.policy, each.rule)))
    others = sum(outcome.action is action for outcome in counted) - 1
    more = f" and {others} more" if others else ""
    kept = recorded[: bounds.OUTCOMES_PER_DECISION_MAX]
    return Decision(action=action, rules=kept, reason=f"{action} by {counted[0].address}{more}")
