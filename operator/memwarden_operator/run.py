"""One operator process from start to end: take the Lease, see everything once, then watch until told to stop."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import kopf
from prometheus_client import REGISTRY

from memwarden_operator import metrics, probes, watch
from memwarden_operator.cluster import Cluster
from memwarden_operator.count import Tally
from memwarden_operator.enforce import Enforcer
from memwarden_operator.events import Recorder
from memwarden_operator.fence import Fence
from memwarden_operator.inbox import Inbox
from memwarden_operator.lease import Lease, LeaseLostError, Observer
from memwarden_operator.overview import Overview
from memwarden_operator.publish import Publisher
from memwarden_operator.reconcile import Reconciler
from memwarden_operator.services import Services
from memwarden_operator.settings import Settings
from memwarden_operator.state import State
from memwarden_operator.sweep import Sweeper
from memwarden_operator.work import Impact, Key, Queue

log = logging.getLogger(__name__)

FINISH_SECONDS = 8.0
KOPF_LISTENS_SECONDS = 0.05
FIRST_PASS_SECONDS = 60.0
POLL_SECONDS = 0.05
WATCHES_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a leading operator is made of."""

    cluster: Cluster
    services: Services
    sweeper: Sweeper
    reconciler: Reconciler
    inbox: Inbox
    queue: Queue[Key]
    tally: Tally
    recorder: Recorder


async def run(settings: Settings) -> bool:
    """Run until SIGTERM or SIGINT (True), or until the Lease is lost or something failed (False)."""
    stop = asyncio.Event()
    _listen(stop)
    metrics.set_up()
    cluster = await Cluster.connect(settings.kubeconfig)
    lease = Lease(cluster, settings.namespace, f"{socket.gethostname()}_{os.getpid()}", Observer())
    health = probes.Health(stands_by=lambda: lease.observer.is_alive and not lease.term)
    runner = await probes.serve(settings.metrics_port, health, REGISTRY)
    log.info("waiting for the Lease")
    try:
        if not await _unless(stop, lease.take()):
            return True
        log.info("leading")
        metrics.LEADER.set(1)
        return await _lead(settings, lease, health, stop)
    finally:
        await runner.cleanup()
        await cluster.close()


async def _lead(settings: Settings, lease: Lease, health: probes.Health, stop: asyncio.Event) -> bool:
    parts = assemble(settings, lease)
    try:
        await _work(parts, lease, health, stop)
    except* LeaseLostError as lost:
        log.error("the Lease is lost", extra={"error": str(lost.exceptions[0])})  # noqa: TRY400  (no bug, no traceback)
        stop.clear()  # What ended it was not a wish.
    finally:
        await parts.services.close()
    return stop.is_set()


async def _work(parts: Parts, lease: Lease, health: probes.Health, stop: asyncio.Event) -> None:
    ended = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        keeper = group.create_task(lease.keep())
        reconciling = group.create_task(parts.reconciler.run())
        recording = group.create_task(parts.recorder.run())
        counting = group.create_task(parts.tally.run())
        sweeping = group.create_task(parts.sweeper.run())
        watching = group.create_task(_watch(parts, health, ended, stop))
        await stop.wait()
        log.info("stopping")
        sweeping.cancel()
        recording.cancel()
        counting.cancel()
        parts.queue.stop()
        await asyncio.wait([reconciling], timeout=FINISH_SECONDS)
        for task in (reconciling, keeper):
            task.cancel()
        await asyncio.wait([reconciling, keeper])
        await lease.release()
        ended.set()
        await watching


def assemble(settings: Settings, lease: Lease) -> Parts:
    """Put the parts together around one state and one queue."""
    cluster, state = lease.cluster, State()
    queue, impacts = Queue[Key](), Queue[Impact]()
    services = Services(cluster, settings.namespace, settings.account)
    recorder = Recorder(cluster, lease.me)
    publisher = Publisher(cluster, state, recorder)
    metrics.QUEUE_DEPTH.set_function(lambda: len(queue))
    metrics.QUEUE_AGE.set_function(queue.age)
    REGISTRY.register(metrics.Objects(lambda: state.ready))
    enforcer = Enforcer(
        services=services,
        publisher=publisher,
        state=state,
        queue=queue,
        impacts=impacts,
        lease=lease,
        fence=Fence(lease.term),
    )
    overview = Overview(services=services, publisher=publisher, state=state, queue=queue, impacts=impacts)
    sweeper = Sweeper(cluster=cluster, services=services, state=state, queue=queue)
    return Parts(
        cluster=cluster,
        services=services,
        sweeper=sweeper,
        reconciler=Reconciler(cluster, queue, state.freshness, enforcer, overview),
        inbox=Inbox(state=state, queue=queue, sweep_wanted=sweeper.wanted),
        queue=queue,
        tally=Tally(cluster=cluster, services=services, publisher=publisher, state=state, queue=impacts),
        recorder=recorder,
    )


async def _first_pass(parts: Parts, ended: asyncio.Event) -> None:
    """Wait until everything that the first LIST showed was tried once, or it takes too long to wait any longer."""
    # Without a LIST our resources are perhaps not installed yet, and kopf would never watch what is not there.
    await _either(parts.sweeper.swept, ended)
    deadline = asyncio.get_running_loop().time() + FIRST_PASS_SECONDS

    def is_over() -> bool:
        return parts.queue.is_quiet() or ended.is_set() or asyncio.get_running_loop().time() > deadline

    while not is_over():  # noqa: ASYNC110  (once in a process's life; an event would have to be set in many places)
        await asyncio.sleep(POLL_SECONDS)


async def _watch(parts: Parts, health: probes.Health, ended: asyncio.Event, stop: asyncio.Event) -> None:
    # Thousands of statuses that a first pass writes would all come back as events. What changes meanwhile is in the
    # LIST that kopf begins with; what is deleted meanwhile is found by another sweep.
    await _first_pass(parts, ended)
    if ended.is_set():
        return
    health.sweep_is_over()
    asyncio.get_running_loop().call_later(WATCHES_SECONDS, parts.sweeper.wanted.set)

    async def on_start() -> None:
        # kopf takes the signals for itself in the same moment; ours is the longer way out, so it is set last.
        await asyncio.sleep(KOPF_LISTENS_SECONDS)
        _listen(stop)

    await kopf.operator(
        registry=watch.registry(parts.cluster, parts.inbox, on_start),
        clusterwide=True,
        standalone=True,
        stop_flag=ended,
    )
    if not ended.is_set():
        raise RuntimeError("kopf stopped watching")


def _listen(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)


async def _either(*events: asyncio.Event) -> None:
    """Wait for the first of the events."""
    waiting = [asyncio.create_task(each.wait()) for each in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Do the work unless a stop comes first; say whether it was done."""
    task, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if task.done():
        await task
        return True
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return False
