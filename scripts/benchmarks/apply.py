"""Apply to enforced: from the API server's answer until the service refuses by it, against a bare kopf handler.

The bare handler only patches a status on the same API server; both are timed in turns: the ratio holds on any machine.
"""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2

from benchmarks import Figure
from benchmarks._reconciling import STORE_REF, Bench, Operator, running, start_operator
from local import processes
from memwarden_operator.cluster import Cluster, resource_path

ROUNDS = 40
WARM_UP_ROUNDS = 5
WAIT_SECONDS = 20.0
POLL_SECONDS = 0.005  # Often enough to see it, seldom enough not to stand in its way.
KUBECTL_ROUNDS = 7
HOME = "bench"
GOAL_RATIO = 5.0
GOAL_SECONDS = 0.5
PROBES = "/apis/bench.memwarden.dev/v1/namespaces/bench/probes"
PROBE_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "probes.bench.memwarden.dev"},
    "spec": {
        "group": "bench.memwarden.dev",
        "scope": "Namespaced",
        "names": {"kind": "Probe", "plural": "probes"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"round": {"type": "integer"}}},
                            "status": {"type": "object", "properties": {"round": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}
BARE_HANDLER = """
import kopf

@kopf.on.startup()
def configure(settings, **_):
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.posting.enabled = False

@kopf.on.event("bench.memwarden.dev", "v1", "probes")
async def probe(spec, status, patch, **_):
    if status.get("round") != spec.get("round"):
        patch.status["round"] = spec.get("round")
"""


def run() -> list[Figure]:
    """Measure on parts that are started for it."""
    with running() as bench:
        _set_up(bench)
        operator = start_operator(bench)
        try:
            _wait_until_ready(operator)
            with _bare_handler(bench):
                bare, ours = asyncio.run(_measure(bench))
            typed = _with_kubectl(bench)
        finally:
            operator.stop()
    ratio = statistics.median(ours) / statistics.median(bare)
    return [
        _figure("bare kopf handler: patch to status, median", statistics.median(bare) * 1000, "ms"),
        _figure("apply to enforced, median", statistics.median(ours) * 1000, "ms"),
        _figure("apply to enforced, 95th percentile", statistics.quantiles(ours, n=20)[-1] * 1000, "ms"),
        _figure("ratio of the medians", ratio, "x", GOAL_RATIO),
        _figure(
            "kubectl apply to enforced, its own time included, median", statistics.median(typed), "s", GOAL_SECONDS
        ),
    ]


def _figure(name: str, value: float, unit: str, goal: float | None = None) -> Figure:
    return Figure(name=name, value=value, unit=unit, better="lower", goal=goal)


def _set_up(bench: Bench) -> None:
    grant = {"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"}
    documents = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "agent", "namespace": HOME}},
        PROBE_DEFINITION,
        _object("MemoryAccessGrant", "agent", grant),
        _policy(-1),
    ]
    bench.api.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in documents))
    bench.api.kubectl("wait", "--for=condition=Established", "crd/probes.bench.memwarden.dev", "--timeout=30s")


def _wait_until_ready(operator: Operator) -> None:
    ready = 'memwarden_operator_objects{kind="MemoryAccessGrant",state="ready"}'
    processes.wait_for(lambda: operator.metrics().get(ready) == 1, "The operator", WAIT_SECONDS)


async def _measure(bench: Bench) -> tuple[list[float], list[float]]:
    bare: list[float] = []
    ours: list[float] = []
    async with _connected(bench) as (cluster, agent):
        await cluster.create(PROBES, {**_probe(-1), "metadata": {"name": "probe"}})
        for number in range(ROUNDS + WARM_UP_ROUNDS):
            taken = (await _bare_round(cluster, number), await _our_round(cluster, agent, number))
            if number >= WARM_UP_ROUNDS:
                bare.append(taken[0])
                ours.append(taken[1])
    return bare, ours


async def _bare_round(cluster: Cluster, number: int) -> float:
    await cluster.merge(f"{PROBES}/probe", {"spec": {"round": number}})

    async def is_told() -> bool:
        document = await cluster.get(f"{PROBES}/probe")
        return bool(document.get("status", {}).get("round") == number)

    return await _until(is_told)


async def _our_round(cluster: Cluster, agent: httpx2.AsyncClient, number: int) -> float:
    patch = {"spec": {"admission": _policy(number)["spec"]["admission"]}}
    await cluster.merge(resource_path("memorypolicies", HOME, "rules"), patch)

    async def refuses() -> bool:
        answer = await agent.post("/v1/memories", json=_proposal(number))
        return answer.status_code == 403

    return await _until(refuses)


async def _until(is_so: Callable[[], Awaitable[bool]]) -> float:
    """Return after how many seconds an answer said so."""
    began = time.perf_counter()
    while not await is_so():
        if time.perf_counter() - began > WAIT_SECONDS:
            raise TimeoutError("it never came into force")
        await asyncio.sleep(POLL_SECONDS)
    return time.perf_counter() - began


@contextlib.asynccontextmanager
async def _connected(bench: Bench) -> AsyncIterator[tuple[Cluster, httpx2.AsyncClient]]:
    token = bench.api.kubectl("create", "token", "agent", "-n", HOME, "--audience=memwarden").strip()
    cluster = await Cluster.connect(bench.api.kubeconfig)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{bench.port}", headers=headers) as agent:
            yield cluster, agent
    finally:
        await cluster.close()


@contextlib.contextmanager
def _bare_handler(bench: Bench) -> Any:
    program = bench.folder / "bare.py"
    program.write_text(BARE_HANDLER)
    kopf = Path(sys.executable).parent / "kopf"
    environment = {"KUBECONFIG": str(bench.api.kubeconfig)}
    process: subprocess.Popen[bytes] = processes.start(
        [kopf, "run", "-A", program], bench.folder / "bare.log", env=environment
    )
    try:
        yield
    finally:
        processes.stop(process.pid)


def _with_kubectl(bench: Bench) -> list[float]:
    """Time what a person waits: kubectl's own time, then until the service refuses."""
    token = bench.api.kubectl("create", "token", "agent", "-n", HOME, "--audience=memwarden").strip()
    taken: list[float] = []
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{bench.port}", headers={"Authorization": f"Bearer {token}"}
    ) as agent:
        for number in range(1000, 1000 + KUBECTL_ROUNDS):
            text = json.dumps(_policy(number))
            began = time.perf_counter()
            bench.api.kubectl("apply", "-f", "-", stdin=text)
            while agent.post("/v1/memories", json=_proposal(number)).status_code != 403:
                time.sleep(POLL_SECONDS)
            taken.append(time.perf_counter() - began)
    return taken


def _policy(number: int) -> dict[str, Any]:
    rule = {"name": "no", "where": {"topic": {"eq": f"round-{number}"}}, "action": "Reject"}
    return _object("MemoryPolicy", "rules", {"admission": [rule]})


def _proposal(number: int) -> dict[str, Any]:
    # A text of its own each time: a known one is answered from memory, without a decision.
    text = f"At {time.perf_counter_ns()}."
    return {"domain": "d", "content": text, "source": "agent_extracted", "topic": f"round-{number}"}


def _probe(number: int) -> dict[str, Any]:
    return {"apiVersion": "bench.memwarden.dev/v1", "kind": "Probe", "spec": {"round": number}}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": HOME}
    return {
        "apiVersion": "memwarden.dev/v1alpha1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"storeRef": STORE_REF, **spec},
    }
