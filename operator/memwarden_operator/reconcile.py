"""The loop: take keys, gather one picture for them, and act on each apart, so that one cannot hold up the others."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memwarden_operator import gather, metrics
from memwarden_operator.cluster import ApiError, Cluster
from memwarden_operator.enforce import Enforcer, TryAgainError
from memwarden_operator.freshness import Freshness
from memwarden_operator.overview import Overview
from memwarden_operator.shapes import Picture
from memwarden_operator.work import Floor, Key, Queue, StoreStatus, Workspace

log = logging.getLogger(__name__)

BATCH_MAX = 1000


@dataclass(slots=True)
class Reconciler:
    """Does the work of the queue until it is cancelled."""

    cluster: Cluster
    queue: Queue[Key]
    freshness: Freshness
    enforcer: Enforcer
    overview: Overview

    async def run(self) -> None:
        """Work until the queue is stopped and what is at work is finished. Raises LeaseLostError."""
        async with asyncio.TaskGroup() as group:
            while keys := await self.queue.next(BATCH_MAX):
                picture = await self._gathered(keys)
                if picture is None:
                    continue
                for key in keys:
                    group.create_task(self._one(key, picture))

    async def _gathered(self, keys: Sequence[Key]) -> Picture | None:
        namespaces = {key.namespace for key in keys if isinstance(key, Workspace)}
        try:
            return await gather.picture(self.cluster, namespaces, self.freshness)
        except ApiError as error:
            log.warning("gathering failed", extra={"error": str(error)})
            self.freshness.forget()
            for key in keys:
                self.queue.failed(key)
            return None

    async def _one(self, key: Key, picture: Picture) -> None:
        unit = type(key).__name__
        try:
            with metrics.RECONCILE_SECONDS.labels(unit).time():
                await self._act(key, picture, datetime.now(UTC))
        except (ApiError, TryAgainError) as error:
            metrics.RECONCILE_ERRORS.labels(unit).inc()
            log.warning("reconciling failed", extra={"key": str(key), "error": str(error)})
            self.queue.failed(key)
        else:
            metrics.RECONCILES.labels(unit).inc()
            self.queue.done(key)
        self.overview.settle()

    async def _act(self, key: Key, picture: Picture, now: datetime) -> None:
        match key:
            case Workspace():
                await self.enforcer.workspace(key, picture, now)
            case StoreStatus():
                await self.overview.store(key, picture, now)
            case Floor():
                await self.overview.floor(picture, now)
