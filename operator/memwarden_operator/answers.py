"""What the service answers to a ruleset, as values; an answer of another shape is an error, never half believed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwarden_policy.model import Action, Problem, Reads, ResourceKey, StoreDefaults

PROBLEMS_READ_MAX = 64


class MalformedAnswerError(ValueError):
    """The service answered in a shape that the contract does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of an object, as the service holds it."""

    generation: int
    digest: str
    revision: int = 0  # 0: a version that was offered, and is perhaps not in force.


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectAnswer:
    """What the service says of one object of a workspace."""

    key: ResourceKey
    uid: str
    accepted: bool
    offered: Version
    in_force: Version | None  # None: the service enforces no version of it.
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceAnswer:
    """One line of the service's list of workspaces."""

    name: str
    uid: str
    revision: int
    digest: str
    drifted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the service holds of one workspace, with a verdict for each object."""

    workspace: WorkspaceAnswer
    objects: Mapping[ResourceKey, ObjectAnswer]
    store: StoreDefaults | None = None  # None: the service does not say which defaults it holds.
    holds_memories: bool = True  # An older service does not say it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What one policy does to the memories of one workspace."""

    generation: int
    memories: int
    counts: Mapping[str, int]


def answer(document: Any) -> Answer:
    """Read the answer to `PUT` and `GET .../ruleset`.

    Raises:
        MalformedAnswerError: a field is missing or of another type.
    """
    try:
        objects = [_object(each) for each in document["objects"]]
        by_key = {each.key: each for each in objects}
        return Answer(
            workspace=_workspace(document),
            objects=by_key,
            store=_defaults(document.get("store")),
            holds_memories=bool(document.get("holds_memories", True)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedAnswerError(f"the answer has no such field: {error}") from error


def page(document: Any) -> tuple[list[WorkspaceAnswer], str | None]:
    """Read one page of the list of workspaces, and the cursor of the next; None: this was the last.

    Raises:
        MalformedAnswerError: a field is missing or of another type.
    """
    try:
        return [_workspace(each) for each in document["workspaces"]], document.get("next")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedAnswerError(f"the answer has no such field: {error}") from error


def counted(document: Any) -> Counted:
    """Read the answer to `GET .../impact`.

    Raises:
        MalformedAnswerError: a field is missing or of another type.
    """
    try:
        counts = {str(name): int(count) for name, count in document["counts"].items()}
        return Counted(generation=int(document["generation"]), memories=int(document["memories"]), counts=counts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedAnswerError(f"the answer has no such field: {error}") from error


def _workspace(document: Mapping[str, Any]) -> WorkspaceAnswer:
    return WorkspaceAnswer(
        name=str(document["namespace"]["name"]),
        uid=str(document["namespace"]["uid"]),
        revision=int(document["revision"]),
        digest=str(document["digest"]),
        drifted=bool(document["drifted"]),
    )


def _defaults(document: Mapping[str, Any] | None) -> StoreDefaults | None:
    if document is None:
        return None
    return StoreDefaults(
        namespace=str(document["namespace"]),
        name=str(document["name"]),
        uid=str(document["uid"]),
        admission_default=Action(document["admission_default"]),
        reads=Reads(document["reads"]),
    )


def _object(document: Mapping[str, Any]) -> ObjectAnswer:
    in_force = document["in_force"]
    return ObjectAnswer(
        key=(str(document["kind"]), str(document["namespace"]), str(document["name"])),
        uid=str(document["uid"]),
        accepted=bool(document["accepted"]),
        offered=_version(document["offered"]),
        in_force=_version(in_force) if in_force else None,
        problems=_problems(document["problems"]),
        notes=_problems(document["notes"]),
    )


def _version(document: Mapping[str, Any]) -> Version:
    return Version(
        generation=int(document["generation"]),
        digest=str(document["digest"]),
        revision=int(document.get("revision", 0)),
    )


def _problems(documents: list[Mapping[str, Any]]) -> tuple[Problem, ...]:
    return tuple(
        Problem(path=str(each["path"]), reason=str(each["reason"]), message=str(each["message"]))
        for each in documents[:PROBLEMS_READ_MAX]
    )
