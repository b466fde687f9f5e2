"""Digests of objects and rulesets: SHA-256 over one canonical JSON, the same from a file, from a row, from the API."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from memwarden_policy.model import Resource, ResourceKey, StoreDefaults

# Moves when the canonical form changes, so that old and new digests never look alike.
FORMAT_VERSION = 1
# What nests deeper is left out: no object that does is ever accepted, and a hostile one must not exhaust the stack.
DEPTH_MAX = 32


def object_digest(resource: Resource) -> str:
    """Return the digest of one object, blind to generation, labels, status and the order of keys."""
    return _digest({"format": FORMAT_VERSION, "object": _object(resource)})


def ruleset_digest(resources: Iterable[Resource], store: StoreDefaults) -> str:
    """Return the digest of all objects of a workspace with the store's defaults, blind to their order."""
    objects = [_object(resource) for resource in sorted(resources, key=lambda each: each.key)]
    return _digest({"format": FORMAT_VERSION, "objects": objects, "store": _store(store)})


def retention_digest(policies: Iterable[tuple[ResourceKey, Mapping[str, Any]]]) -> str:
    """Return the digest of all that policies say of how long memories are kept; "" where none says anything."""
    said = [
        {"key": list(key), "selector": spec.get("selector"), "retention": spec["retention"]}
        for key, spec in sorted(policies, key=lambda each: each[0])
    ]
    return _digest({"format": FORMAT_VERSION, "retention": said}) if said else ""


def _object(resource: Resource) -> dict[str, Any]:
    kind, namespace, name = resource.key
    return {"kind": kind, "namespace": namespace, "name": name, "uid": resource.uid, "spec": resource.spec}


def _store(store: StoreDefaults) -> dict[str, str]:
    return {
        "namespace": store.namespace,
        "name": store.name,
        "uid": store.uid,
        "admission_default": store.admission_default,
        "reads": store.reads,
    }


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(_canonical(value, DEPTH_MAX), sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _canonical(value: Any, levels: int) -> Any:
    match value:
        case Mapping() | list() | tuple() if not levels:
            return "..."
        case Mapping():
            return {str(key): _canonical(each, levels - 1) for key, each in value.items()}
        case list() | tuple():
            return [_canonical(each, levels - 1) for each in value]
        case float() if value.is_integer():
            # A database hands 100.0 back as 100, and 1e23 as the digits that are written, not as the nearest double.
            return int(Decimal(repr(value)))
        case _:
            return value
