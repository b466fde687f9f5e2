"""Turns what a watch tells into keys of the queue; our own echo and what changed nothing are dropped here."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memwarden_operator import shapes
from memwarden_operator.shapes import Namespace, StoreKey
from memwarden_operator.state import State, mark
from memwarden_operator.work import Floor, Key, Queue, Workspace
from memwarden_policy.model import Kind

DELETED = "DELETED"


@dataclass(slots=True, kw_only=True)
class Inbox:
    """Everything a watch tells goes through here."""

    state: State
    queue: Queue[Key]
    sweep_wanted: asyncio.Event
    _namespaces: dict[str, Namespace] = field(default_factory=dict)

    def policy(self, kind: Kind, event: str | None, document: Mapping[str, Any]) -> None:
        """Take note of a policy or grant of a namespace."""
        if event != DELETED and self._is_echo(kind, document):
            return
        metadata = document["metadata"]
        home = metadata["namespace"]
        if event == DELETED:
            self.state.forget((kind, home, metadata["name"]))
        self._touch(home, shapes.store_ref(home, document.get("spec") or {}))

    def floor(self, event: str | None, document: Mapping[str, Any]) -> None:
        """Take note of a ClusterMemoryPolicy: it concerns every workspace."""
        if event != DELETED and self._is_echo(Kind.CLUSTER_MEMORY_POLICY, document):
            return
        if event == DELETED:
            self.state.forget((Kind.CLUSTER_MEMORY_POLICY, "", document["metadata"]["name"]))
        for key in self.state.held:
            self.queue.add(key)
        self.queue.add(Floor())

    def store(self, event: str | None, document: Mapping[str, Any]) -> None:
        """Take note of a store: which objects it takes may be another set now."""
        metadata = document["metadata"]
        key = StoreKey(metadata["namespace"], metadata["name"])
        now = (metadata["uid"], metadata["generation"])
        if event == DELETED:
            self.state.store_versions.pop(key, None)
            self.state.forget((Kind.MEMORY_STORE, key.namespace, key.name))
        elif self.state.store_versions.get(key) == now:
            return
        else:
            self.state.store_versions[key] = now
        self.sweep_wanted.set()

    def namespace(self, event: str | None, document: Mapping[str, Any]) -> None:
        """Take note of a namespace: a new UID is a new workspace, and stores select by labels."""
        now = shapes.namespace(document)
        before = self._namespaces.get(now.name)
        if event == DELETED:
            self._namespaces.pop(now.name, None)
        elif before == now:
            return
        else:
            self._namespaces[now.name] = now
        if before is not None or event not in (None, DELETED):
            self._touch(now.name, None)

    def _touch(self, home: str, named: StoreKey | None) -> None:
        own = [key for key in self.state.store_versions if key.namespace == home]
        named_or_own = [named] if named else own
        keys = {*self.state.homes(home), *(Workspace(store, home) for store in named_or_own)}
        # Any key of a namespace also tells its objects that no store takes; without one, this key does.
        for key in keys or {Workspace(None, home)}:
            self.queue.add(key)

    def _is_echo(self, kind: Kind, document: Mapping[str, Any]) -> bool:
        metadata = document["metadata"]
        name = (kind, metadata.get("namespace", ""), metadata["name"])
        now = mark(metadata["uid"], metadata["generation"], document.get("status") or {})
        return self.state.written.get(name) == now and "deletionTimestamp" not in metadata
