"""When a memory ends: the moment is fixed by its own facts and the policies in force, never by reading it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from memwarden_policy.attributes import Facts
from memwarden_policy.model import ActorKind, Caller, Memory
from memwarden_policy.rules import Policy
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.structured import Comparison, Where

NOBODY: Final = Caller(actor_kind=ActorKind.API_KEY, actor_name="")
NO_ROLES: Final[frozenset[str]] = frozenset()
TICK: Final = timedelta(microseconds=1)  # The least by which two moments differ in the database.


@dataclass(frozen=True, slots=True, order=True)
class Ending:
    """The first moment at which a memory is no longer there, and what says so."""

    at: datetime
    by: str  # Such as "MemoryPolicy/short: ttl".


def ending(ruleset: Ruleset, memory: Memory) -> Ending | None:
    """Return when a memory ends; None: no retention ends it, or a legal hold keeps it.

    Of several retentions the shortest wins; a legal hold, on the memory or by the floor, beats them all. One by a
    policy of the namespace beats what the namespace and the memory itself say: it does not loosen the floor.
    """
    policies = ruleset.retaining.select(memory.statement, NO_ROLES)
    floor = [each for each in policies if each.is_floor]
    if memory.is_held or _is_held(floor):
        return None
    own = [each for each in policies if not each.is_floor]
    endings = _endings_by_all(floor, memory) if _is_held(own) else _endings(policies, memory)
    return min(endings, default=None)


def is_over(ruleset: Ruleset, memory: Memory, now: datetime) -> bool:
    """Say whether a memory has ended."""
    found = ending(ruleset, memory)
    return found is not None and found.at <= now


def fell_below(memory: Memory, threshold: Decimal) -> datetime | None:
    """Return since when the confidence has been below a threshold; None: it is not."""
    if memory.statement.confidence >= threshold:
        return None
    return max((until for confidence, until in memory.falls if confidence >= threshold), default=memory.created_at)


def _endings(policies: list[Policy], memory: Memory) -> Iterator[Ending]:
    if memory.statement.delete_at is not None:
        yield Ending(memory.statement.delete_at, "delete_at")
    yield from _endings_by_all(policies, memory)


def _is_held(policies: list[Policy]) -> bool:
    return any(each.retention.legal_hold for each in policies if each.retention)


def _endings_by_all(policies: list[Policy], memory: Memory) -> Iterator[Ending]:
    for policy in policies:
        yield from _endings_by(policy, memory)


def _endings_by(policy: Policy, memory: Memory) -> Iterator[Ending]:
    said = policy.retention
    if said is None:
        return
    if said.ttl is not None:
        yield Ending(_later(memory.created_at, said.ttl), f"{policy.address}: ttl")
    if said.low is not None and (since := fell_below(memory, said.low.below)):
        yield Ending(_later(since, said.low.lasting), f"{policy.address}: lowConfidence")
    for rule in said.rules:
        begins = holds_from(rule.where, memory)
        if begins is not None:
            yield Ending(begins, f"{policy.address}/{rule.name}")


def holds_from(where: Where, memory: Memory) -> datetime | None:
    """Return the moment from which comparisons hold together, its creation at the earliest; None: they never do.

    What is compared with `now()` holds from some moment on (the reader of policies takes no other); the rest holds
    always or never, as long as the memory is not changed.
    """
    begins = memory.created_at
    facts = Facts(candidate=memory.statement, caller=NOBODY, roles=NO_ROLES, now=begins, memory=memory)
    for each in where.comparisons:
        edge = _edge(each, facts)
        if edge is not None:
            begins = max(begins, edge)
        elif each.is_relative or not each.holds(facts):
            return None
    return begins


def _edge(comparison: Comparison, facts: Facts) -> datetime | None:
    """Return from when a comparison with `now()` holds; None: it is no such comparison, or beyond the calendar."""
    if not comparison.is_relative:
        return None
    value: datetime = comparison.attribute.read(facts)  # type: ignore[assignment]  # the operand is a moment too
    try:
        edge: datetime = value - comparison.operand.offset
        return edge + TICK if comparison.operator == "lt" else edge
    except OverflowError:
        return None


def _later(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment + span
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)
