"""What this process knows of the services: what they held when last seen, and whether they answer."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memwarden_operator.answers import ObjectAnswer, WorkspaceAnswer
from memwarden_operator.freshness import Freshness
from memwarden_operator.plan import Fingerprint
from memwarden_operator.shapes import StoreKey
from memwarden_operator.statuses import Outage
from memwarden_operator.work import Workspace
from memwarden_policy.model import ResourceKey


@dataclass(slots=True)
class Held:
    """What a service holds of one workspace, as far as we know."""

    fingerprint: Fingerprint | None = None  # None: not known; ask before offering.
    seen: WorkspaceAnswer | None = None  # None: the service has not answered for it yet.
    floor: Mapping[ResourceKey, ObjectAnswer] = field(default_factory=dict)
    holds_memories: bool = False
    outage: Outage | None = None  # None: the last attempt succeeded.
    drift: str = ""  # What was found to be another than last seen, until it is mended.


@dataclass(slots=True)
class StoreState:
    """Whether a store's service answers."""

    outage: Outage | None = None
    is_asked: bool = False


@dataclass(slots=True)
class State:
    """All of it. Lost at a restart, and then read again from the services."""

    held: dict[Workspace, Held] = field(default_factory=dict)
    stores: dict[StoreKey, StoreState] = field(default_factory=dict)
    freshness: Freshness = field(default_factory=Freshness)
    # UID and generation of each store, as last listed or told.
    store_versions: dict[StoreKey, tuple[str, int]] = field(default_factory=dict)
    # What was last written to the status of each object, as a hash: tells our own echo from a stranger's hand.
    written: dict[tuple[str, str, str], tuple[str, int, int]] = field(default_factory=dict)

    # Whether each object was Ready when its status was last written or found right.
    ready: dict[tuple[str, str, str], bool] = field(default_factory=dict)

    def forget(self, name: tuple[str, str, str]) -> None:
        """Forget an object that is gone."""
        self.written.pop(name, None)
        self.ready.pop(name, None)

    def of(self, key: Workspace) -> Held:
        """Return what is known of a workspace, an empty note when it is new."""
        return self.held.setdefault(key, Held())

    def store(self, key: StoreKey) -> StoreState:
        """Return what is known of a store."""
        return self.stores.setdefault(key, StoreState())

    def homes(self, namespace: str) -> Iterable[Workspace]:
        """Return the workspaces that services hold for a namespace."""
        return [key for key in self.held if key.namespace == namespace]

    def holding(self, store: StoreKey) -> list[Workspace]:
        """Return the workspaces that a store's service holds."""
        return sorted(
            (key for key, held in self.held.items() if key.store == store and held.seen is not None),
            key=lambda key: key.namespace,
        )


def mark(uid: str, generation: int, status: Mapping[str, Any]) -> tuple[str, int, int]:
    """Return what tells one state of an object from another, within this process."""
    return (uid, generation, hash(json.dumps(status, sort_keys=True)))
