"""Gathers what the API server holds, from LISTs: of everything, or of a few namespaces when a few are asked for."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memwarden_operator import shapes
from memwarden_operator.cluster import ApiError, Cluster, resource_path
from memwarden_operator.freshness import Freshness
from memwarden_operator.shapes import Namespace, Picture, PolicyObject
from memwarden_policy.model import Kind

PLURALS: Mapping[Kind, str] = {
    Kind.MEMORY_STORE: "memorystores",
    Kind.MEMORY_POLICY: "memorypolicies",
    Kind.CLUSTER_MEMORY_POLICY: "clustermemorypolicies",
    Kind.MEMORY_ACCESS_GRANT: "memoryaccessgrants",
    Kind.MEMORY_DOMAIN: "memorydomains",
}
NAMESPACED = (Kind.MEMORY_POLICY, Kind.MEMORY_ACCESS_GRANT, Kind.MEMORY_DOMAIN)
# Beyond so many namespaces one LIST of everything is cheaper than three for each.
NAMESPACES_APART_MAX = 8


async def picture(cluster: Cluster, namespaces: Collection[str] | None, freshness: Freshness) -> Picture:
    """LIST the stores, the floor, and the objects of some namespaces; None: of all, as fresh as can be.

    Raises:
        ApiError: the API server did not answer.
    """
    lists = Lists(cluster=cluster, freshness=freshness, is_fresh=namespaces is None)
    if namespaces is None or len(namespaces) > NAMESPACES_APART_MAX:
        inside = _everywhere(lists)
    else:
        inside = _in(lists, sorted(namespaces))
    stores, floor, (found, objects) = await asyncio.gather(
        lists.of(Kind.MEMORY_STORE), lists.of(Kind.CLUSTER_MEMORY_POLICY), inside
    )
    shaped = [shapes.store(each) for each in stores if "deletionTimestamp" not in each["metadata"]]
    return Picture(
        stores={each.key: each for each in shaped},
        floor=_sorted(shapes.policy_objects(Kind.CLUSTER_MEMORY_POLICY, floor)),
        namespaces={each.name: each for each in found},
        objects=_by_namespace(objects),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """LISTs that take note of how fresh they were."""

    cluster: Cluster
    freshness: Freshness
    is_fresh: bool  # As fresh as can be; otherwise as fresh as what was seen.

    async def of(self, kind: Kind, namespace: str | None = None) -> list[dict[str, Any]]:
        plural = PLURALS[kind]
        query = {} if self.is_fresh else self.freshness.query(plural)
        found = await self.cluster.listing(resource_path(plural, namespace), query)
        self.freshness.saw(plural, found.version)
        return found.items


async def _everywhere(lists: Lists) -> tuple[list[Namespace], list[PolicyObject]]:
    namespaces, *objects = await asyncio.gather(
        lists.cluster.list("/api/v1/namespaces"), *(_objects(lists, kind, None) for kind in NAMESPACED)
    )
    return [shapes.namespace(each) for each in namespaces], [one for some in objects for one in some]


async def _in(lists: Lists, names: Sequence[str]) -> tuple[list[Namespace], list[PolicyObject]]:
    found, *objects = await asyncio.gather(
        asyncio.gather(*(_namespace(lists.cluster, name) for name in names)),
        *(_objects(lists, kind, name) for kind in NAMESPACED for name in names),
    )
    namespaces = [shapes.namespace(each) for each in found if each is not None]
    return namespaces, [one for some in objects for one in some]


async def _namespace(cluster: Cluster, name: str) -> dict[str, Any] | None:
    try:
        return await cluster.get(f"/api/v1/namespaces/{name}")
    except ApiError as error:
        if error.status == 404:
            return None
        raise


async def _objects(lists: Lists, kind: Kind, namespace: str | None) -> tuple[PolicyObject, ...]:
    return shapes.policy_objects(kind, await lists.of(kind, namespace))


def _by_namespace(objects: Sequence[PolicyObject]) -> dict[str, tuple[PolicyObject, ...]]:
    found: dict[str, list[PolicyObject]] = defaultdict(list)
    for each in objects:
        found[each.resource.namespace].append(each)
    return {name: _sorted(some) for name, some in found.items()}


def _sorted(objects: Sequence[PolicyObject]) -> tuple[PolicyObject, ...]:
    return tuple(sorted(objects, key=lambda each: each.key))
