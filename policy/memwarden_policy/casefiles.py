"""Reads a file of cases; as strict as the resources themselves, since a misspelled expectation would test nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from memwarden_policy import bounds, confidence, parse, proposals, ruling, stores, yamltext
from memwarden_policy.corpus import DEFAULT_NOW, FORBIDDEN, NEVER, Case, Expectation, Suite, ending_shown
from memwarden_policy.feedback import FeedbackKind
from memwarden_policy.model import (
    API_VERSION,
    Access,
    Action,
    ActorKind,
    Caller,
    Kind,
    Known,
    Point,
    Problem,
    RecordAnswer,
    Resource,
    SourceKind,
    StoreDefaults,
)
from memwarden_policy.shapes import Findings, Node

SUITE_FIELDS: Final = ("name", "now", "workspace", "store", "files", "resources", "cases")
CASE_FIELDS: Final = ("name", "resources", "as", "propose", "known", "memory", "changeSource", "expect")
CALLER_FIELDS: Final = ("serviceAccount", "user", "apiKey", "onBehalfOf", "groups")
KNOWN_FIELDS: Final = ("supersedes", "record", "recordNote", "wasRejected")
# What a case may expect of a decision beside its action.
DETAIL_LISTS: Final = ("confirmedBy", "questions", "detected")
DETAIL_TEXTS: Final = ("expiresAfter", "sentence", "reason")
DETAIL_FIELDS: Final = (*DETAIL_LISTS, *DETAIL_TEXTS, "fourEyes", "reference", "seed")
POINTS_OF_A_MEMORY: Final = (Point.RECALL, Point.UPDATE, Point.DELETE)
FEEDBACK_FIELDS: Final = (*(kind.value for kind in FeedbackKind), "deletes")
EXPECT_FIELDS: Final = (
    "action",
    "rules",
    "audited",
    "failed",
    *DETAIL_FIELDS,
    *(point.value for point in POINTS_OF_A_MEMORY),
    "feedback",
    "ends",
    "access",
    "roles",
    "mayClaim",
    "mayActFor",
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
    expected = _expectation(expect, setting.now)
    if expect.has("action") and not node.has("propose"):
        expect.problem("action", "Conflict", "an action is expected, and nothing is proposed")
    source = node.word("changeSource", SourceKind)
    own_word = SourceKind.USER_STATED if caller.is_person else SourceKind.AGENT_EXTRACTED
    return Case(
        name=node.text("name", LONG_NAME_MAX) or "",
        resources=(*setting.resources, *_resources(node, setting.workspace)),
        caller=caller,
        candidate=proposals.candidate(proposal, caller, setting.now) if node.has("propose") else None,
        proposal=proposal.values,
        expect=expected,
        known=_known(node.node("known"), setting.now),
        memory=proposals.memory(node.node("memory"), setting.now) if node.has("memory") else None,
        change_source=source or own_word,
    )


def _known(node: Node, now: datetime) -> Known:
    node.knows(*KNOWN_FIELDS)
    superseded = node.node("supersedes")
    return Known(
        supersedes=proposals.memory(superseded, now) if node.has("supersedes") else None,
        record=node.word("record", RecordAnswer) or RecordAnswer.NOT_ASKED,
        record_note=node.text("recordNote", bounds.MESSAGE_LENGTH_MAX) or "",
        was_rejected=node.flag("wasRejected", default=False),
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


def _expectation(node: Node, now: datetime) -> Expectation:
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
        details=_details(node),
        on_memory=_on_memory(node),
        feedback=_feedback(node.node("feedback")),
        ends=_ends(node, now),
    )


def _ends(node: Node, now: datetime) -> str | None:
    text = node.text("ends", bounds.TIME_LENGTH_MAX)
    return text if text in (None, NEVER) else ending_shown(proposals.moment(node, "ends", now))


def _details(node: Node) -> Mapping[str, str]:
    """Return what is expected beside the action, each in the words of `corpus.detail`."""
    found = {name: ", ".join(sorted(_words(node, name) or ())) or "none" for name in DETAIL_LISTS if node.has(name)}
    found |= {name: node.text(name, LONG_NAME_MAX) or "" for name in DETAIL_TEXTS if node.has(name)}
    if node.has("fourEyes"):
        found["people"] = "2" if node.flag("fourEyes", default=False) else "1"
    if node.has("reference"):
        found["reference"] = str(node.flag("reference", default=False))
    if node.has("seed"):
        found["seed"] = _number(node, "seed")
    return found


def _number(node: Node, name: str) -> str:
    return str(confidence.rounded(node.number(name, 0, 1) or Decimal(0)))


def _on_memory(node: Node) -> Mapping[Point, str]:
    found = {}
    for point in POINTS_OF_A_MEMORY:
        word = node.word(point.value, ruling.ACTIONS_OF[point])
        if word is not None:
            found[point] = word.value
    return found


def _feedback(node: Node) -> Mapping[str, str]:
    node.knows(*FEEDBACK_FIELDS)
    found = {kind.value: _number(node, kind.value) for kind in FeedbackKind if node.has(kind.value)}
    if node.has("deletes"):
        found["deletes"] = str(node.flag("deletes", default=False))
    return found


def _words(node: Node, name: str) -> tuple[str, ...] | None:
    return node.texts(name, bounds.OUTCOMES_PER_DECISION_MAX, LONG_NAME_MAX) if node.has(name) else None
