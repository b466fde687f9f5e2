"""Reads the spec of a MemoryDomain: a domain, its owner, and the system of record that speaks for it."""

from typing import Final

from memwarden_policy import bounds, globs
from memwarden_policy.model import Resource
from memwarden_policy.policies import read_store_reference
from memwarden_policy.records import Domain, Row, SystemOfRecord, Table, Webhook
from memwarden_policy.shapes import Findings, Node
from memwarden_policy.stores import read_bundle, read_url

FIELDS: Final = ("storeRef", "domain", "owner", "systemOfRecord")
RECORD_FIELDS: Final = ("webhook", "table")
WEBHOOK_FIELDS: Final = ("url", "timeoutSeconds", "caBundle")
ROW_FIELDS: Final = ("subject", "topic", "value")
TIMEOUT_SECONDS_DEFAULT = 2


def read(resource: Resource, findings: Findings) -> Domain:
    """Return the domain. With problems in `findings` the answer means nothing."""
    spec = Node("spec", resource.spec, findings)
    spec.knows(*FIELDS)
    read_store_reference(spec)
    spec.require("domain")
    if not spec.has("owner") and not spec.has("systemOfRecord"):
        spec.problem("", "SaysNothing", "name an `owner`, a `systemOfRecord`, or both")
    return Domain(
        name=resource.name,
        glob=globs.compiled(spec.text("domain", bounds.DOMAIN_LENGTH_MAX) or ""),
        owner=spec.text("owner", bounds.PERSON_LENGTH_MAX),
        record=_record(spec.node("systemOfRecord")) if spec.has("systemOfRecord") else None,
    )


def _record(node: Node) -> SystemOfRecord:
    node.knows(*RECORD_FIELDS)
    if node.has("webhook") == node.has("table"):
        node.problem("", "Conflict", "say one of `webhook` and `table`")
    if node.has("table"):
        table = node.node("table")
        table.knows("rows")
        table.require("rows")
        table.filled("rows")
        return Table(rows=tuple(_row(each) for each in table.nodes("rows", bounds.RECORD_ROWS_MAX)))
    webhook = node.node("webhook")
    webhook.knows(*WEBHOOK_FIELDS)
    if node.has("webhook"):
        webhook.require("url")
    return Webhook(
        url=read_url(webhook) or "",
        timeout_seconds=(
            webhook.whole("timeoutSeconds", 1, bounds.WEBHOOK_TIMEOUT_SECONDS_MAX) or TIMEOUT_SECONDS_DEFAULT
        ),
        ca_bundle=read_bundle(webhook) or "",
    )


def _row(node: Node) -> Row:
    node.knows(*ROW_FIELDS)
    node.require("subject")
    node.require("value")
    return Row(
        subject=node.text("subject", bounds.SUBJECT_LENGTH_MAX) or "",
        topic=node.text("topic", bounds.TOPIC_LENGTH_MAX) or "",
        value=node.text("value", bounds.RECORD_VALUE_LENGTH_MAX) or "",
    )
