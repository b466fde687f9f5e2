"""Reads resources from documents as people write them; strict where the API server would silently drop a field."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memwarden_policy import bounds, yamltext
from memwarden_policy.model import API_VERSION, Kind, Problem, Resource
from memwarden_policy.nearest import nearest
from memwarden_policy.shapes import DOTTED_NAME, LABEL, Findings, Node

FIELDS: Final = ("apiVersion", "kind", "metadata", "spec", "status")
KINDS: Final = tuple(kind.value for kind in Kind)
GROUP: Final = API_VERSION.partition("/")[0]
# A group this much like ours is a slip of the pen, not somebody else's resource.
LIKENESS_OF_A_SLIP = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of a YAML text: a resource, somebody else's resource, or the problems that keep it out."""

    line: int
    resource: Resource | None = None  # None: foreign, or see the problems.
    problems: tuple[Problem, ...] = ()
    foreign: str = ""  # "": ours. Else such as "apps/v1 Deployment": nothing for us to judge.
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)

    def line_of(self, path: str) -> int:
        """Return the line of a path of a problem, or of the nearest part of it that is there."""
        while path and path not in self.lines:
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.lines.get(path, self.line)


def resource(document: Mapping[str, Any]) -> Resource | tuple[Problem, ...]:
    """Read one object as the API server or a file holds it. Its spec is judged by `compile`."""
    findings = Findings()
    Node("", document, findings).knows(*FIELDS)
    version, kind = document.get("apiVersion"), document.get("kind")
    if version != API_VERSION:
        findings.add("apiVersion", "WrongVersion", f"expected {API_VERSION}, found {_shown(version)}")
    if kind not in KINDS:
        findings.add("kind", "UnknownKind", f"{_shown(kind)} is not one of {', '.join(KINDS)}{_hint(kind)}")
    for name in ("metadata", "spec"):
        if not isinstance(document.get(name), Mapping):
            findings.add(name, "Required", f"`{name}` is required and holds a mapping")
    if findings.problems:
        return tuple(findings.problems)
    read = _named(str(kind), Node("metadata", document["metadata"], findings), document["spec"])
    return tuple(findings.problems) or read


def _shown(value: Any) -> str:
    return f"`{value[:100]}`" if isinstance(value, str) else "nothing" if value is None else "no text"


def _hint(kind: Any) -> str:
    return nearest(kind, KINDS) if isinstance(kind, str) else ""


def _named(kind: str, metadata: Node, spec: Mapping[str, Any]) -> Resource:
    metadata.require("name")
    generation, uid = metadata.values.get("generation"), metadata.values.get("uid")
    is_cluster_scoped = kind == Kind.CLUSTER_MEMORY_POLICY
    if is_cluster_scoped and metadata.has("namespace"):
        metadata.problem("namespace", "NotApplicable", f"a {kind} has no namespace")
    return Resource(
        kind=kind,
        namespace=metadata.matching("namespace", LABEL, bounds.NAMESPACE_MAX) or "",
        name=metadata.matching("name", DOTTED_NAME, bounds.NAME_MAX) or "",
        uid=uid if isinstance(uid, str) else "",
        generation=generation if isinstance(generation, int) else 0,
        spec=spec,
    )


def documents(text: str) -> tuple[Document, ...]:
    """Read every object of a YAML text, also out of lists as `kubectl get -o yaml` gives them; skip empty documents."""
    read = yamltext.read(text)
    if isinstance(read, yamltext.Unreadable):
        return (Document(line=read.line, problems=(Problem(path="", reason=read.reason, message=read.message),)),)
    return tuple(document for each in read for document in _documents(each))


def _documents(each: yamltext.Read) -> Iterator[Document]:
    if each.value is None:
        return
    if not isinstance(each.value, Mapping):
        problem = Problem(
            path="", reason="InvalidType", message="expected a resource, a mapping with apiVersion and kind"
        )
        yield Document(line=each.line, problems=(problem,))
    elif each.value.get("kind") == "List" and isinstance(each.value.get("items"), list):
        for index, item in enumerate(each.value["items"]):
            prefix = f"items[{index}]"
            lines = {
                path[len(prefix) + 1 :]: line for path, line in each.lines.items() if path.startswith(f"{prefix}.")
            }
            value = item if isinstance(item, Mapping) else {}
            yield _document(value, each.lines.get(prefix, each.line), lines)
    else:
        yield _document(each.value, each.line, each.lines)


def _document(value: Mapping[str, Any], line: int, lines: Mapping[str, int]) -> Document:
    if _is_foreign(value):
        return Document(line=line, foreign=f"{value.get('apiVersion')} {value.get('kind')}"[:200])
    read = resource(value)
    if isinstance(read, Resource):
        return Document(line=line, resource=read, lines=lines)
    return Document(line=line, problems=read, lines=lines)


def _is_foreign(value: Mapping[str, Any]) -> bool:
    """Say whether a document is none of ours to judge: a file of cases, or a resource of another group."""
    version, kind = value.get("apiVersion"), value.get("kind")
    if version is None and kind is None and "cases" in value:
        return True
    if not isinstance(version, str) or not isinstance(kind, str) or kind in KINDS:
        return False
    group = version.partition("/")[0]
    return difflib.SequenceMatcher(None, group[:100], GROUP).ratio() < LIKENESS_OF_A_SLIP
