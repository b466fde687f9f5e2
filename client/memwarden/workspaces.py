"""Builds the ruleset of one workspace from files, as the store would hold it."""

from collections.abc import Iterable
from dataclasses import dataclass

from memwarden.files import Source
from memwarden_policy import parse
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Kind, Resource, StoreDefaults
from memwarden_policy.ruleset import Ruleset
from memwarden_policy.shapes import Findings
from memwarden_policy.stores import read as read_store

# Kinds that are part of a workspace's ruleset.
RULING = frozenset(kind.value for kind in Kind) - {Kind.MEMORY_STORE.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was read of one workspace."""

    workspace: str
    resources: tuple[Resource, ...]
    store: StoreDefaults
    faults: tuple[str, ...]  # Why something could not be read, a line each.


def load(sources: Iterable[Source], workspace: str) -> Loaded:
    """Read the resources of a workspace and the floor; those of other namespaces are left out."""
    faults: list[str] = []
    found: list[Resource] = []
    store = StoreDefaults()
    for source in sources:
        if source.fault:
            faults.append(f"{source.name}: {source.fault}")
        for document in parse.documents(source.text):
            faults += [f"{source.name}:{document.line_of(each.path)}: {each.message}" for each in document.problems]
            resource = document.resource
            if resource is None:
                continue
            if resource.kind == Kind.MEMORY_STORE:
                store = read_store(resource, Findings())
            elif _placed(resource, workspace).namespace in ("", workspace):
                found.append(_placed(resource, workspace))
    return Loaded(workspace=workspace, resources=tuple(found), store=store, faults=tuple(faults))


def _placed(resource: Resource, workspace: str) -> Resource:
    if resource.namespace or resource.kind == Kind.CLUSTER_MEMORY_POLICY:
        return resource
    return Resource(kind=resource.kind, namespace=workspace, name=resource.name, spec=resource.spec)


def ruled(loaded: Loaded) -> tuple[Ruleset, tuple[str, ...]]:
    """Compile what was loaded; return the ruleset and what is wrong, a line each."""
    compiled = compile_ruleset(loaded.resources, loaded.store, workspace=loaded.workspace)
    wrong = [
        f"{kind} {name}: {problem.path}: {problem.message}"
        for (kind, _, name), verdict in compiled.verdicts.items()
        for problem in verdict.problems
    ]
    return compiled.ruleset, (*loaded.faults, *wrong)


def replaced(loaded: Loaded, by: Loaded) -> Loaded:
    """Return the workspace as it would be with other resources applied to it."""
    named = {each.key: each for each in loaded.resources} | {each.key: each for each in by.resources}
    faults = (*loaded.faults, *by.faults)
    return Loaded(workspace=loaded.workspace, resources=tuple(named.values()), store=loaded.store, faults=faults)
