"""Looks at everything from time to time: a full LIST against the services, and every few seconds the services alone."""

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass, field

from memwarden_operator import gather, metrics, plan
from memwarden_operator.answers import WorkspaceAnswer
from memwarden_operator.cluster import ApiError, Cluster
from memwarden_operator.service import ServiceError
from memwarden_operator.services import Services
from memwarden_operator.shapes import Picture, Store, StoreKey
from memwarden_operator.state import State
from memwarden_operator.statuses import Outage
from memwarden_operator.work import Floor, Key, Queue, StoreStatus, Workspace

log = logging.getLogger(__name__)

LOOK_SECONDS = 15.0
FULL_SECONDS = 300.0
RETRY_SECONDS = 2.0


@dataclass(slots=True, kw_only=True)
class Sweeper:
    """Finds what no event told: deletions while nobody watched, edits by hand, databases that came back empty."""

    cluster: Cluster
    services: Services
    state: State
    queue: Queue[Key]
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    swept: asyncio.Event = field(default_factory=asyncio.Event)
    stores: dict[StoreKey, Store] = field(default_factory=dict)

    async def run(self) -> None:
        """Sweep for ever."""
        due = 0.0
        while True:
            if self.wanted.is_set() or time.monotonic() >= due:
                self.wanted.clear()
                try:
                    await self.full()
                except ApiError as error:
                    metrics.SWEEPS.labels("failed").inc()
                    log.warning("the sweep failed", extra={"error": str(error)})
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                metrics.SWEEPS.labels("done").inc()
                due = time.monotonic() + FULL_SECONDS
                self.swept.set()
            else:
                await asyncio.gather(*(self.look(store) for store in self.stores.values()))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self.wanted.wait()

    async def full(self) -> None:
        """LIST everything, compare it with what is known, and ask for work on what differs. Raises ApiError."""
        picture = await gather.picture(self.cluster, None, self.state.freshness)
        metrics.LAST_LIST.set_to_current_time()
        self.stores = dict(picture.stores)
        self.state.store_versions = {key: (store.uid, store.generation) for key, store in picture.stores.items()}
        await self._forget_others(picture)
        await asyncio.gather(*(self.look(store) for store in picture.stores.values()))
        for key in plan.workspaces(picture) | set(self.state.held):
            if self._is_due(key, picture):
                self.queue.add(key)
        for store in picture.stores:
            self.queue.add(StoreStatus(store))
        if picture.floor:
            self.queue.add(Floor())

    async def _forget_others(self, picture: Picture) -> None:
        await self.services.keep_only(picture.stores)
        for key in self.state.stores.keys() - picture.stores.keys():
            del self.state.stores[key]

    async def look(self, store: Store) -> None:
        """Compare what a service lists with what it held when last seen."""
        known = self.state.store(store.key)
        try:
            listed = {each.name: each for each in await (await self.services.of(store)).workspaces()}
        except ServiceError as error:
            if known.outage is None:
                known.outage = Outage(reason=error.reason, message=str(error))
                self.queue.add(StoreStatus(store.key))
            return
        self._recovered(store.key)
        for name, seen in listed.items():
            self._compare(Workspace(store.key, name), seen)
        for key in self.state.holding(store.key):
            if key.namespace not in listed:
                self._lost(key)

    def _recovered(self, store: StoreKey) -> None:
        known = self.state.store(store)
        known.is_asked = True
        waiting = frozenset(key for key in self.queue.retrying if isinstance(key, Workspace) and key.store == store)
        if waiting:
            self.queue.hasten(waiting)  # What failed succeeds, or says again why not; that it lists is not enough.
        elif known.outage is not None:
            known.outage = None
            self.queue.add(StoreStatus(store))

    def _compare(self, key: Workspace, seen: WorkspaceAnswer) -> None:
        held = self.state.of(key)
        if held.seen is None:
            held.seen, held.drift = seen, "edited" if seen.drifted else ""
            self.queue.add(key)
        elif seen.drifted or (seen.revision, seen.digest) != (held.seen.revision, held.seen.digest):
            held.fingerprint, held.seen, held.drift = None, seen, "edited"
            self.queue.add(key)

    def _lost(self, key: Workspace) -> None:
        held = self.state.of(key)
        held.fingerprint, held.seen, held.drift = None, None, "lost"
        self.queue.add(key)

    def _is_due(self, key: Workspace, picture: Picture) -> bool:
        offered = plan.offer(key, picture)
        if offered is None:
            return True
        return self.state.of(key).fingerprint != plan.fingerprint(offered.resources)
