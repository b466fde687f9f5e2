"""Kubernetes Events, written when something happened to an object, with a count where the same happens again."""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from memwarden_operator import metrics
from memwarden_operator.cluster import ApiError, Cluster
from memwarden_operator.conditions import find, one_line
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import GROUP, VERSION

log = logging.getLogger(__name__)

WAITING_MAX = 1000
NAME_LENGTH_MAX = 200
DIGEST_LENGTH = 16
# Events of what has no namespace go where kubectl looks for them.
CLUSTER_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The object that an event is about."""

    kind: str
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What happened, in the past tense, with the same words for the same facts."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


def happened(observed: Mapping[str, Any], desired: Mapping[str, Any]) -> Happening | None:
    """Return what the change from one status to another means to people; None: nothing worth an event."""
    accepted, ready = find(desired, "Accepted"), find(desired, "Ready")
    in_force = find(desired, "InForce")
    if in_force.get("reason") == Reason.LAST_GOOD_LOST and _moved(observed, in_force):
        return _warning(in_force)
    if accepted.get("status") == "False" and _moved(observed, accepted):
        return _warning(accepted)
    if not _moved(observed, ready):
        return None
    if ready.get("status") != "True":
        return _warning(ready)
    # An object that comes into force at first does what everybody expects of it.
    if find(observed, "Ready"):
        return Happening(type="Normal", reason=str(ready["reason"]), message=str(ready["message"]))
    return None


def _moved(observed: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    before = find(observed, str(condition.get("type")))
    return (before.get("status"), before.get("reason")) != (condition.get("status"), condition.get("reason"))


def _warning(condition: Mapping[str, Any]) -> Happening:
    return Happening(type="Warning", reason=str(condition["reason"]), message=str(condition["message"]))


@dataclass(slots=True)
class Recorder:
    """Writes events one after another, in the background: a slow API server holds up no workspace."""

    cluster: Cluster
    me: str
    _waiting: asyncio.Queue[tuple[About, Happening]] = field(default_factory=lambda: asyncio.Queue(WAITING_MAX))

    def record(self, about: About, what: Happening) -> None:
        """Ask for an event to be written; beyond the bound it is dropped and counted."""
        try:
            self._waiting.put_nowait((about, what))
        except asyncio.QueueFull:
            metrics.EVENTS_DROPPED.inc()

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            about, what = await self._waiting.get()
            try:
                await self._write(about, what)
            except ApiError as error:
                metrics.EVENTS_DROPPED.inc()
                log.warning("an event was not written", extra={"error": str(error), "reason": what.reason})

    async def _write(self, about: About, what: Happening) -> None:
        namespace = about.namespace or CLUSTER_NAMESPACE
        path = f"/api/v1/namespaces/{namespace}/events"
        event = document(about, what, self.me, datetime.now(UTC))
        try:
            await self.cluster.create(path, event)
        except ApiError as error:
            if error.status != 409:
                raise
            one = f"{path}/{event['metadata']['name']}"
            before = await self.cluster.get(one)
            count = int(before.get("count") or 1) + 1
            await self.cluster.merge(one, {"count": count, "lastTimestamp": event["lastTimestamp"]})


def document(about: About, what: Happening, me: str, now: datetime) -> dict[str, Any]:
    """Return the Event; the same happening of the same object has the same name."""
    message = one_line(what.message)
    told = hashlib.sha256("\n".join((about.uid, what.type, what.reason, message)).encode()).hexdigest()
    moment = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{about.name[:NAME_LENGTH_MAX]}.{told[:DIGEST_LENGTH]}",
            "namespace": about.namespace or CLUSTER_NAMESPACE,
        },
        "involvedObject": {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": about.kind,
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        },
        "type": what.type,
        "reason": what.reason,
        "message": message,
        "count": 1,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": "memwarden-operator"},
        "reportingComponent": "memwarden.dev/operator",
        "reportingInstance": me,
    }
