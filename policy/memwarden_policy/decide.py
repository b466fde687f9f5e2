"""Decides what is done with a candidate: total, deterministic, and never milder than the floor."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from memwarden_policy import change, truth, voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.demands import joined
from memwarden_policy.model import (
    Action,
    Answer,
    Caller,
    Candidate,
    Change,
    Decision,
    Known,
    Memory,
    MemoryType,
    Point,
    RuleOutcome,
)
from memwarden_policy.rules import Evaluation
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.voices import Voices, builtin

NOTHING_KNOWN: Final = Known()
WAITING: Final = frozenset({Action.REQUIRE_CONFIRMATION, Action.QUARANTINE})
# What a rule on updates says, said of the candidate that would take the memory's place.
AS_ACTION: Final = {
    Change.ALLOW: Action.ACCEPT,
    Change.REQUIRE_CONFIRMATION: Action.REQUIRE_CONFIRMATION,
    Change.REJECT: Action.REJECT,
}


def decide(
    ruleset: Ruleset, candidate: Candidate, caller: Caller, now: datetime, known: Known = NOTHING_KNOWN
) -> Decision:
    """Return what the ruleset says of the candidate. Whether the caller may write in the domain is asked before."""
    held = rights(ruleset, caller, now)
    if candidate.source not in held.may_claim:
        return _refused_claim(candidate)
    facts = Facts(candidate=candidate, caller=caller, roles=held.roles, now=now)
    return judged(ruleset, facts, known)


def judged(ruleset: Ruleset, facts: Facts, known: Known = NOTHING_KNOWN) -> Decision:
    """Return what the rules say, whatever the caller may claim."""
    return answered(ruleset, Evaluation(facts), known)


def answered(ruleset: Ruleset, evaluation: Evaluation, known: Known = NOTHING_KNOWN) -> Decision:
    """Return the same for facts of which some conditions may have been asked before."""
    facts = evaluation.facts
    chosen = voices.choose(ruleset.layers[Point.ADMISSION], evaluation)
    heard = voices.speak(chosen.floor, Point.ADMISSION, evaluation)
    namespace = voices.speak(chosen.namespace, Point.ADMISSION, evaluation)
    if not namespace.speaking:
        namespace.add(builtin("admission-default", ruleset.store.admission_default))
    heard.join(namespace)
    heard.join(voices.sources(chosen.all, evaluation, Action.REJECT))
    found = truth.found(chosen.all, evaluation)
    heard.join(truth.voices_of(found, known))
    heard.speaking += _always(facts, known)
    if known.supersedes is not None:
        heard.join(_superseding(ruleset, facts, known.supersedes))
    _demand_reference(heard, facts.candidate)
    return _decision(voices.combined(heard), heard, found.detected)


def kept(candidate: Candidate, decision: Decision) -> Candidate:
    """Return the candidate as it is stored: where a reference is demanded, the address stands for what it leads to."""
    return replace(candidate, content=candidate.source_uri, value="") if decision.reference else candidate


def _always(facts: Facts, known: Known) -> list[RuleOutcome]:
    """Return what holds in every workspace, whatever its policies say."""
    candidate, found = facts.candidate, []
    if candidate.is_sensitive:
        found.append(builtin("sensitive", Action.REQUIRE_CONFIRMATION))
    if known.was_rejected:
        action = Action.REQUIRE_CONFIRMATION if facts.caller.is_person else Action.REJECT
        found.append(builtin("rejected-before", action, "a person rejected this claim before"))
    if candidate.memory_type is MemoryType.PROCEDURAL and known.supersedes is not None:
        note = "a procedure changes only through a version that a person approved"
        found.append(builtin("procedural", Action.REQUIRE_CONFIRMATION, note))
    return found


def _superseding(ruleset: Ruleset, facts: Facts, memory: Memory) -> Voices:
    """To take a memory's place is to update it: its rules on updates speak."""
    heard = change.voices_on(ruleset, replace(facts, memory=memory, candidate=memory.statement), facts.candidate.source)
    translated = Voices()
    for outcome in (*heard.speaking, *heard.silent):
        action = AS_ACTION[Change(outcome.action)]
        if action is not Action.ACCEPT:
            translated.add(replace(outcome, action=action))
    return translated


def _demand_reference(heard: Voices, candidate: Candidate) -> None:
    if not any(each.reference for each in heard.speaking):
        return
    if candidate.envelope.is_vault:
        note = "a reference is kept here, not a copy, and what a vault seals is a copy"
        heard.add(builtin("reference", Action.REJECT, note))
    elif not candidate.source_uri:
        note = "a reference is kept here, not a copy: give `source_uri`"
        heard.add(builtin("reference", Action.REJECT, note))


def _refused_claim(candidate: Candidate) -> Decision:
    note = f"the caller may not claim the source {candidate.source}"
    outcome = builtin("may-claim", Action.REJECT, note)
    return Decision(action=Action.REJECT, rules=(outcome,), reason=f"{outcome.address}: {note}")


def _decision(answer: Answer, heard: Voices, detected: tuple[str, ...]) -> Decision:
    action = Action(answer.action)
    demands = [each.demand for each in heard.in_order if each.demand is not None]
    return Decision(
        action=action,
        rules=answer.rules,
        reason=answer.reason,
        confirmation=joined(demands) if action in WAITING else None,
        reference=action is not Action.REJECT and any(each.reference for each in heard.speaking),
        detected=detected,
    )
