"""What a change of policies would do to the memories that exist, counted before it is applied."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from memwarden_policy import cutting, decide, recall, retention, voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Action, ActorKind, Caller, Candidate, Memory, Ordered, Point, Recall
from memwarden_policy.retention import Ending
from memwarden_policy.rules import Evaluation, Policy
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
WOULD_EXPIRE: Final = "wouldExpire"
WOULD_REDACT: Final = "wouldRedact"


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
    names = [name for names in COUNTS.values() for name in names.values()]
    counts: Counter[str] = Counter(dict.fromkeys((*names, WOULD_EXPIRE, WOULD_REDACT), 0))
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


Pair = tuple[frozenset[str], frozenset[str]]  # The roles of a caller, before and after.


@dataclass(frozen=True, slots=True)
class _Place:
    """What is the same for all memories of one domain, type, category and caller."""

    changed: tuple[Policy, ...]  # The policies that only one of the two rulesets holds.
    is_open: bool  # True: something else changed as well, so both must be asked.


class _Comparison:
    """Two rulesets, and what was found out about places and callers so far."""

    def __init__(self, before: Ruleset, after: Ruleset, now: datetime) -> None:
        self._before, self._after, self._now = before, after, now
        self._roles: dict[Caller, Pair] = {}
        self._places: dict[tuple[object, ...], _Place] = {}

    def changes(self, memory: Memory) -> Iterator[tuple[str, str]]:
        """Return under what a memory is counted, and why."""
        if expires := self._expires(memory):
            yield WOULD_EXPIRE, expires.by
        caller = memory.proposer or NOBODY
        roles = self._roles_of(caller)
        before, after = (
            cutting.cuts(ruleset, memory.statement, held)
            for ruleset, held in zip((self._before, self._after), roles, strict=True)
        )
        if before != after and cutting.would_cut(memory.statement, after):
            yield WOULD_REDACT, "redaction"
        pairs = self._evaluations(Point.ADMISSION, memory, caller, roles)
        if pairs is not None:
            was, then = decide.answered(self._before, pairs[0]), decide.answered(self._after, pairs[1])
            is_settled = memory.confirmed and then.action in (Action.ACCEPT, Action.REQUIRE_CONFIRMATION)
            if was.action is not then.action and not is_settled:
                yield COUNTS[Action][then.action], then.reason
        pairs = self._evaluations(Point.RECALL, memory, caller, roles)
        if pairs is not None:
            had, has = recall.answered(self._before, pairs[0]), recall.answered(self._after, pairs[1])
            if had.action is not has.action:
                yield COUNTS[Recall][has.action], has.reason

    def _expires(self, memory: Memory) -> Ending | None:
        """Return what ends a memory at this moment that did not before."""
        if self._before.retention_digest == self._after.retention_digest:
            return None
        if retention.is_over(self._before, memory, self._now):
            return None
        found = retention.ending(self._after, memory)
        return found if found is not None and found.at <= self._now else None

    def _roles_of(self, caller: Caller) -> Pair:
        held = self._roles.get(caller)
        if held is None:
            if len(self._roles) >= CALLERS_REMEMBERED_MAX:
                self._roles.clear()
            held = (rights(self._before, caller, self._now).roles, rights(self._after, caller, self._now).roles)
            self._roles[caller] = held
        return held

    def _evaluations(
        self, point: Point, memory: Memory, caller: Caller, roles: Pair
    ) -> tuple[Evaluation, Evaluation] | None:
        """Return what both rulesets are asked with; None: no changed policy has a word on this memory."""
        place = self._place(point, memory.statement, roles)
        if not place.changed and not place.is_open:
            return None
        remembered = memory if point is Point.RECALL else None
        both = [
            Evaluation(Facts(candidate=memory.statement, caller=caller, roles=held, now=self._now, memory=remembered))
            for held in dict.fromkeys(roles)
        ]
        # With the same roles both rulesets see the same facts: each condition is asked once.
        first, last = both[0], both[-1]
        if not place.is_open and not any(voices.is_heard(each, point, first) for each in place.changed):
            return None
        return first, last

    def _place(self, point: Point, stated: Candidate, roles: Pair) -> _Place:
        key = (point, stated.domain, stated.memory_type, stated.category, roles)
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= PLACES_REMEMBERED_MAX:
                self._places.clear()
            had = self._covering(self._before, point, stated, roles[0])
            has = self._covering(self._after, point, stated, roles[1])
            changed = [each for each in had if each not in has] + [each for each in has if each not in had]
            is_open = roles[0] != roles[1] or self._before.store != self._after.store
            place = self._places[key] = _Place(tuple(changed), is_open)
        return place

    def _covering(self, ruleset: Ruleset, point: Point, stated: Candidate, roles: frozenset[str]) -> list[Policy]:
        layers = ruleset.layers[point]
        return [*layers.floor.select(stated, roles), *layers.namespace.select(stated, roles)]
