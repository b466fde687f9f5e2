"""Reads a file of cases; as strict as the resources themselves, since a misspelled expectation would test nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from memwarden_policy import bounds, confidence, parse, stores, structured, yamltext
from memwarden_policy.corpus import DEFAULT_NOW, FORBIDDEN, Case, Expectation, Suite
from memwarden_policy.model import (
    API_VERSION,
    Access,
    Action,
    ActorKind,
    Caller,
    Candidate,
    Kind,
    MemoryType,
    Problem,
    Resource,
    SourceKind,
    StoreDefaults,
)
from memwarden_policy.shapes import Findings, Node

SUITE_FIELDS: Final = ("name", "now", "workspace", "store", "files", "resources", "cases")
CASE_FIELDS: Final = ("name", "resources", "as", "propose", "expect")
CALLER_FIELDS: Final = ("serviceAccount", "user", "apiKey", "onBehalfOf", "groups")
EXPECT_FIELDS: Final = ("action", "rules", "audited", "failed", "access", "roles", "mayClaim", "mayActFor")
PROPOSAL_FIELDS: Final = (
    "domain",
    "topic",
    "memory_type",
    "category",
    "content",
    "source",
    "source_uri",
    "confidence",
    "is_sensitive",
    "tags",
    "private",
    "about",
    "observed_at",
)
CASES_MAX = 10_000
FILES_MAX = 256
LONG_NAME_MAX = 1_024
# The key a person's own credential has where only the person matters.
PERSONS_KEY = "{}-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """The problems of a file of cases, with the line of each."""

    problems: tuple[tuple[int, Problem], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What all cases of a file share."""

    workspace: str
    now: datetime
    resources: tuple[Resource, ...]


def files_of(text: str) -> tuple[str, ...]:
    """Return the files of resources that a file of cases names, for the caller to read; none where it is unreadable."""
    read = yamltext.read(text)
    value = read[0].value if isinstance(read, tuple) and read else None
    files = value.get("files") if isinstance(value, Mapping) else None
    return tuple(each for each in files if isinstance(each, str))[:FILES_MAX] if isinstance(files, list) else ()


def read(text: str, files: Mapping[str, str]) -> Suite | Unusable:
    """Read a file of cases. `files` holds the text of each file that it names."""
    documents = yamltext.read(text)
    if isinstance(documents, yamltext.Unreadable):
        problem = Problem(path="", reason=documents.reason, message=documents.message)
        return Unusable(problems=((documents.line, problem),))
    if len(documents) != 1 or not isinstance(documents[0].value, Mapping):
        problem = Problem(path="", reason="InvalidType", message="a file of cases holds one document, a mapping")
        return Unusable(problems=((1, problem),))
    findings = Findings()
    suite = _suite(Node("", documents[0].value, findings), files)
    if not findings.problems:
        return suite
    whole = parse.Document(line=documents[0].line, lines=documents[0].lines)
    return Unusable(problems=tuple((whole.line_of(each.path), each) for each in findings.problems))


def _suite(root: Node, files: Mapping[str, str]) -> Suite:
    root.knows(*SUITE_FIELDS)
    workspace = root.text("workspace", bounds.NAMESPACE_MAX) or "default"
    shared = (*_named_files(root, files, workspace), *_resources(root, workspace))
    setting = _Setting(workspace=workspace, now=root.moment("now") or DEFAULT_NOW, resources=shared)
    root.require("cases")
    return Suite(
        name=root.text("name", LONG_NAME_MAX) or "cases",
        workspace=workspace,
        now=setting.now,
        store=_store(root.node("store")),
        cases=tuple(_case(node, setting) for node in root.nodes("cases", CASES_MAX)),
    )


def _store(node: Node) -> StoreDefaults:
    node.knows("admissionDefault", "access")
    return stores.defaults(node, Resource(kind=Kind.MEMORY_STORE, namespace="", name="", spec=node.values))


def _named_files(root: Node, files: Mapping[str, str], workspace: str) -> list[Resource]:
    found: list[Resource] = []
    for index, name in enumerate(root.texts("files", FILES_MAX, LONG_NAME_MAX)):
        path = f"files[{index}]"
        if name not in files:
            root.findings.add(path, "NotFound", f"there is no readable file {name}")
            continue
        for document in parse.documents(files[name]):
            for problem in document.problems:
                message = f"{name}, line {document.line_of(problem.path)}: {problem.message}"
                root.findings.add(path, problem.reason, message)
            if document.resource and document.resource.kind != Kind.MEMORY_STORE:
                found.append(_placed(document.resource, workspace))
    # Files of a repository often hold several namespaces: the cases are about one.
    return [each for each in found if each.namespace in {workspace, ""}]


def _resources(node: Node, workspace: str) -> list[Resource]:
    found = []
    for each in node.nodes("resources", bounds.OBJECTS_PER_WORKSPACE_MAX):
        read = parse.resource({"apiVersion": API_VERSION, **each.values})
        if isinstance(read, Resource):
            found.append(_placed(read, workspace))
            continue
        for problem in read:
            each.problem(problem.path, problem.reason, problem.message)
    return found


