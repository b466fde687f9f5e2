"""The Lease that one operator holds at a time, and the fence that comes from it.

Expiry is judged by when this process last saw the record change, on its own monotonic clock, never by the times that
another machine wrote. Safety does not rest on it: the service refuses a fence that is lower than the last it took.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memwarden_operator.cluster import ApiError, Cluster

# The name is an interface: two releases with two names would be two leaders.
NAME = "memwarden-operator"
DURATION_SECONDS = 15
RENEW_SECONDS = 10
RETRY_SECONDS = 2
REQUEST_SECONDS = 5


class LeaseLostError(Exception):
    """Another operator holds the Lease, or it could not be renewed in time."""


@dataclass(frozen=True, slots=True)
class Record:
    """What the Lease says."""

    holder: str
    renewed: str
    transitions: int
    duration: float
    version: str

    def differs(self, other: "Record") -> bool:
        """Say whether somebody wrote it in between."""
        return (self.holder, self.renewed, self.transitions) != (other.holder, other.renewed, other.transitions)


@dataclass(slots=True)
class Observer:
    """When the record last changed before our eyes."""

    record: Record | None = None
    changed_at: float = 0.0
    is_alive: bool = False  # Somebody was seen to renew it.

    def see(self, record: Record, now: float) -> None:
        """Take note of the record as it is now."""
        if self.record is None or record.differs(self.record):
            self.is_alive = self.record is not None and bool(record.holder)
            self.changed_at = now
        self.record = record

    def may_take(self, me: str, now: float) -> bool:
        """Say whether the Lease is ours to take."""
        if self.record is None:
            return False
        if self.record.holder in ("", me):
            return True
        return now - self.changed_at >= self.record.duration


def read(document: Mapping[str, Any]) -> Record:
    """Shape a Lease."""
    spec = document.get("spec") or {}
    return Record(
        holder=spec.get("holderIdentity") or "",
        renewed=spec.get("renewTime") or "",
        transitions=spec.get("leaseTransitions") or 0,
        duration=float(spec.get("leaseDurationSeconds") or DURATION_SECONDS),
        version=document["metadata"]["resourceVersion"],
    )


@dataclass(slots=True)
class Lease:
    """The Lease of this installation, as one process sees it."""

    cluster: Cluster
    namespace: str
    me: str
    observer: Observer
    clock: Callable[[], float] = time.monotonic
    term: int = 0  # The resourceVersion with which it was taken.

    @property
    def version(self) -> int:
        """The resourceVersion that we last wrote."""
        return int(self.observer.record.version) if self.observer.record else 0

    async def take(self) -> None:
        """Wait until the Lease is ours; `term` is set then."""
        while not await self._try_to_take():  # noqa: ASYNC110  (the Lease is elsewhere: only asking tells)
            await asyncio.sleep(RETRY_SECONDS)

    async def keep(self) -> None:
        """Renew the Lease for as long as it can be; never returns.

        Raises:
            LeaseLostError: another holds it, or ten seconds passed without a renewal.
        """
        last = self.clock()
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            started = self.clock()
            if await self._renewed(last):
                last = started
            elif self.clock() - last >= RENEW_SECONDS:
                raise LeaseLostError(f"the Lease could not be renewed for {RENEW_SECONDS} s")

    async def release(self) -> None:
        """Give the Lease up, so that the next one need not wait for it to expire."""
        record = self.observer.record
        if record is None or record.holder != self.me:
            return
        try:
            await self._within(self._write(record, "", record.transitions))
        except (ApiError, TimeoutError):
            return

    async def is_ours(self) -> bool:
        """Ask the API server whether we still hold it. Raises ApiError."""
        return read(await self.cluster.get(self._path)).holder == self.me

    @property
    def _path(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{NAME}"

    async def _try_to_take(self) -> bool:
        try:
            record = await self._within(self._look())
            self.observer.see(record, self.clock())
            if not self.observer.may_take(self.me, self.clock()):
                return False
            transitions = record.transitions + (record.holder != self.me)
            taken = await self._within(self._write(record, self.me, transitions))
        except (ApiError, TimeoutError):
            return False
        self.observer.see(taken, self.clock())
        self.term = int(taken.version)
        return True

    async def _renewed(self, last: float) -> bool:
        left = RENEW_SECONDS - (self.clock() - last)
        try:
            async with asyncio.timeout(max(0.1, left)):
                record = await self._within(self._look())
                if record.holder != self.me:
                    raise LeaseLostError(f"the Lease is held by {record.holder or 'nobody'}")
                self.observer.see(await self._within(self._write(record, self.me, record.transitions)), self.clock())
        except (ApiError, TimeoutError):
            return False
        return True

    async def _look(self) -> Record:
        try:
            return read(await self.cluster.get(self._path))
        except ApiError as error:
            if error.status != 404:
                raise
        path = self._path.removesuffix(f"/{NAME}")
        return read(await self.cluster.create(path, self._document({}, "", 0)))

    async def _write(self, record: Record, holder: str, transitions: int) -> Record:
        document = self._document({"resourceVersion": record.version}, holder, transitions)
        return read(await self.cluster.replace(self._path, document))

    def _document(self, metadata: Mapping[str, str], holder: str, transitions: int) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": NAME, "namespace": self.namespace, **metadata},
            "spec": {
                "holderIdentity": holder,
                "leaseDurationSeconds": DURATION_SECONDS,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }

    async def _within(self, call: Awaitable[Record]) -> Record:
        return await asyncio.wait_for(call, REQUEST_SECONDS)
