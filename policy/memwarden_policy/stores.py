"""Reads the spec of a MemoryStore: what it says to policies (defaults), and whether the rest has a sound shape."""

from enum import StrEnum
from typing import Final

from memwarden_policy import bounds
from memwarden_policy.model import Action, Reads, Resource, StoreDefaults
from memwarden_policy.shapes import Findings, Node

FIELDS: Final = ("endpoint", "allowedNamespaces", "admissionDefault", "access")


class Scope(StrEnum):
    """Which namespaces may use a store."""

    SAME = "Same"
    ALL = "All"
    SELECTOR = "Selector"


class LabelOperator(StrEnum):
    """How a label of a namespace is compared."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


def read(resource: Resource, findings: Findings) -> StoreDefaults:
    """Return the defaults of the store. With problems in `findings` the answer means nothing."""
    spec = Node("spec", resource.spec, findings)
    spec.knows(*FIELDS)
    _endpoint(spec)
    _allowed_namespaces(spec.node("allowedNamespaces"))
    return defaults(spec, resource)


def defaults(spec: Node, resource: Resource) -> StoreDefaults:
    """Return what the store says where no policy or grant speaks."""
    access = spec.node("access")
    access.knows("reads")
    return StoreDefaults(
        namespace=resource.namespace,
        name=resource.name,
        uid=resource.uid,
        admission_default=spec.word("admissionDefault", Action) or Action.REQUIRE_CONFIRMATION,
        reads=access.word("reads", Reads) or Reads.GRANTED,
    )


def _endpoint(spec: Node) -> None:
    spec.require("endpoint")
    endpoint = spec.node("endpoint")
    endpoint.knows("url", "caBundle")
    if spec.has("endpoint"):
        endpoint.require("url")
    read_url(endpoint)
    read_bundle(endpoint)


def read_url(node: Node) -> str | None:
    """Read the `url` of a server that is trusted with what is remembered."""
    url = node.text("url", bounds.ENDPOINT_URL_MAX)
    if url is not None and not url.startswith(("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")):
        node.problem("url", "InvalidURL", "must be https; http is taken for 127.0.0.1, ::1 and localhost alone")
    return url


def read_bundle(node: Node) -> str | None:
    """Read the `caBundle` that vouches for a server."""
    bundle = node.text("caBundle", bounds.CA_BUNDLE_MAX)
    if bundle is not None and not bundle.startswith("-----BEGIN CERTIFICATE-----"):
        node.problem("caBundle", "InvalidPEM", "must be PEM text that begins with -----BEGIN CERTIFICATE-----")
    return bundle


def _allowed_namespaces(allowed: Node) -> None:
    allowed.knows("from", "selector")
    scope = allowed.word("from", Scope)
    if allowed.values:
        allowed.require("from")
    if allowed.has("from") and (scope is Scope.SELECTOR) != allowed.has("selector"):
        allowed.problem("selector", "Conflict", "`selector` goes with `from: Selector`, and with no other")
    selector = allowed.node("selector")
    selector.knows("matchLabels", "matchExpressions")
    labels = selector.node("matchLabels")
    if len(labels.values) > bounds.NAMESPACE_LABELS_MAX:
        selector.problem("matchLabels", "TooMany", f"at most {bounds.NAMESPACE_LABELS_MAX} labels")
    for name in list(labels.values)[: bounds.NAMESPACE_LABELS_MAX]:
        if labels.values[name] != "":
            labels.text(name, bounds.LABEL_VALUE_MAX)
    for expression in selector.nodes("matchExpressions", bounds.NAMESPACE_LABELS_MAX):
        _label_expression(expression)


def _label_expression(node: Node) -> None:
    node.knows("key", "operator", "values")
    node.require("key")
    node.require("operator")
    node.text("key", bounds.LABEL_KEY_MAX)
    values = node.texts("values", bounds.NAMESPACE_LABEL_VALUES_MAX, bounds.LABEL_VALUE_MAX)
    takes_values = node.word("operator", LabelOperator) in {LabelOperator.IN, LabelOperator.NOT_IN}
    if takes_values != bool(values):
        node.problem("values", "Conflict", "`values` go with the operators In and NotIn, and with no other")
