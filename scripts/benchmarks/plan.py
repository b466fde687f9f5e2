"""What a plan over 100,000 memories costs, in time and in memory, when it touches all of them and when few."""

import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from benchmarks import Figure
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Caller, Candidate, Memory, Resource, SourceKind, StoreDefaults
from memwarden_policy.plan import impact
from memwarden_policy.ruleset import Ruleset

WORKSPACE = "bench"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MEMORIES = 100_000
RULES = 20
# Of the processor, on one core: a plan waits for nothing, and the clock of a shared machine tells of its neighbours.
SECONDS_GOAL = 10.0
GROWTH_GOAL_MIB = 8.0
SOURCES = (SourceKind.AGENT_EXTRACTED, SourceKind.REASONING, SourceKind.TOOL_RESULT, SourceKind.RETRIEVAL)
AGENT = Caller.service_account(WORKSPACE, "agent")


def run() -> list[Figure]:
    """Measure, and return the figures."""
    held = [_policy(number) for number in range(RULES // 10)]
    before = _ruleset(held)
    everywhere = _ruleset([*held, _resource("strict", {}, [_reject("candidate.confidence < 0.3")])])
    somewhere = _ruleset([*held, _resource("strict", {"domains": ["area-7/**"]}, [_reject("true")])])
    return [
        _figure("plan, 100000 memories, a rule on all", _seconds(before, everywhere), "cpu s", SECONDS_GOAL),
        _figure(
            "plan, 100000 memories, a rule on 1 of 100 domains", _seconds(before, somewhere), "cpu s", SECONDS_GOAL
        ),
        _figure("plan, growth of memory from 10000 to 50000", _growth(before, everywhere), "MiB", GROWTH_GOAL_MIB),
    ]


def _figure(name: str, value: float, unit: str, goal: float) -> Figure:
    return Figure(name=name, value=value, unit=unit, better="lower", goal=goal)


def _ruleset(policies: list[Resource]) -> Ruleset:
    grant = Resource(
        kind="MemoryAccessGrant",
        namespace=WORKSPACE,
        name="agent",
        spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"},
    )
    return compile_ruleset([grant, *policies], StoreDefaults(), workspace=WORKSPACE).ruleset


def _resource(name: str, selector: dict[str, list[str]], admission: list[dict[str, str]]) -> Resource:
    spec = {"selector": selector, "admission": admission}
    return Resource(kind="MemoryPolicy", namespace=WORKSPACE, name=name, spec=spec)


def _reject(condition: str) -> dict[str, str]:
    return {"name": "reject", "when": condition, "action": "Reject"}


def _policy(number: int) -> Resource:
    rules = [
        {"name": f"r{index}", "when": f"candidate.confidence >= 0.{number}{index}", "action": "Accept"}
        for index in range(10)
    ]
    return _resource(f"policy-{number}", {}, rules)


def _memories(count: int) -> Iterator[Memory]:
    for number in range(count):
        statement = Candidate(
            domain=f"area-{number % 100}/item-{number % 1_000}",
            content=f"Of item {number} it is known that it is known.",
            source=SOURCES[number % len(SOURCES)],
            confidence=Decimal(number % 1_001).scaleb(-3),
        )
        created = NOW - timedelta(minutes=number)
        yield Memory(id=f"m{number}", statement=statement, created_at=created, proposer=AGENT)


def _seconds(before: Ruleset, after: Ruleset) -> float:
    start = time.process_time()
    found = impact(before, after, _memories(MEMORIES), NOW)
    if found.memories != MEMORIES or not found.counts["wouldReject"]:
        raise RuntimeError(f"the plan was to reject some of {MEMORIES}, and said {found.as_json()}")
    return time.process_time() - start


def _growth(before: Ruleset, after: Ruleset) -> float:
    """Return by how much the peak grows with five times the memories."""
    peaks = []
    for count in (10_000, 50_000):
        tracemalloc.start()
        impact(before, after, _memories(count), NOW)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / 1024 / 1024
