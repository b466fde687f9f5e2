"""Which store takes an object: the one it names, else the only one of its own namespace; never a guess."""

from collections.abc import Mapping
from dataclasses import dataclass

from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import Allowed, Expression, Namespace, PolicyObject, Store, StoreKey

STORES_NAMED_MAX = 5


@dataclass(frozen=True, slots=True)
class Refusal:
    """No store takes the object, and why."""

    reason: Reason
    message: str


def assign(each: PolicyObject, home: Namespace, stores: Mapping[StoreKey, Store]) -> StoreKey | Refusal:
    """Return the store that takes an object of the namespace `home`, or why none does."""
    named = each.store_ref
    if named is None:
        return _own(home, stores)
    if named not in stores:
        return Refusal(Reason.STORE_NOT_FOUND, f"There is no MemoryStore {named}; create it, or correct spec.storeRef")
    if not takes(stores[named], home):
        return Refusal(
            Reason.STORE_NOT_ALLOWED,
            f"The MemoryStore {named} does not take the namespace {home.name}; its allowedNamespaces must name it",
        )
    return named


def takes(store: Store, home: Namespace) -> bool:
    """Say whether a store takes the objects of a namespace."""
    match store.allowed.source:
        case "All":
            return True
        case "Selector":
            return selects(store.allowed, home.labels)
        case _:
            return store.key.namespace == home.name


def selects(allowed: Allowed, labels: Mapping[str, str]) -> bool:
    """Say whether a label selector takes a set of labels."""
    return all(labels.get(key) == value for key, value in allowed.labels.items()) and all(
        _holds(each, labels) for each in allowed.expressions
    )


def _holds(expression: Expression, labels: Mapping[str, str]) -> bool:
    match expression.operator:
        case "In":
            return labels.get(expression.key) in expression.values
        case "NotIn":
            return labels.get(expression.key) not in expression.values
        case "Exists":
            return expression.key in labels
        case "DoesNotExist":
            return expression.key not in labels
    return False


def _own(home: Namespace, stores: Mapping[StoreKey, Store]) -> StoreKey | Refusal:
    own = sorted(key for key in stores if key.namespace == home.name)
    if not own:
        return Refusal(
            Reason.STORE_NOT_FOUND,
            f"The namespace {home.name} has no MemoryStore; name one in spec.storeRef",
        )
    if len(own) > 1:
        names = ", ".join(key.name for key in own[:STORES_NAMED_MAX])
        return Refusal(
            Reason.STORE_AMBIGUOUS,
            f"The namespace {home.name} has several MemoryStores ({names}); name one in spec.storeRef",
        )
    if not takes(stores[own[0]], home):
        return Refusal(
            Reason.STORE_NOT_ALLOWED,
            f"The MemoryStore {own[0]} does not take its own namespace; its allowedNamespaces must name it",
        )
    return own[0]
