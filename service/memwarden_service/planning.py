"""What a change of policies would do to the memories that exist: streamed, so that memory stays flat."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from memwarden_policy.compile import Compiled, compile_ruleset
from memwarden_policy.model import Memory, Mode, Resource, ResourceKey, StoreDefaults
from memwarden_policy.plan import Impact, impact
from memwarden_policy.ruleset import Ruleset
from memwarden_service import reading, rows
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.rulesets import READ_RULESET, resource, store_defaults

CHUNK_ROWS = 1_000
FAULTS_MAX = 16
_gate = asyncio.Lock()  # One at a time in a process: each keeps a core busy for seconds.


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The objects in force in a workspace; they are compiled when no connection is held."""

    workspace: str
    revision: int
    objects: Mapping[ResourceKey, Resource]
    store: StoreDefaults

    async def with_(self, offered: Sequence[Resource]) -> Ruleset:
        """Return the ruleset with the offered objects in place of those of the same name.

        Raises:
            ProblemError: an offered object would not be accepted.
        """
        compiled = await self._compiled({**self.objects, **{each.key: each for each in offered}})
        faults = [
            Fault(f"{each.kind}/{each.name}: {problem.path}", problem.reason, problem.message)
            for each in offered
            for problem in compiled.verdicts[each.key].problems
        ]
        if faults:
            raise ProblemError(Kind.INVALID, faults=faults[:FAULTS_MAX])
        return compiled.ruleset

    async def without(self, key: ResourceKey) -> Ruleset:
        """Return the ruleset as it would be without one object."""
        return (await self._compiled({name: each for name, each in self.objects.items() if name != key})).ruleset

    async def enforcing(self, key: ResourceKey) -> Ruleset:
        """Return the ruleset as it would be with one object enforced, whose own mode may be Audit."""
        enforced = replace(self.objects[key], spec={**self.objects[key].spec, "mode": Mode.ENFORCE.value})
        return (await self._compiled({**self.objects, key: enforced})).ruleset

    async def _compiled(self, objects: Mapping[ResourceKey, Resource]) -> Compiled:
        return await asyncio.to_thread(compile_ruleset, list(objects.values()), self.store, workspace=self.workspace)


async def held(connection: AsyncConnection, workspace: UUID) -> Held:
    """Return what is in force."""
    row = (await connection.execute(READ_RULESET, {"workspace": workspace})).one()
    objects = {each.key: each for each in map(resource, row.objects)}
    return Held(workspace=row.name, revision=row.revision, objects=objects, store=store_defaults(row.store))


async def compared(
    connection: AsyncConnection, workspace: UUID, rulesets: tuple[Ruleset, Ruleset], now: datetime
) -> Impact:
    """Count what the second ruleset does otherwise than the first, over the memories that the transaction may read.

    Raises:
        ProblemError: another plan is being computed.
    """
    if _gate.locked():
        raise ProblemError(Kind.UNAVAILABLE, "another plan is being computed")
    async with _gate:
        result = await connection.stream(
            reading.EVERY_MEMORY, {"workspace": workspace}, execution_options={"yield_per": CHUNK_ROWS}
        )
        feed = _Feed(result.partitions(CHUNK_ROWS))
        work = asyncio.create_task(asyncio.to_thread(impact, *rulesets, feed.memories(), now))
        try:
            return await asyncio.shield(work)
        finally:
            # The connection is not given back before the thread has stopped reading from it.
            feed.is_over = True
            await asyncio.wait([work])


class _Feed:
    """Hands rows, as they come from the database, to a thread that takes one memory at a time."""

    def __init__(self, chunks: AsyncIterator[Sequence[Row[Any]]]) -> None:
        self._chunks, self._loop = chunks, asyncio.get_running_loop()
        self.is_over = False

    def memories(self) -> Iterator[Memory]:
        while chunk := asyncio.run_coroutine_threadsafe(self._next(), self._loop).result():
            for row in chunk:
                yield rows.memory(row, row.domain)

    async def _next(self) -> Sequence[Row[Any]]:
        return [] if self.is_over else await anext(self._chunks, [])
