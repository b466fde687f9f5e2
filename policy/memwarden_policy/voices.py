"""Lets rules speak: the highest priority that matches is heard, the strictest word of it counts, Audit is recorded."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from memwarden_policy import bounds
from memwarden_policy.model import Answer, Ordered, Point, RuleOutcome
from memwarden_policy.rules import Evaluation, Policy
from memwarden_policy.ruleset import Layers

BUILTIN = "builtin"


@dataclass(slots=True)
class Voices:
    """The rules that speak, and those that are recorded without effect."""

    speaking: list[RuleOutcome] = field(default_factory=list)
    silent: list[RuleOutcome] = field(default_factory=list)

    def add(self, outcome: RuleOutcome) -> None:
        (self.speaking if outcome.counted else self.silent).append(outcome)

    @property
    def in_order(self) -> list[RuleOutcome]:
        """What counts, the strictest first, then by name: the same whatever the order of the objects."""
        return sorted(self.speaking, key=lambda each: (-each.action.rank, each.policy, each.rule))

    def join(self, other: "Voices") -> None:
        self.speaking += other.speaking
        self.silent += other.silent


def builtin(rule: str, action: Ordered, note: str = "") -> RuleOutcome:
    """Return what a rule says that no policy can turn off."""
    return RuleOutcome(policy=BUILTIN, rule=rule, action=action, note=note)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The policies that cover what is asked about: the highest priority first."""

    floor: list[Policy]
    namespace: list[Policy]

    @property
    def all(self) -> list[Policy]:
        return [*self.floor, *self.namespace]


def choose(layers: Layers, evaluation: Evaluation) -> Chosen:
    """Return the policies whose selector covers what is asked about, and the caller's roles."""
    facts = evaluation.facts
    return Chosen(
        floor=layers.floor.select(facts.candidate, facts.roles),
        namespace=layers.namespace.select(facts.candidate, facts.roles),
    )


def speak(policies: list[Policy], point: Point, evaluation: Evaluation) -> Voices:
    """Let the highest priority speak at which a rule of an Enforce policy matches; hear every Audit policy."""
    voices = Voices()
    for _, level in groupby((each for each in policies if not each.is_audit), key=lambda each: each.priority):
        _hear(level, point, evaluation, voices)
        if voices.speaking:
            break
    _hear((each for each in policies if each.is_audit), point, evaluation, voices)
    return voices


def _hear(policies: Iterable[Policy], point: Point, evaluation: Evaluation, voices: Voices) -> None:
    """Collect what each rule says that matches or fails."""
    for policy in policies:
        for rule in policy.rules.get(point, ()):
            answer = evaluation.holds(rule.condition)
            if answer is False:
                continue
            voices.add(rule.outcome if answer is True else _failed(rule.outcome, str(answer)))


def is_heard(policy: Policy, point: Point, evaluation: Evaluation) -> bool:
    """Say whether anything of a policy may take part in the answer; False is certain."""
    if policy.truth is not None or policy.provenance.objection(evaluation.facts.candidate):
        return True
    return any(evaluation.holds(rule.condition) is not False for rule in policy.rules.get(point, ()))


def _failed(outcome: RuleOutcome, note: str) -> RuleOutcome:
    """The mildest word does not match where its rule fails, a stricter one does."""
    is_mildest = outcome.action.rank == 0
    return replace(outcome, counted=outcome.counted and not is_mildest, failed=True, note=note)


def sources(policies: Iterable[Policy], evaluation: Evaluation, action: Ordered) -> Voices:
    """Say this of a source that a policy does not take, whatever the priorities."""
    voices = Voices()
    for policy in policies:
        objection = policy.provenance.objection(evaluation.facts.candidate)
        if objection:
            voices.add(RuleOutcome(policy=policy.address, rule=objection, action=action, counted=not policy.is_audit))
    return voices


def combined(voices: Voices) -> Answer:
    """Return the strictest word that counts, all that took part, and the reason in one line."""
    counted = voices.in_order
    first = counted[0]
    recorded = (*counted, *sorted(voices.silent, key=lambda each: (each.policy, each.rule)))
    others = sum(outcome.action is first.action for outcome in counted) - 1
    more = f" and {others} more" if others else ""
    advice = first.message or ("" if first.failed else first.note)
    because = f": {advice}" if advice else ""
    kept = recorded[: bounds.OUTCOMES_PER_DECISION_MAX]
    return Answer(action=first.action, rules=kept, reason=f"{first.action} by {first.address}{more}{because}")
