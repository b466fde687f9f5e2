"""What a workspace's ruleset should be, and whether the service holds it already. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memwarden_operator.answers import Answer
from memwarden_operator.assignment import Refusal, assign
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import Namespace, Picture, PolicyObject, Store, StoreKey
from memwarden_operator.work import Workspace
from memwarden_policy import digest
from memwarden_policy.bounds import OBJECTS_PER_WORKSPACE_MAX
from memwarden_policy.model import Resource, ResourceKey

TOO_MANY = Refusal(
    Reason.TOO_MANY_OBJECTS,
    f"A workspace holds at most {OBJECTS_PER_WORKSPACE_MAX} objects, the floor included; this one is beyond them",
)
# What tells one offer from another: key, uid, generation and digest of each object.
Fingerprint = frozenset[tuple[ResourceKey, str, int, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The complete ruleset of one workspace: what is not in it is removed."""

    home: Namespace
    store: Store
    objects: tuple[PolicyObject, ...]
    floor: tuple[PolicyObject, ...]

    @property
    def resources(self) -> tuple[Resource, ...]:
        return tuple(each.resource for each in (*self.floor, *self.objects))


def offer(key: Workspace, picture: Picture) -> Offer | None:
    """Return what to offer for a workspace; None: its store or its namespace is gone."""
    home = picture.namespaces.get(key.namespace)
    store = picture.stores.get(key.store) if key.store else None
    if home is None or store is None:
        return None
    floor = picture.floor[:OBJECTS_PER_WORKSPACE_MAX]
    mine = [each for each in picture.of(home.name) if assign(each, home, picture.stores) == store.key]
    return Offer(home=home, store=store, objects=tuple(mine[: _room(picture)]), floor=floor)


def refused(namespace: str, picture: Picture) -> list[tuple[PolicyObject, Refusal]]:
    """Return the objects of a namespace that no store takes, each with the reason."""
    home = picture.namespaces.get(namespace)
    if home is None:
        return []
    found: list[tuple[PolicyObject, Refusal]] = []
    taken: Counter[StoreKey] = Counter()
    for each in picture.of(namespace):
        verdict = assign(each, home, picture.stores)
        if isinstance(verdict, Refusal):
            found.append((each, verdict))
            continue
        taken[verdict] += 1
        if taken[verdict] > _room(picture):
            found.append((each, TOO_MANY))
    return found


def _room(picture: Picture) -> int:
    """Return how many objects of its own a workspace may hold beside the floor, in order of kind and name."""
    return max(0, OBJECTS_PER_WORKSPACE_MAX - len(picture.floor))


def workspaces(picture: Picture) -> set[Workspace]:
    """Return every workspace that some object of the picture belongs to, also those that no store takes."""
    return {
        Workspace(verdict if isinstance(verdict, StoreKey) else None, name)
        for name, home in picture.namespaces.items()
        for verdict in (assign(each, home, picture.stores) for each in picture.of(name))
    }


def workspaces_of(namespace: str, picture: Picture) -> set[Workspace]:
    """Return the workspaces that the objects of one namespace belong to."""
    home = picture.namespaces.get(namespace)
    verdicts = [assign(each, home, picture.stores) for each in picture.of(namespace)] if home else []
    return {Workspace(verdict, namespace) for verdict in verdicts if isinstance(verdict, StoreKey)}


def body(offered: Offer, term: int, counter: int) -> dict[str, Any]:
    """Return the request that offers a ruleset, behind a fence."""
    store = offered.store.defaults
    return {
        "namespace": {"name": offered.home.name, "uid": offered.home.uid},
        "fence": {"term": term, "counter": counter},
        "store": {
            "namespace": store.namespace,
            "name": store.name,
            "uid": store.uid,
            "admission_default": store.admission_default,
            "reads": store.reads,
        },
        "objects": [_object(each) for each in offered.resources],
    }


def fingerprint(resources: Iterable[Resource]) -> Fingerprint:
    """Return what tells these resources from others."""
    return frozenset((each.key, each.uid, each.generation, digest.object_digest(each)) for each in resources)


def is_held(offered: Offer, held: Answer) -> bool:
    """Say whether the service holds exactly what is offered, so that nothing need be sent."""
    said = held.objects.values()
    known = frozenset((each.key, each.uid, each.offered.generation, each.offered.digest) for each in said)
    return (
        held.workspace.uid == offered.home.uid
        and not held.workspace.drifted
        and known == fingerprint(offered.resources)
        and all(each.in_force and each.in_force.digest == each.offered.digest for each in said if each.accepted)
        and _holds_defaults(offered, held)
    )


def _holds_defaults(offered: Offer, held: Answer) -> bool:
    if held.store is not None:
        return held.store == offered.store.defaults
    return held.workspace.digest == digest.ruleset_digest(offered.resources, offered.store.defaults)


def _object(resource: Resource) -> Mapping[str, Any]:
    return {
        "kind": resource.kind,
        "namespace": resource.namespace,
        "name": resource.name,
        "uid": resource.uid,
        "generation": resource.generation,
        "spec": resource.spec,
    }
