"""Reads resources from documents as people write them; strict where the API server would silently drop a field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from memwarden_policy import bounds
from memwarden_policy.model import API_VERSION, Kind, Problem, Resource
from memwarden_policy.nearest import nearest
from memwarden_policy.shapes import Findings, Node

FIELDS: Final = ("apiVersion", "kind", "metadata", "spec", "status")
KINDS: Final = tuple(kind.value for kind in Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a YAML text: a resource, or the problems that keep it from being one."""

    line: int
    resource: Resource | None  # None: see the problems.
    problems: tuple[Problem, ...] = ()


def resource(document: Mapping[str, Any]) -> Resource | tuple[Problem, ...]:
    """Read one object as the API server or a file holds it. Its spec is judged by `compile`."""
    findings = Findings()
    root = Node("", document, findings)
    for name in document:
        if name not in FIELDS:
            findings.add(str(name), "UnknownField", f"unknown field `{name}`{nearest(str(name), FIELDS)}")
    if document.get("apiVersion") != API_VERSION:
        findings.add("apiVersion", "WrongVersion", f"expected {API_VERSION}, found `{document.get('apiVersion')}`")
    kind = document.get("kind")
    if kind not in KINDS:
        findings.add("kind", "UnknownKind", f"`{kind}` is not one of {', '.join(KINDS)}")
    for name in ("metadata", "spec"):
        if not isinstance(document.get(name), Mapping):
            findings.add(name, "Required", f"`{name}` is required and holds a mapping")
    metadata = Node("metadata", root.values.get("metadata") or {}, findings) if not findings.problems else None
    read = _named(str(kind), metadata, document) if metadata else None
    return read if read and not findings.problems else tuple(findings.problems)


def _named(kind: str, metadata: Node, document: Mapping[str, Any]) -> Resource:
    metadata.require("name")
    generation = metadata.values.get("generation")
    uid = metadata.values.get("uid")
    return Resource(
        kind=kind,
        namespace=metadata.text("namespace", bounds.NAMESPACE_MAX) or "",
        name=metadata.text("name", bounds.NAME_MAX) or "",
        uid=uid if isinstance(uid, str) else "",
        generation=generation if isinstance(generation, int) else 0,
        spec=document["spec"],
    )


def documents(text: str) -> tuple[Document, ...]:
    """Read every document of a YAML text; empty ones are skipped."""
    return tuple(_documents(text))


def _documents(text: str) -> Iterator[Document]:
    try:
        found = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        yield Document(line=1, resource=None, problems=(Problem(path="", reason="InvalidYAML", message=str(error)),))
        return
    for each in found:
        if isinstance(each, Mapping):
            read = resource(each)
            if isinstance(read, Resource):
                yield Document(line=1, resource=read)
            else:
                yield Document(line=1, resource=None, problems=read)
