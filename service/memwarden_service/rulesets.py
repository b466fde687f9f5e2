"""Compiled rulesets by workspace and revision: read whole in one statement, compiled once, kept while in use."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from memwarden_policy.compile import compile_ruleset
from memwarden_policy.digest import ruleset_digest
from memwarden_policy.model import Action, Reads, Resource, StoreDefaults
from memwarden_policy.ruleset import Ruleset
from memwarden_service import metrics

RULESETS_CACHED_MAX = 2_000
# A revision alone comes back after a restore or an edit by hand; together with who moved it, and to what, it does not.
Version = tuple[int, int, str]  # Revision, transaction that made it, digest written down.

READ_RULESET = text("""
  select w.name, r.revision, r.moved_in, r.digest, r.store,
    (select coalesce(jsonb_agg(jsonb_build_object('kind', o.kind, 'namespace', o.namespace, 'name', o.name,
        'uid', o.uid, 'generation', o.generation, 'spec', o.spec)), '[]')
      from memwarden.policy_object o where o.workspace_id = r.workspace_id and o.spec is not null) as objects
  from memwarden.ruleset r join memwarden.workspace w on w.id = r.workspace_id where r.workspace_id = :workspace
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What is in force in a workspace at one revision, whole."""

    revision: int
    moved_in: int
    ruleset: Ruleset
    digest: str  # Computed from the rows.
    recorded_digest: str  # Written down when the rules were last put.

    @property
    def version(self) -> Version:
        """What tells this ruleset from every other of the workspace."""
        return self.revision, self.moved_in, self.recorded_digest

    @property
    def is_drifted(self) -> bool:
        """Say whether a row was changed by another hand than the operator's."""
        return self.digest != self.recorded_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A ruleset as its rows say it."""

    workspace: str
    revision: int
    moved_in: int
    digest: str
    store: Any  # A hand-edited row may hold anything.
    objects: Sequence[Mapping[str, Any]]


class Rulesets:
    """The cache. One compilation runs at a time for a workspace, whoever asks."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, InForce] = OrderedDict()
        self._loading: dict[UUID, asyncio.Task[InForce]] = {}

    def get(self, workspace: UUID, version: Version) -> InForce | None:
        """Return what is in force at the version; None: it must be loaded first."""
        kept = self._kept.get(workspace)
        if kept is None or kept.version != version:
            return None
        self._kept.move_to_end(workspace)
        return kept

    async def load(self, workspace: UUID, read: Callable[[], Awaitable[Rows]]) -> InForce:
        """Read and compile the newest ruleset. `read` runs in a transaction that is over before the compilation."""
        task = self._loading.get(workspace)
        if task is None:
            task = asyncio.create_task(self._compile(workspace, read))
            self._loading[workspace] = task
            task.add_done_callback(lambda _: self._loading.pop(workspace, None))
        # One caller that goes away does not take the ruleset from the others.
        return await asyncio.shield(task)

    async def _compile(self, workspace: UUID, read: Callable[[], Awaitable[Rows]]) -> InForce:
        rows = await read()
        began = time.perf_counter()
        found = await asyncio.to_thread(compiled, rows)
        metrics.COMPILE_SECONDS.observe(time.perf_counter() - began)
        self._kept[workspace] = found
        self._kept.move_to_end(workspace)
        while len(self._kept) > RULESETS_CACHED_MAX:
            self._kept.popitem(last=False)
        return found


def compiled(rows: Rows) -> InForce:
    """Compile rows. A row that no longer compiles is left out, as the compiler does with any bad object."""
    defaults = store_defaults(rows.store)
    resources = [resource(each) for each in rows.objects]
    ruleset = compile_ruleset(resources, defaults, workspace=rows.workspace).ruleset
    digest = ruleset_digest(resources, defaults)
    return InForce(
        revision=rows.revision, moved_in=rows.moved_in, ruleset=ruleset, digest=digest, recorded_digest=rows.digest
    )


def resource(row: Mapping[str, Any]) -> Resource:
    """Return the resource that a row holds; a spec that is no object, as only a hand can write it, says nothing."""
    return Resource(
        kind=row["kind"],
        namespace=row["namespace"],
        name=row["name"],
        uid=row["uid"],
        generation=row["generation"] or 0,
        spec=row["spec"] if isinstance(row["spec"], Mapping) else {},
    )


def store_defaults(row: Any) -> StoreDefaults:
    """Return the store's defaults that a row holds; what a hand-edited row no longer says is the strict default."""
    texts = {name: each for name, each in row.items() if isinstance(each, str)} if isinstance(row, Mapping) else {}
    action, reads = texts.get("admission_default"), texts.get("reads")
    return StoreDefaults(
        namespace=texts.get("namespace", ""),
        name=texts.get("name", ""),
        uid=texts.get("uid", ""),
        admission_default=Action(action) if action in set(Action) else Action.REQUIRE_CONFIRMATION,
        reads=Reads(reads) if reads in set(Reads) else Reads.GRANTED,
    )
