"""Writes statuses, one merge patch for each object whose status is another, none where nothing changed."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memwarden_operator import conditions, events, metrics, statuses
from memwarden_operator.cluster import ApiError, Cluster, resource_path
from memwarden_operator.events import About, Recorder
from memwarden_operator.gather import PLURALS
from memwarden_operator.shapes import PolicyObject, Store
from memwarden_operator.state import State, mark
from memwarden_policy.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One object's status as it should be."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    observed: Mapping[str, Any]
    desired: Mapping[str, Any]


def of_object(each: PolicyObject, desired: Mapping[str, Any]) -> Write:
    """Ask for the status of a policy or grant."""
    return Write(
        kind=Kind(each.resource.kind),
        namespace=each.resource.namespace,
        name=each.resource.name,
        uid=each.resource.uid,
        generation=each.resource.generation,
        resource_version=each.resource_version,
        observed=each.status,
        desired=desired,
    )


def of_store(store: Store, desired: Mapping[str, Any]) -> Write:
    """Ask for the status of a store."""
    return Write(
        kind=Kind.MEMORY_STORE,
        namespace=store.key.namespace,
        name=store.key.name,
        uid=store.uid,
        generation=store.generation,
        resource_version=store.resource_version,
        observed=store.status,
        desired=desired,
    )


@dataclass(slots=True)
class Publisher:
    """Writes statuses, at most so many at once over all workspaces."""

    cluster: Cluster
    state: State
    recorder: Recorder

    async def write(self, writes: Iterable[Write]) -> bool:
        """Write what differs. False: an object moved since it was read; look again. Raises ApiError."""
        results = await asyncio.gather(*(self._one(each) for each in writes), return_exceptions=True)
        errors = [each for each in results if isinstance(each, BaseException)]
        if errors:
            raise errors[0]
        return all(results)

    async def _one(self, write: Write) -> bool:
        patch = statuses.difference(write.observed, write.desired)
        # Noted before it is written: the watch may be faster than the answer.
        name = (write.kind, write.namespace, write.name)
        self.state.written[name] = mark(write.uid, write.generation, write.desired)
        if patch is None:
            self._note_ready(write)
            return True
        path = resource_path(PLURALS[write.kind], write.namespace or None, write.name, "/status")
        document = {"metadata": {"resourceVersion": write.resource_version}, "status": patch}
        try:
            async with self.cluster.status_writes:
                await self.cluster.merge(path, document)
        except ApiError as error:
            return _failed(error)
        metrics.STATUS_WRITES.labels("written").inc()
        self._note_ready(write)
        what = events.happened(write.observed, write.desired)
        if what is not None:
            about = About(kind=write.kind, namespace=write.namespace, name=write.name, uid=write.uid)
            self.recorder.record(about, what)
        return True

    def _note_ready(self, write: Write) -> None:
        ready = conditions.find(write.desired, "Ready")
        self.state.ready[write.kind, write.namespace, write.name] = ready.get("status") == "True"


def _failed(error: ApiError) -> bool:
    if error.status == 404:
        return True  # Deleted meanwhile: the event of it does the rest.
    if error.status == 409:
        metrics.STATUS_WRITES.labels("conflict").inc()
        return False
    metrics.STATUS_WRITES.labels("failed").inc()
    raise error
