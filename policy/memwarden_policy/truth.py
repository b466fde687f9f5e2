"""The source of truth: what a policy names needs the system of record or a person, however sure a model is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memwarden_policy import voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.globs import any_matches
from memwarden_policy.model import Action, Caller, Candidate, Known, Point, RecordAnswer, RuleOutcome
from memwarden_policy.rules import Evaluation, Policy
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.voices import Voices

SOURCE_OF_TRUTH: Final = "sourceOfTruth"
NOTES: Final = {
    RecordAnswer.NOT_ASKED: "it needs the system of record or a person",
    RecordAnswer.DIFFERS: "the system of record says otherwise",
    RecordAnswer.SILENT: "the system of record did not answer",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Which policies a candidate falls under by its categories, and the categories that its content shows."""

    under: tuple[tuple[Policy, str], ...]  # With the first category that each names, by name.
    detected: tuple[str, ...]


def categories(ruleset: Ruleset, candidate: Candidate, caller: Caller, now: datetime) -> tuple[str, ...]:
    """Return the categories for which the system of record must be asked, claimed or detected; empty: none."""
    roles = rights(ruleset, caller, now).roles
    evaluation = Evaluation(Facts(candidate=candidate, caller=caller, roles=roles, now=now))
    chosen = voices.choose(ruleset.layers[Point.ADMISSION], evaluation)
    under = found(chosen.all, evaluation).under
    return tuple(sorted({category for policy, category in under if not policy.is_audit}))


def found(policies: Sequence[Policy], evaluation: Evaluation) -> Found:
    """Look at a candidate by every detection of the policies; one that fails has detected: it opens no door."""
    named = [(policy, policy.truth) for policy in policies if policy.truth is not None]
    if not named:
        return Found((), ())
    by_policy = {
        policy.address: {each.category for each in truth.detections if evaluation.holds(each.condition) is not False}
        for policy, truth in named
    }
    detected = {each for policy, _ in named if not policy.is_audit for each in by_policy[policy.address]}
    claimed = evaluation.facts.candidate.category
    under = []
    for policy, truth in named:
        candidates = sorted(detected | by_policy[policy.address] | ({claimed} if claimed else set()))
        hit = next((each for each in candidates if any_matches(truth.categories, each)), None)
        if hit is not None:
            under.append((policy, hit))
    return Found(tuple(under), tuple(sorted(detected)))


def voices_of(what: Found, known: Known) -> Voices:
    """Hold what falls under a category, unless the system of record agrees."""
    heard = Voices()
    if known.record is RecordAnswer.AGREES:
        return heard
    note = NOTES[known.record] + (f": {known.record_note}" if known.record_note else "")
    for policy, category in what.under:
        outcome = RuleOutcome(
            policy=policy.address,
            rule=SOURCE_OF_TRUTH,
            action=Action.REQUIRE_CONFIRMATION,
            counted=not policy.is_audit,
            note=f"category {category}: {note}",
        )
        heard.add(outcome)
    return heard
