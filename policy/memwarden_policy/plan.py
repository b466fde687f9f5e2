"""What a change of policies would do to the memories that exist, counted before it is applied."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from memwarden_policy import decide, recall
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Action, ActorKind, Caller, Candidate, Memory, Ordered, Point, Recall
from memwarden_policy.ruleset import Ruleset

SAMPLE_PER_COUNT_MAX = 10
CALLERS_REMEMBERED_MAX = 4_096
PLACES_REMEMBERED_MAX = 16_384
NOBODY: Final = Caller(actor_kind=ActorKind.API_KEY, actor_name="")
# What is counted, by the word that is new. An Accept or Allow that is new is counted too: the change loosens.
COUNTS: Final[Mapping[type[Ordered], Mapping[str, str]]] = {
    Action: {
        Action.ACCEPT: "wouldAccept",
        Action.REQUIRE_CONFIRMATION: "wouldRequireConfirmation",
        Action.QUARANTINE: "wouldQuarantine",
        Action.REJECT: "wouldReject",
    },
    Recall: {Recall.ALLOW: "wouldShow", Recall.FLAG: "wouldFlag", Recall.HIDE: "wouldHide"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """One memory that the change would treat otherwise."""

    memory: str
    domain: str
    count: str  # Under which it is counted.
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a change would do."""

    memories: int = 0  # All that were looked at.
    counts: Mapping[str, int] = field(default_factory=dict)
    sample: tuple[Affected, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the answer of `POST /v1/policies/plan`."""
        sample = [
            {"memory": each.memory, "domain": each.domain, "count": each.count, "reason": each.reason}
            for each in self.sample
        ]
        return {"memories": self.memories, "counts": dict(self.counts), "sample": sample}


def impact(before: Ruleset, after: Ruleset, memories: Iterable[Memory], now: datetime) -> Impact:
    """Ask both rulesets of each memory, as if it were proposed and read now by whom it was proposed by; count changes.

    A memory that a person confirmed needs no confirmation again. Takes one memory at a time and keeps a bounded sample.
    """
    comparison = _Comparison(before, after, now)
    counts: Counter[str] = Counter({name: 0 for names in COUNTS.values() for name in names.values()})
    sample: list[Affected] = []
    seen = 0
    for memory in memories:
        seen += 1
        for count, reason in comparison.changes(memory):
            counts[count] += 1
            if counts[count] <= SAMPLE_PER_COUNT_MAX:
                domain = memory.statement.domain
                sample.append(Affected(memory=memory.id, domain=domain, count=count, reason=reason))
    return Impact(
        memories=seen, counts=counts, sample=tuple(sorted(sample, key=lambda each: (each.count, each.memory)))
    )


class _Comparison:
    """Two rulesets, and what was found out about places and callers so far."""

    def __init__(self, before: Ruleset, after: Ruleset, now: datetime) -> None:
        self._before, self._after, self._now = before, after, now
        self._roles: dict[Caller, tuple[frozenset[str], frozenset[str]]] = {}
        self._same: dict[tuple[object, ...], bool] = {}

    def changes(self, memory: Memory) -> Iterable[tuple[str, str]]:
        """Return under what a memory is counted, and why."""
        caller = memory.proposer or NOBODY
        roles = self._roles_of(caller)
        if not self._is_same(Point.ADMISSION, memory.statement, roles):
            yield from self._admission(memory, caller, roles)
        if not self._is_same(Point.RECALL, memory.statement, roles):
            yield from self._recall(memory, caller, roles)

    def _roles_of(self, caller: Caller) -> tuple[frozenset[str], frozenset[str]]:
        held = self._roles.get(caller)
        if held is None:
            if len(self._roles) >= CALLERS_REMEMBERED_MAX:
                self._roles.clear()
            held = (rights(self._before, caller, self._now).roles, rights(self._after, caller, self._now).roles)
            self._roles[caller] = held
        return held

    def _is_same(self, point: Point, stated: Candidate, roles: tuple[frozenset[str], frozenset[str]]) -> bool:
        """Say whether both rulesets hold the same policies for this place: then nothing changes, whatever it says."""
        place = (point, stated.domain, stated.memory_type, stated.category, roles)
        same = self._same.get(place)
        if same is None:
            if len(self._same) >= PLACES_REMEMBERED_MAX:
                self._same.clear()
            had, has = self._before.layers[point], self._after.layers[point]
            same = roles[0] == roles[1] and all(
                one.select(stated, roles[0]) == other.select(stated, roles[1])
                for one, other in ((had.floor, has.floor), (had.namespace, has.namespace))
            )
            same = same and (point is Point.RECALL or self._before.store == self._after.store)
            self._same[place] = same
        return same

    def _admission(
        self, memory: Memory, caller: Caller, roles: tuple[frozenset[str], frozenset[str]]
    ) -> Iterable[tuple[str, str]]:
        facts = [Facts(candidate=memory.statement, caller=caller, roles=each, now=self._now) for each in roles]
        was, then = decide.judged(self._before, facts[0]), decide.judged(self._after, facts[1])
        is_settled = memory.confirmed and then.action in (Action.ACCEPT, Action.REQUIRE_CONFIRMATION)
        if was.action is not then.action and not is_settled:
            yield COUNTS[Action][then.action], then.reason

    def _recall(
        self, memory: Memory, caller: Caller, roles: tuple[frozenset[str], frozenset[str]]
    ) -> Iterable[tuple[str, str]]:
        facts = [
            Facts(candidate=memory.statement, caller=caller, roles=each, now=self._now, memory=memory) for each in roles
        ]
        was, then = recall.judged(self._before, facts[0]), recall.judged(self._after, facts[1])
        if was.action is not then.action:
            yield COUNTS[Recall][then.action], then.reason
