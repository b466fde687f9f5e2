"""Notes on policies that provably overlap and disagree: information for both authors, no reason to refuse."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from memwarden_policy import bounds
from memwarden_policy.model import Action, Problem
from memwarden_policy.rules import Policy, Rule

Place = tuple[Policy, int, Rule]


def notes_on(policies: Iterable[Policy]) -> Mapping[str, tuple[Problem, ...]]:
    """Return the notes of each policy, by its address.

    Two rules disagree where priority, selector and condition are the same and the action is not.
    """
    groups: dict[Hashable, list[Place]] = defaultdict(list)
    for policy in policies:
        if not policy.is_audit:
            for index, rule in enumerate(policy.rules):
                kind = policy.address.partition("/")[0]
                groups[kind, policy.priority, policy.selector, rule.condition].append((policy, index, rule))
    notes: dict[str, list[Problem]] = defaultdict(list)
    for places in groups.values():
        for place in places:
            _note(place, places, notes[place[0].address])
    return {address: tuple(found) for address, found in notes.items() if found}


def _note(place: Place, places: list[Place], found: list[Problem]) -> None:
    policy, index, rule = place
    other = _first_that_disagrees(policy, rule.action, places)
    if other is None or len(found) >= bounds.NOTES_PER_OBJECT_MAX:
        return
    there, _, theirs = other
    winner = max(rule.action, theirs.action)
    message = (
        f"{there.address}/{theirs.name} says {theirs.action} of the same candidates at the same priority; {winner} wins"
    )
    found.append(Problem(path=f"spec.admission[{index}]", reason="Contradicts", message=message))


def _first_that_disagrees(policy: Policy, action: Action, places: list[Place]) -> Place | None:
    others = (each for each in places if each[0].address != policy.address and each[2].action is not action)
    return min(others, key=lambda each: each[0].address, default=None)
