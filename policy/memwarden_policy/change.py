"""Decides whether a memory may be updated or deleted, by the rules of its workspace."""

from dataclasses import replace
from datetime import datetime

from memwarden_policy import voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.demands import joined
from memwarden_policy.model import Caller, Change, Changed, Memory, MemoryType, Point, RuleOutcome, SourceKind
from memwarden_policy.rules import Evaluation, Policy
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.voices import Voices, builtin

PROTECT = "provenance.protect"


def judge_update(ruleset: Ruleset, memory: Memory, caller: Caller, now: datetime, source: SourceKind) -> Changed:
    """Return whether the caller may change the memory on the word of this source; access is asked before."""
    return _judge(ruleset, Point.UPDATE, memory, (caller, now), source)


def judge_delete(ruleset: Ruleset, memory: Memory, caller: Caller, now: datetime, source: SourceKind) -> Changed:
    """Return whether the caller may delete the memory on the word of this source; access is asked before."""
    return _judge(ruleset, Point.DELETE, memory, (caller, now), source)


def _judge(ruleset: Ruleset, point: Point, memory: Memory, by: tuple[Caller, datetime], source: SourceKind) -> Changed:
    caller, now = by
    held = rights(ruleset, caller, now)
    is_own_word = caller.is_person and source is SourceKind.USER_STATED
    if source not in held.may_claim and not is_own_word:
        note = f"the caller may not claim the source {source}"
        outcome = builtin("may-claim", Change.REJECT, note)
        return Changed(action=Change.REJECT, rules=(outcome,), reason=f"{outcome.address}: {note}")
    facts = Facts(candidate=memory.statement, caller=caller, roles=held.roles, now=now, memory=memory)
    heard = voices_on(ruleset, facts, source, point)
    heard.speaking += _always(point, facts)
    if point is Point.UPDATE:
        evaluation = Evaluation(facts)
        heard.join(voices.sources(voices.choose(ruleset.layers[point], evaluation).all, evaluation, Change.REJECT))
    answer = voices.combined(heard)
    action = Change(answer.action)
    demands = [each.demand for each in heard.in_order if each.demand is not None]
    waits = action is Change.REQUIRE_CONFIRMATION
    return Changed(
        action=action, rules=answer.rules, reason=answer.reason, confirmation=joined(demands) if waits else None
    )


def voices_on(ruleset: Ruleset, facts: Facts, source: SourceKind, point: Point = Point.UPDATE) -> Voices:
    """Return what the rules say of a change of the memory in `facts`; where none speaks, that it is allowed."""
    evaluation = Evaluation(facts)
    chosen = voices.choose(ruleset.layers[point], evaluation)
    heard = voices.speak(chosen.floor, point, evaluation)
    heard.join(voices.speak(chosen.namespace, point, evaluation))
    if not heard.speaking:
        heard.add(builtin(f"{point}-default", Change.ALLOW))
    for policy in chosen.all:
        heard.join(_protections(policy, facts.remembered, source))
    return heard


def _protections(policy: Policy, memory: Memory, source: SourceKind) -> Voices:
    heard = Voices()
    if any(each.forbids(memory, source) for each in policy.provenance.protections):
        given = SourceKind.USER_CONFIRMED if memory.confirmed else memory.statement.source
        note = f"what is {given} is not changed on the word of {source}"
        outcome = RuleOutcome(policy=policy.address, rule=PROTECT, action=Change.REJECT, note=note)
        heard.add(replace(outcome, counted=not policy.is_audit))
    return heard


def _always(point: Point, facts: Facts) -> list[RuleOutcome]:
    """A procedure changes only through a version that a person approved: a person's own hand is that approval."""
    is_procedure = facts.candidate.memory_type is MemoryType.PROCEDURAL
    if point is Point.UPDATE and is_procedure and not facts.caller.is_person:
        note = "a procedure changes only through a version that a person approved"
        return [builtin("procedural", Change.REQUIRE_CONFIRMATION, note)]
    return []
