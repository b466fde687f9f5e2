"""What the API server hands over, as frozen values; no raw document travels further than this module."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memwarden_policy.model import Action, Kind, Reads, Resource, ResourceKey, StoreDefaults

GROUP = "memwarden.dev"
VERSION = "v1alpha1"


@dataclass(frozen=True, slots=True, order=True)
class StoreKey:
    """Names a store."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyObject:
    """A policy or grant, with its status as it is stored now."""

    resource: Resource
    resource_version: str
    status: Mapping[str, Any]

    @property
    def key(self) -> ResourceKey:
        return self.resource.key

    @property
    def store_ref(self) -> StoreKey | None:
        """The store that the object names; None: it names none."""
        return store_ref(self.resource.namespace, self.resource.spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace, which is a workspace in the stores that its objects use."""

    name: str
    uid: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One condition of a label selector."""

    key: str
    operator: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Which namespaces a store takes."""

    source: str
    labels: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A MemoryStore, with its status as it is stored now."""

    key: StoreKey
    uid: str
    generation: int
    resource_version: str
    url: str
    ca_bundle: str | None  # None: the certificates that the system trusts.
    allowed: Allowed
    defaults: StoreDefaults
    status: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is in the API server, all of it or of the namespaces that were asked for."""

    stores: Mapping[StoreKey, Store]
    floor: tuple[PolicyObject, ...]
    namespaces: Mapping[str, Namespace]
    objects: Mapping[str, tuple[PolicyObject, ...]]

    def of(self, namespace: str) -> tuple[PolicyObject, ...]:
        """Return the policies and grants of a namespace, in order of kind and name."""
        return self.objects.get(namespace, ())


def policy_object(kind: Kind, document: Mapping[str, Any]) -> PolicyObject:
    """Shape one policy or grant; its spec is judged by the core, not here."""
    metadata = document["metadata"]
    resource = Resource(
        kind=kind,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        generation=metadata["generation"],
        spec=document.get("spec") or {},
    )
    return PolicyObject(
        resource=resource, resource_version=metadata["resourceVersion"], status=document.get("status") or {}
    )


def policy_objects(kind: Kind, documents: Iterable[Mapping[str, Any]]) -> tuple[PolicyObject, ...]:
    """Shape a list. An object that is being deleted counts as deleted: its author's word is given."""
    return tuple(policy_object(kind, each) for each in documents if "deletionTimestamp" not in each["metadata"])


def namespace(document: Mapping[str, Any]) -> Namespace:
    """Shape one namespace."""
    metadata = document["metadata"]
    return Namespace(name=metadata["name"], uid=metadata["uid"], labels=metadata.get("labels") or {})


def store(document: Mapping[str, Any]) -> Store:
    """Shape one store. The API server has checked it against the schema and filled the defaults in."""
    metadata, spec = document["metadata"], document["spec"]
    key = StoreKey(metadata["namespace"], metadata["name"])
    defaults = StoreDefaults(
        namespace=key.namespace,
        name=key.name,
        uid=metadata["uid"],
        admission_default=Action(spec.get("admissionDefault", Action.REQUIRE_CONFIRMATION)),
        reads=Reads(spec.get("access", {}).get("reads", Reads.GRANTED)),
    )
    return Store(
        key=key,
        uid=metadata["uid"],
        generation=metadata["generation"],
        resource_version=metadata["resourceVersion"],
        url=spec["endpoint"]["url"].rstrip("/"),
        ca_bundle=spec["endpoint"].get("caBundle"),
        allowed=_allowed(spec.get("allowedNamespaces") or {"from": "Same"}),
        defaults=defaults,
        status=document.get("status") or {},
    )


def store_ref(own_namespace: str, spec: Mapping[str, Any]) -> StoreKey | None:
    """Return the store that a spec names; None: it names none."""
    reference = spec.get("storeRef")
    if not isinstance(reference, Mapping) or "name" not in reference:
        return None
    return StoreKey(str(reference.get("namespace") or own_namespace), str(reference["name"]))


def _allowed(spec: Mapping[str, Any]) -> Allowed:
    selector = spec.get("selector") or {}
    expressions = tuple(
        Expression(key=each["key"], operator=each["operator"], values=frozenset(each.get("values") or ()))
        for each in selector.get("matchExpressions") or ()
    )
    return Allowed(source=spec["from"], labels=selector.get("matchLabels") or {}, expressions=expressions)
