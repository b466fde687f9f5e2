"""Brings one workspace into force: offer its ruleset where the service holds another, then say so in the statuses."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memwarden_operator import impacts, metrics, plan, publish, statuses
from memwarden_operator.answers import Answer
from memwarden_operator.events import About, Happening
from memwarden_operator.fence import Fence
from memwarden_operator.lease import Lease, LeaseLostError
from memwarden_operator.plan import Offer
from memwarden_operator.publish import Publisher
from memwarden_operator.reasons import Reason
from memwarden_operator.service import FencedOutError, Service, ServiceError, ServiceRefusedError
from memwarden_operator.services import Services
from memwarden_operator.shapes import Picture, PolicyObject, StoreKey
from memwarden_operator.state import Held, State
from memwarden_operator.statuses import Outage
from memwarden_operator.work import COUNTING_DELAY_SECONDS, Floor, Impact, Key, Queue, StoreStatus, Workspace
from memwarden_policy.model import Kind

OFFERS_PER_STORE_MAX = 8
STORE_STATUS_DELAY_SECONDS = 0.5
FLOOR_DELAY_SECONDS = 0.05
WAKE_SECONDS_MAX = 86_400.0


class TryAgainError(Exception):
    """A key is not done; it is tried again later."""


@dataclass(slots=True, kw_only=True)
class Enforcer:
    """Acts on workspaces, several of one store at once."""

    services: Services
    publisher: Publisher
    state: State
    queue: Queue[Key]
    impacts: Queue[Impact]
    lease: Lease
    fence: Fence
    _slots: dict[StoreKey, asyncio.Semaphore] = field(
        default_factory=lambda: defaultdict(lambda: asyncio.Semaphore(OFFERS_PER_STORE_MAX))
    )

    async def workspace(self, key: Workspace, picture: Picture, now: datetime) -> None:
        """Bring a workspace into force. Raises ApiError, TryAgainError; LeaseLostError when another leads."""
        await self._refuse(key, picture, now)
        for other in plan.workspaces_of(key.namespace, picture) - self.state.held.keys() - {key}:
            self.queue.add(other)  # What a store takes now that it did not take before.
        if key.store is None:
            return
        offered = plan.offer(key, picture)
        if offered is None:
            await self._vanished(key, picture)
        elif offered.objects or self.state.of(key).seen is not None:
            await self._enforce(key, offered, now)
        else:
            self.state.held.pop(key, None)  # No workspace is opened for nothing.

    async def _enforce(self, key: Workspace, offered: Offer, now: datetime) -> None:
        try:
            async with self._slots[offered.store.key]:
                answer = await self._answered(key, offered)
        except ServiceError as error:
            await self._suffer(key, offered, error, now)
            raise TryAgainError(str(error)) from error
        self._note(key, offered, answer)
        await self._tell(key, offered, answer, now)
        self._wake_at(key, offered.objects, now)

    async def _answered(self, key: Workspace, offered: Offer) -> Answer:
        service = await self.services.of(offered.store)
        known = self.state.of(key).fingerprint
        if known is None or known == plan.fingerprint(offered.resources):
            held = await service.get(offered.home.name)
            if held is not None and plan.is_held(offered, held):
                return held
        try:
            return await self._put(service, offered)
        except FencedOutError:
            # Somebody has a later fence. When the Lease is still ours, the API server was restored from a backup.
            if not await self.lease.is_ours():
                raise LeaseLostError("the service took a later fence, and the Lease is not ours") from None
            if not self.fence.raise_to(self.lease.version):
                raise
            return await self._put(service, offered)

    async def _put(self, service: Service, offered: Offer) -> Answer:
        answer = await service.put(offered.home.name, plan.body(offered, *self.fence.next()))
        metrics.OFFERS.labels("taken").inc()
        return answer

    def _note(self, key: Workspace, offered: Offer, answer: Answer) -> None:
        held = self.state.of(key)
        floor = {name: said for name, said in answer.objects.items() if name[0] == Kind.CLUSTER_MEMORY_POLICY}
        is_new = held.seen is None
        if offered.floor and (floor != held.floor or held.outage):
            self.queue.add(Floor(), FLOOR_DELAY_SECONDS)
        held.fingerprint = plan.fingerprint(offered.resources)
        held.seen, held.floor, held.outage = answer.workspace, floor, None
        held.holds_memories = answer.holds_memories
        if held.drift:
            self._mended(offered, held)
        store = self.state.store(offered.store.key)
        if is_new or store.outage or not store.is_asked:
            store.outage, store.is_asked = None, True
            self.queue.add(StoreStatus(offered.store.key), STORE_STATUS_DELAY_SECONDS)

    def _mended(self, offered: Offer, held: Held) -> None:
        how = "was changed by another hand" if held.drift == "edited" else "was lost by the service"
        text = f"The ruleset of the workspace {offered.home.name} {how}, and is in force again"
        store = offered.store
        about = About(kind=Kind.MEMORY_STORE, namespace=store.key.namespace, name=store.key.name, uid=store.uid)
        self.publisher.recorder.record(about, Happening(type="Warning", reason=Reason.DRIFT_MENDED, message=text))
        metrics.DRIFT_MENDED.labels(held.drift).inc()
        held.drift = ""

    async def _tell(self, key: Workspace, offered: Offer, answer: Answer, now: datetime) -> None:
        missing = Outage(reason=Reason.NOT_ENFORCED, message="the service said nothing of it")
        told = [
            (each, statuses.of_object(each, key.store, answer.objects.get(each.key, missing), now))
            for each in offered.objects
        ]
        if not answer.holds_memories:
            told = [(each, statuses.without_memories(each, status)) for each, status in told]
        if not await self.publisher.write(publish.of_object(each, status) for each, status in told):
            self.queue.add(key)
        for each, status in told:
            if impacts.is_due(each, status):
                self.impacts.add(Impact(key.store, each.key), COUNTING_DELAY_SECONDS)

    async def _suffer(self, key: Workspace, offered: Offer, error: ServiceError, now: datetime) -> None:
        metrics.OFFERS.labels(error.reason).inc()
        outage = Outage(reason=error.reason, message=str(error))
        self.state.of(key).outage = outage
        if not isinstance(error, ServiceRefusedError):  # That is about this ruleset; the others are taken.
            self.state.store(offered.store.key).outage = outage
            self.queue.add(StoreStatus(offered.store.key))
        unconfirmed = [each for each in offered.objects if not _is_confirmed(each, offered.store.key)]
        writes = [publish.of_object(each, statuses.of_object(each, key.store, outage, now)) for each in unconfirmed]
        await self.publisher.write(writes)

    async def _refuse(self, key: Workspace, picture: Picture, now: datetime) -> None:
        writes = [
            publish.of_object(each, statuses.of_object(each, None, refusal, now))
            for each, refusal in plan.refused(key.namespace, picture)
        ]
        if not await self.publisher.write(writes):
            self.queue.add(key)

    async def _vanished(self, key: Workspace, picture: Picture) -> None:
        held = self.state.held.pop(key, None)
        store = picture.stores.get(key.store) if key.store else None
        if held is None or held.seen is None or store is None or key.namespace in picture.namespaces:
            return
        try:
            service = await self.services.of(store)
            await service.close_workspace(key.namespace, held.seen.uid, *self.fence.next())
        except ServiceError as error:
            self.state.held[key] = held
            raise TryAgainError(str(error)) from error
        self.queue.add(StoreStatus(store.key), STORE_STATUS_DELAY_SECONDS)

    def _wake_at(self, key: Workspace, objects: Iterable[PolicyObject], now: datetime) -> None:
        """Look again when a grant begins or ends, so that its status says so. The service itself needs no telling."""
        coming = [moment for each in objects for moment in statuses.moments(each.resource) if moment > now]
        if coming:
            self.queue.add(key, min((min(coming) - now).total_seconds(), WAKE_SECONDS_MAX))


def _is_confirmed(each: PolicyObject, store: StoreKey) -> bool:
    """Say whether this store once took this generation: an outage then takes nothing out of force."""
    return statuses.is_confirmed(each) and each.status.get("store") == str(store)
