"""Counts, once for each generation of a policy, what it does to the memories that exist, beside all other work."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memwarden_operator import gather, impacts, metrics, publish
from memwarden_operator.answers import Counted
from memwarden_operator.cluster import ApiError, Cluster
from memwarden_operator.publish import Publisher
from memwarden_operator.service import ServiceError
from memwarden_operator.services import Services
from memwarden_operator.shapes import Picture, PolicyObject, StoreKey
from memwarden_operator.state import State
from memwarden_operator.work import Impact, Queue, Workspace

log = logging.getLogger(__name__)

BATCH_MAX = 100
UNIT = "Impact"


@dataclass(slots=True, kw_only=True)
class Tally:
    """Does the work of the queue of impacts, one after the other in each store: counting keeps a core of it busy."""

    cluster: Cluster
    services: Services
    publisher: Publisher
    state: State
    queue: Queue[Impact]

    async def run(self) -> None:
        """Work until the queue is stopped or this is cancelled."""
        while keys := await self.queue.next(BATCH_MAX):
            by_store: dict[StoreKey | None, list[Impact]] = defaultdict(list)
            for key in keys:
                by_store[key.store].append(key)
            await asyncio.gather(*(self._each(some) for some in by_store.values()))

    async def _each(self, keys: Sequence[Impact]) -> None:
        for key in keys:
            try:
                with metrics.RECONCILE_SECONDS.labels(UNIT).time():
                    is_done = await self._one(key)
            except (ApiError, ServiceError) as error:
                log.warning("counting failed", extra={"key": str(key), "error": str(error)})
                metrics.RECONCILE_ERRORS.labels(UNIT).inc()
                is_done = False
            else:
                metrics.RECONCILES.labels(UNIT).inc()
            self.queue.done(key) if is_done else self.queue.failed(key)

    async def _one(self, key: Impact) -> bool:
        """Count and write. False: the object moved meanwhile; look again."""
        picture = await self._picture(key)
        found = _find(key, picture)
        if found is None or not impacts.is_due(found, found.status):
            return True
        counted = [
            await (await self.services.of(picture.stores[home.store])).impact(home.namespace, *_named(key))
            for home in self._homes(key)
            if home.store is not None and home.store in picture.stores
        ]
        return await self._write(key, counted)

    def _homes(self, key: Impact) -> list[Workspace]:
        if key.store is not None:
            return [Workspace(key.store, key.policy[1])]
        held = [home for home, known in self.state.held.items() if known.holds_memories and home.store is not None]
        return sorted(held, key=lambda home: home.namespace)

    async def _write(self, key: Impact, counted: Sequence[Counted]) -> bool:
        found = _find(key, await self._picture(key))  # As it is after the seconds that counting took.
        if found is None or not impacts.is_due(found, found.status):
            return True
        generation = found.resource.generation
        if any(each.generation != generation for each in counted):
            return False
        desired: dict[str, Any] = {**found.status, "impact": impacts.of(counted, generation)}
        return await self.publisher.write([publish.of_object(found, desired)])

    async def _picture(self, key: Impact) -> Picture:
        namespaces = {key.policy[1]} - {""}
        return await gather.picture(self.cluster, namespaces, self.state.freshness)


def _find(key: Impact, picture: Picture) -> PolicyObject | None:
    there = picture.of(key.policy[1]) if key.policy[1] else picture.floor
    return next((each for each in there if each.key == key.policy), None)


def _named(key: Impact) -> tuple[str, str]:
    return key.policy[0], key.policy[2]
