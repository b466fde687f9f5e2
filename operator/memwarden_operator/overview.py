"""Statuses that speak of many workspaces at once: a store's, and those of the floor."""

from dataclasses import dataclass
from datetime import datetime

from memwarden_operator import floors, impacts, publish, stores
from memwarden_operator.publish import Publisher
from memwarden_operator.service import ServiceError
from memwarden_operator.services import Services
from memwarden_operator.shapes import Picture
from memwarden_operator.state import Held, State
from memwarden_operator.statuses import Outage, render
from memwarden_operator.work import COUNTING_DELAY_SECONDS, Floor, Impact, Key, Queue, StoreStatus, Workspace


@dataclass(slots=True, kw_only=True)
class Overview:
    """Says of stores and of the floor what the workspaces say together."""

    services: Services
    publisher: Publisher
    state: State
    queue: Queue[Key]
    impacts: Queue[Impact]
    floor_waits: bool = False

    async def store(self, key: StoreStatus, picture: Picture, now: datetime) -> None:
        """Write the status of a store. Raises ApiError."""
        store = picture.stores.get(key.store)
        if store is None:
            return
        known = self.state.store(key.store)
        if not known.is_asked and known.outage is None:
            try:
                await (await self.services.of(store)).workspaces()
                known.is_asked = True
            except ServiceError as error:
                known.outage = Outage(reason=error.reason, message=str(error))
        # Before the service was asked, the number that was last seen stands.
        count = len(self.state.holding(key.store)) if known.is_asked else int(store.status.get("workspaces", 0))
        desired = stores.status(store, known.outage, count, now)
        if not await self.publisher.write([publish.of_store(store, desired)]):
            self.queue.add(key)

    async def floor(self, picture: Picture, now: datetime) -> None:
        """Write the statuses of the floor, once every workspace has been asked. Raises ApiError."""
        self.floor_waits = self.queue.has_untried_workspaces()
        if self.floor_waits:
            return
        concerned = self._concerned()
        judged = [(each, floors.judge(each, concerned, now)) for each in picture.floor]
        told = [(each, render(each, said, now)) for each, said in judged if said is not None]
        if not await self.publisher.write(publish.of_object(each, status) for each, status in told):
            self.queue.add(Floor())
        for each, status in told:
            if impacts.is_due(each, status):
                self.impacts.add(Impact(None, each.key), COUNTING_DELAY_SECONDS)

    def settle(self) -> None:
        """Look at the floor again when the last workspace that it waits for was tried."""
        if self.floor_waits and not self.queue.has_untried_workspaces():
            self.floor_waits = False
            self.queue.add(Floor())

    def _concerned(self) -> dict[Workspace, Held]:
        return {key: held for key, held in self.state.held.items() if held.seen is not None or held.outage}