def _placed(resource: Resource, workspace: str) -> Resource:
    """Put a resource without a namespace into the workspace, unless it has none by nature."""
    if resource.namespace or resource.kind == Kind.CLUSTER_MEMORY_POLICY:
        return resource
    return Resource(kind=resource.kind, namespace=workspace, name=resource.name, spec=resource.spec)


def _case(node: Node, setting: _Setting) -> Case:
    node.knows(*CASE_FIELDS)
    for name in ("name", "as", "expect"):
        node.require(name)
    caller = _caller(node.node("as"), setting.workspace)
    proposal = node.node("propose")
    expect = node.node("expect")
    if expect.has("action") and not node.has("propose"):
        expect.problem("action", "Conflict", "an action is expected, and nothing is proposed")
    return Case(
        name=node.text("name", LONG_NAME_MAX) or "",
        resources=(*setting.resources, *_resources(node, setting.workspace)),
        caller=caller,
        candidate=_candidate(proposal, caller, setting.now) if node.has("propose") else None,
        proposal=proposal.values,
        expect=_expectation(expect),
    )


def _caller(node: Node, workspace: str) -> Caller:
    node.knows(*CALLER_FIELDS)
    kinds = [name for name in ("serviceAccount", "user", "apiKey") if node.has(name)]
    if len(kinds) != 1:
        node.problem("", "Conflict", "say one of serviceAccount, user or apiKey")
    principal = node.text("onBehalfOf", bounds.PERSON_LENGTH_MAX)
    groups = frozenset(node.texts("groups", bounds.GRANT_SUBJECTS_MAX, bounds.NAME_MAX))
    account = node.text("serviceAccount", 2 * bounds.NAME_MAX)
    user = node.text("user", bounds.PERSON_LENGTH_MAX)
    if account:
        namespace, slash, name = account.rpartition("/")
        return Caller.service_account(namespace if slash else workspace, name, principal=principal)
    if user:
        key = PERSONS_KEY.format(user)
        return Caller(actor_kind=ActorKind.API_KEY, actor_name=key, principal=user, is_person=True, groups=groups)
    key = node.text("apiKey", bounds.NAME_MAX) or ""
    return Caller(actor_kind=ActorKind.API_KEY, actor_name=key, principal=principal, groups=groups)


def _candidate(node: Node, caller: Caller, now: datetime) -> Candidate:
    node.knows(*PROPOSAL_FIELDS)
    for name in ("domain", "content", "source"):
        node.require(name)
    is_private = node.flag("private", default=False)
    if is_private and caller.principal is None:
        node.problem("private", "Conflict", "a private memory needs a person: say `user` or `onBehalfOf`")
    source = node.word("source", SourceKind) or SourceKind.AGENT_EXTRACTED
    return Candidate(
        domain=node.text("domain", bounds.DOMAIN_LENGTH_MAX) or "",
        topic=node.text("topic", bounds.TOPIC_LENGTH_MAX) or "",
        memory_type=node.word("memory_type", MemoryType) or MemoryType.SEMANTIC,
        category=node.text("category", bounds.CATEGORY_LENGTH_MAX) or "",
        content=node.text("content", bounds.CONTENT_LENGTH_MAX) or "",
        source=source,
        source_uri=node.text("source_uri", bounds.SOURCE_URI_LENGTH_MAX) or "",
        confidence=_confidence(node, source),
        is_sensitive=node.flag("is_sensitive", default=False),
        tags=node.texts("tags", bounds.TAGS_MAX, bounds.TAG_LENGTH_MAX),
        owner=caller.principal if is_private else None,
        about=node.text("about", bounds.PERSON_LENGTH_MAX),
        observed_at=_observed_at(node, now),
    )


def _confidence(node: Node, source: SourceKind) -> Decimal:
    value = node.values.get("confidence")
    if value is None:
        return confidence.seed(source)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        node.problem("confidence", "OutOfRange", "expected a number from 0 to 1")
        return confidence.seed(source)
    return confidence.rounded(value)


def _observed_at(node: Node, now: datetime) -> datetime | None:
    text = node.text("observed_at", bounds.TIME_LENGTH_MAX)
    if text is None:
        return None
    moment = structured.moment(text)
    if isinstance(moment, structured.Moment):
        return moment.at(now)
    node.problem("observed_at", "InvalidTime", moment.message)
    return None


def _expectation(node: Node) -> Expectation:
    node.knows(*EXPECT_FIELDS)
    actions = [each.value for each in Action] + [FORBIDDEN]
    action = node.text("action", bounds.NAME_MAX)
    if action is not None and action not in actions:
        node.problem("action", "UnknownValue", f"`{action}` is not one of {', '.join(actions)}")
    access = node.node("access")
    people = node.node("mayActFor")
    return Expectation(
        action=action,
        rules=_words(node, "rules"),
        audited=_words(node, "audited"),
        failed=_words(node, "failed"),
        access={domain: (access.word(domain, Access) or Access.NONE).value for domain in access.values},
        roles=_words(node, "roles"),
        may_claim=_words(node, "mayClaim"),
        may_act_for={person: people.flag(person, default=False) for person in people.values},
    )


def _words(node: Node, name: str) -> tuple[str, ...] | None:
    return node.texts(name, bounds.OUTCOMES_PER_DECISION_MAX, LONG_NAME_MAX) if node.has(name) else None
