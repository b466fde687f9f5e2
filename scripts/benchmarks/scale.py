"""5,000 objects over 200 namespaces: the operator's start until all are Ready, against a bare client; a restart."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from benchmarks import Figure
from benchmarks._reconciling import STORE_REF, Bench, Operator, running, start_operator
from memwarden_operator.cluster import Cluster, resource_path

NAMESPACES = 200
POLICIES = 15
GRANTS = 10
OBJECTS = NAMESPACES * (POLICIES + GRANTS)
AT_ONCE = 32
READY_SECONDS = 180.0
QUIET_SECONDS = 3.0
PLURALS = {"MemoryPolicy": "memorypolicies", "MemoryAccessGrant": "memoryaccessgrants"}
GOAL_RATIO = 3.0
GOAL_MB = 400.0
WRITES = (
    'memwarden_operator_rulesets_offered_total{result="taken"}',
    'memwarden_operator_status_writes_total{result="written"}',
)


def run() -> list[Figure]:
    """Measure on parts that are started for it."""
    with running() as bench:
        bare = asyncio.run(_prepare(bench))
        operator = start_operator(bench)
        began = time.monotonic()
        _wait(lambda: _ready(operator) >= OBJECTS, READY_SECONDS)
        took, memory = time.monotonic() - began, operator.memory_mb()
        operator.stop()
        restarted = start_operator(bench)
        _wait(lambda: _ready(restarted) >= OBJECTS, READY_SECONDS)
        time.sleep(QUIET_SECONDS)
        figures = restarted.metrics()
        writes = sum(figures[name] for name in WRITES)
        memory = max(memory, restarted.memory_mb())
        restarted.stop()
    return [
        Figure(name="bare client: list and patch each once", value=bare, unit="s", better="lower", goal=None),
        Figure(name="operator start to all Ready", value=took, unit="s", better="lower", goal=None),
        Figure(name="ratio to the bare client", value=took / bare, unit="x", better="lower", goal=GOAL_RATIO),
        Figure(name="memory at most", value=memory, unit="MB", better="lower", goal=GOAL_MB),
        Figure(name="writes on a restart", value=writes, unit="writes", better="lower", goal=0),
    ]


def _ready(operator: Operator) -> float:
    figures = operator.metrics()
    return sum(figures.get(f'memwarden_operator_objects{{kind="{kind}",state="ready"}}', 0) for kind in PLURALS)


def _wait(is_so: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not all objects were Ready after {seconds:.0f} s")
        time.sleep(0.2)


async def _prepare(bench: Bench) -> float:
    """Create everything; return how long a bare client takes to list all and to patch each status once."""
    cluster = await Cluster.connect(bench.api.kubeconfig)
    try:
        names = [f"team-{index:03}" for index in range(NAMESPACES)]
        await _all(cluster.create("/api/v1/namespaces", _namespace(name)) for name in names)
        await _all(
            cluster.create(resource_path(PLURALS[each["kind"]], each["metadata"]["namespace"]), each)
            for name in names
            for each in _objects(name)
        )
        began = time.monotonic()
        listed = [each for plural in PLURALS.values() for each in await cluster.list(resource_path(plural))]
        await _all(_patch(cluster, each) for each in listed)
        return time.monotonic() - began
    finally:
        await cluster.close()


async def _all(calls: Iterable[Awaitable[Any]]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(call: Awaitable[Any]) -> None:
        async with slots:
            await call

    await asyncio.gather(*(one(call) for call in calls))


async def _patch(cluster: Cluster, document: dict[str, Any]) -> None:
    metadata = document["metadata"]
    condition = {
        "status": "False",
        "reason": "Bare",
        "message": "A bare client was here",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-12-01T00:00:00Z",
    }
    conditions = [{"type": kind, **condition} for kind in ("Accepted", "InForce", "Ready")]
    path = resource_path(PLURALS[document["kind"]], metadata["namespace"], metadata["name"], "/status")
    status = {"observedGeneration": 1, "digest": f"sha256:{'0' * 64}", "revision": 1, "conditions": conditions}
    await cluster.merge(path, {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "status": status})


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _objects(namespace: str) -> list[dict[str, Any]]:
    rules = [
        {"name": "sure", "when": "candidate.confidence > 0.7", "action": "Accept"},
        {"name": "moods", "where": {"category": {"eq": "mood"}}, "action": "Reject"},
    ]
    policies = [
        _object(
            "MemoryPolicy", f"policy-{index}", namespace, {"selector": {"domains": [f"d{index}/*"]}, "admission": rules}
        )
        for index in range(POLICIES)
    ]
    subject = {"kind": "ServiceAccount", "name": "agent"}
    grants = [
        _object(
            "MemoryAccessGrant",
            f"grant-{index}",
            namespace,
            {"subjects": [subject], "domains": [f"d{index}/*"], "access": "Write"},
        )
        for index in range(GRANTS)
    ]
    return policies + grants


def _object(kind: str, name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "memwarden.dev/v1alpha1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"storeRef": STORE_REF, **spec},
    }
