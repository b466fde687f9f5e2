"""Says a decision in one sentence that a person understands, with each rule that took part."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final

from memwarden_policy.demands import Confirmation
from memwarden_policy.model import Action, Answer, Change, Changed, Decision, Ordered, Recall, RuleOutcome

# By what was asked, then by the word: what came of it, and what a rule that did not prevail would have done.
WORDS: Final[Mapping[type[Ordered], Mapping[str, tuple[str, str]]]] = {
    Action: {
        Action.ACCEPT: ("Accepted", "would accept"),
        Action.REQUIRE_CONFIRMATION: ("Waits for a person", "would ask a person"),
        Action.QUARANTINE: ("Set apart until a person looks at it", "would set it apart"),
        Action.REJECT: ("Refused", "would refuse"),
    },
    Recall: {
        Recall.ALLOW: ("Shown", "would show it"),
        Recall.FLAG: ("Shown with a mark", "would mark it"),
        Recall.HIDE: ("Hidden from this reader", "would hide it"),
    },
    Change: {
        Change.ALLOW: ("Done", "would allow it"),
        Change.REQUIRE_CONFIRMATION: ("Waits for a person", "would ask a person"),
        Change.REJECT: ("Refused", "would refuse"),
    },
}
BUILTINS: Final[Mapping[str, str]] = {
    "builtin/admission-default": "the store's default, since no rule of the workspace matches",
    "builtin/sensitive": "the rule that nothing sensitive is kept without a person's leave",
    "builtin/recall-default": "the rule that what is not hidden is shown",
    "builtin/update-default": "the rule that what is not refused may be changed",
    "builtin/delete-default": "the rule that what is not refused may be deleted",
}


def sentence(answer: Answer) -> str:
    """Return one sentence: the outcome, what it needs, the rules behind it, those overruled, and those on trial."""
    word = answer.action
    behind = [each for each in answer.rules if each.counted and each.action is word]
    parts = [f"by {_listed(_named(each) for each in behind)}"]
    parts += [f"{_listed(names)} {_words(wish)[1]}" for wish, names in _by_action(answer, counted=True, but=word)]
    parts += [f"on trial, {_listed(names)} {_words(wish)[1]}" for wish, names in _by_action(answer, counted=False)]
    return f"{_words(word)[0]}{_needs(answer)} {'; '.join(parts)}."


def _words(action: Ordered) -> tuple[str, str]:
    return WORDS[type(action)][action]


def _needs(answer: Answer) -> str:
    if not isinstance(answer, Decision | Changed) or answer.confirmation is None:
        return " without its content, as a reference," if isinstance(answer, Decision) and answer.reference else ""
    return _confirmation(answer.confirmation)


def _confirmation(needed: Confirmation) -> str:
    if not needed.by and needed.people == 1:
        return ""
    who = _listed(each.shown for each in needed.by)
    people = "two people" if needed.people > 1 else ""
    return f" ({', among them '.join(part for part in (people, who) if part)})"


def _by_action(answer: Answer, *, counted: bool, but: Ordered | None = None) -> list[tuple[Ordered, list[str]]]:
    """Return the other rules that took part, by what they say."""
    others = [each for each in answer.rules if each.counted is counted and each.action is not but]
    ordered = sorted(others, key=lambda each: (-each.action.rank, each.address))
    return [(wish, [_named(each) for each in group]) for wish, group in groupby(ordered, key=lambda each: each.action)]


def _named(outcome: RuleOutcome) -> str:
    name = BUILTINS.get(outcome.address, outcome.address)
    if outcome.failed:
        return f"{name} (its condition failed)"
    why = outcome.message or outcome.note
    return f"{name} ({why})" if why else name


def _listed(words: Iterable[str]) -> str:
    found = list(dict.fromkeys(words))
    return " and ".join([", ".join(found[:-1]), found[-1]]) if len(found) > 1 else "".join(found)
