"""`memwarden check`: judges the resources of many files together, as the operator would see them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memwarden.files import Source
from memwarden_policy import parse, stores
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Kind, Problem, Resource, ResourceKey, StoreDefaults, Verdict
from memwarden_policy.shapes import Findings

# Where a resource names no namespace: the same place kubectl would put it unless told otherwise.
DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """One problem or note, and where it stands."""

    file: str
    line: int
    object: str  # "": no object, the file itself.
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found."""

    resources: int
    skipped: int  # Objects of other groups.
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]

    @property
    def is_in_order(self) -> bool:
        """Say whether nothing is wrong. Having found nothing to judge is wrong too: a typo would look like success."""
        return not self.problems and self.resources > 0


@dataclass(frozen=True, slots=True)
class _Placed:
    file: str
    number: int  # Which document of its file, from 1.
    document: parse.Document
    resource: Resource

    @property
    def place(self) -> str:
        return f"{self.file}:{self.document.line} (document {self.number})"


def check(sources: Iterable[Source]) -> CheckReport:
    """Judge all resources of the sources."""
    problems: list[Finding] = []
    placed: list[_Placed] = []
    skipped = 0
    for source in sources:
        if source.fault:
            fault = Problem(path="", reason="Unreadable", message=source.fault)
            problems.append(Finding(file=source.name, line=0, object="", problem=fault))
        for number, document in enumerate(parse.documents(source.text), start=1):
            skipped += bool(document.foreign)
            problems += [_finding(source.name, document, "", problem) for problem in document.problems]
            if document.resource is not None:
                placed.append(_Placed(source.name, number, document, _at_home(document.resource)))
    verdicts = _verdicts([each.resource for each in placed])
    twins: dict[ResourceKey, list[_Placed]] = defaultdict(list)
    for each in placed:
        twins[each.resource.key].append(each)
    for each in placed:
        problems += _findings(each, _naming_twins(each, verdicts[id(each.resource)].problems, twins))
    notes = [found for each in placed for found in _findings(each, verdicts[id(each.resource)].notes)]
    return CheckReport(
        resources=len(placed), skipped=skipped, problems=tuple(sorted(problems)), notes=tuple(sorted(notes))
    )


def _at_home(resource: Resource) -> Resource:
    if resource.namespace or resource.kind == Kind.CLUSTER_MEMORY_POLICY:
        return resource
    return Resource(kind=resource.kind, namespace=DEFAULT_NAMESPACE, name=resource.name, spec=resource.spec)


def _verdicts(resources: Sequence[Resource]) -> Mapping[int, Verdict]:
    """Judge each namespace as a workspace of its own, the floor and the stores apart; answers are keyed by `id`."""
    by_home: dict[str, list[Resource]] = defaultdict(list)
    verdicts: dict[int, Verdict] = {}
    for resource in resources:
        if resource.kind == Kind.MEMORY_STORE:
            verdicts[id(resource)] = _judge_store(resource)
        else:
            by_home[resource.namespace].append(resource)
    for namespace, members in by_home.items():
        compiled = compile_ruleset(members, StoreDefaults(), workspace=namespace)
        verdicts.update((id(member), compiled.verdicts[member.key]) for member in members)
    return verdicts


def _judge_store(resource: Resource) -> Verdict:
    findings = Findings()
    stores.read(resource, findings)
    return Verdict(accepted=not findings.problems, problems=tuple(findings.problems))


def _naming_twins(
    placed: _Placed, problems: Iterable[Problem], twins: Mapping[ResourceKey, Sequence[_Placed]]
) -> list[Problem]:
    """Say where the twin of an object stands, which the compiler cannot know: it sees no files."""
    others = [each.place for each in twins[placed.resource.key] if each is not placed]
    return [
        replace(problem, message=f"{problem.message}: {others[0]}")
        if problem.path == "metadata.name" and problem.reason == "Duplicate" and others
        else problem
        for problem in problems
    ]


def _findings(placed: _Placed, problems: Iterable[Problem]) -> list[Finding]:
    kind, namespace, name = placed.resource.key
    shown = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
    return [_finding(placed.file, placed.document, shown, problem) for problem in problems]


def _finding(file: str, document: parse.Document, shown: str, problem: Problem) -> Finding:
    return Finding(file=file, line=document.line_of(problem.path), object=shown, problem=problem)
