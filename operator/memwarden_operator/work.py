"""What is to be done, and when: keys, coalesced, with jittered exponential backoff. Clock and dice are handed in."""

import asyncio
import random
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from memwarden_operator.shapes import StoreKey
from memwarden_policy.model import ResourceKey

BACKOFF_FIRST_SECONDS = 0.5
BACKOFF_MAX_SECONDS = 60.0
BACKOFF_DOUBLINGS_MAX = 10
COUNTING_DELAY_SECONDS = 1.0  # Several edits in a row are counted once.


@dataclass(frozen=True, slots=True)
class Workspace:
    """A namespace in a store; without a store, its objects that no store takes."""

    store: StoreKey | None
    namespace: str

    def __str__(self) -> str:
        return f"{self.store or 'no store'}: {self.namespace}"


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The status of one MemoryStore."""

    store: StoreKey


@dataclass(frozen=True, slots=True)
class Floor:
    """The statuses of all ClusterMemoryPolicies."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What one policy does to the memories that exist; without a store, one of the floor, in all workspaces."""

    store: StoreKey | None
    policy: ResourceKey  # Kind, namespace, name.

    def __str__(self) -> str:
        return "/".join(part for part in self.policy if part)


Key: TypeAlias = Workspace | StoreStatus | Floor
K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Queue(Generic[K]):
    """Keys that wait for their moment. A key that is added again while it is worked on waits until that is over."""

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random
    _due: dict[K, float] = field(default_factory=dict)
    _since: dict[K, float] = field(default_factory=dict)
    _busy: set[K] = field(default_factory=set)
    _failures: dict[K, int] = field(default_factory=dict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _is_stopped: bool = False

    def __len__(self) -> int:
        """Return how many keys wait for work or for another attempt; those that wait for a date are not counted."""
        now = self.clock()
        return sum(1 for key, due in self._due.items() if due <= now or key in self._failures)

    @property
    def retrying(self) -> frozenset[K]:
        """The keys whose last attempt failed."""
        return frozenset(self._failures)

    def is_quiet(self) -> bool:
        """Say whether everything that is due was tried once."""
        now = self.clock()
        due = (key for key, at in self._due.items() if at <= now)
        return all(key in self._failures for key in (*due, *self._busy))

    def has_untried_workspaces(self) -> bool:
        """Say whether a workspace waits or is worked on whose last attempt did not fail."""
        now = self.clock()
        untried = (key for key, due in self._due.items() if due <= now or key in self._busy)
        return any(
            isinstance(key, Workspace) and key.store is not None and key not in self._failures
            for key in (*untried, *self._busy)
        )

    def age(self) -> float:
        """Return for how many seconds the oldest key that is due has waited."""
        now = self.clock()
        waiting = [now - max(self._since[key], due) for key, due in self._due.items() if due <= now]
        return max(waiting, default=0.0)

    def add(self, key: K, delay: float = 0.0) -> None:
        """Ask for a key to be worked on after `delay` seconds; the earliest wish counts."""
        due = self.clock() + delay
        self._since.setdefault(key, self.clock())
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            self._wake.set()

    def hasten(self, keys: frozenset[K]) -> None:
        """Let keys that wait for another attempt be tried now."""
        for key in keys & self._failures.keys():
            self.add(key)

    def take(self, limit: int) -> list[K]:
        """Take the keys that are due and that nobody works on, the longest waiting first."""
        now = self.clock()
        ready = sorted(
            (due, index) for index, (key, due) in enumerate(self._due.items()) if self._is_ready(key, due, now)
        )
        keys = list(self._due)
        taken = [keys[index] for _, index in ready[:limit]]
        for key in taken:
            del self._due[key]
            del self._since[key]
            self._busy.add(key)
        return taken

    async def next(self, limit: int) -> list[K]:
        """Wait until at least one key can be taken, and take up to `limit`; none when the queue was stopped."""
        while not self._is_stopped:
            self._wake.clear()
            if taken := self.take(limit):
                return taken
            try:
                async with asyncio.timeout(self._pause()):
                    await self._wake.wait()
            except TimeoutError:
                continue
        return []

    def stop(self) -> None:
        """Let `next` hand out nothing more."""
        self._is_stopped = True
        self._wake.set()

    def done(self, key: K) -> None:
        """Give a key back: it succeeded."""
        self._failures.pop(key, None)
        self._release(key)

    def failed(self, key: K) -> None:
        """Give a key back: it is tried again, later each time."""
        failures = min(self._failures.get(key, 0) + 1, BACKOFF_DOUBLINGS_MAX)
        self._failures[key] = failures
        self._release(key)
        self.add(key, backoff(failures, self.jitter()))

    def _release(self, key: K) -> None:
        self._busy.discard(key)
        self._wake.set()

    def _is_ready(self, key: K, due: float, now: float) -> bool:
        return due <= now and key not in self._busy

    def _pause(self) -> float | None:
        waiting = [due for key, due in self._due.items() if key not in self._busy]
        return max(0.0, min(waiting) - self.clock()) if waiting else None


def backoff(failures: int, dice: float) -> float:
    """Return the pause after so many failures in a row: half of it fixed, half of it by the dice (0 to 1)."""
    full = min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2.0 ** (failures - 1))
    return full * (0.5 + dice / 2)
