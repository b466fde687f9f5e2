"""Reads the spec of a MemoryAccessGrant into a compiled grant."""

from typing import Final

from memwarden_policy import bounds, globs
from memwarden_policy.grants import NEVER_CLAIMED, Grant, Subject
from memwarden_policy.model import Access, Resource, SourceKind, SubjectKind
from memwarden_policy.policies import read_store_reference
from memwarden_policy.shapes import DOTTED_NAME, LABEL, Findings, Node, duplicates

FIELDS: Final = (
    "storeRef",
    "subjects",
    "role",
    "domains",
    "access",
    "mayClaim",
    "onBehalfOf",
    "notBefore",
    "expiresAt",
    "reason",
)
# Groups and users of requests without a credential.
NOBODY: Final = ("system:anonymous", "system:unauthenticated")
AGENTS: Final = frozenset({SubjectKind.SERVICE_ACCOUNT, SubjectKind.API_KEY, SubjectKind.ROLE})
SUBJECT_FIELDS: Final = ("kind", "name", "namespace")


def read(resource: Resource, findings: Findings) -> Grant:
    """Return the grant. With problems in `findings` the answer means nothing."""
    spec = Node("spec", resource.spec, findings)
    spec.knows(*FIELDS)
    read_store_reference(spec)
    spec.text("reason", bounds.GRANT_REASON_MAX)
    for name in ("subjects", "domains", "mayClaim", "onBehalfOf"):
        spec.filled(name)
    domains = spec.texts("domains", bounds.GRANT_DOMAINS_MAX, bounds.DOMAIN_LENGTH_MAX)
    people = spec.texts("onBehalfOf", bounds.GRANT_ON_BEHALF_OF_MAX, bounds.PERSON_LENGTH_MAX)
    grant = Grant(
        name=resource.name,
        subjects=_subjects(spec, resource.namespace),
        role=spec.matching("role", DOTTED_NAME, bounds.ROLE_NAME_MAX),
        domains=tuple(globs.compiled(each) for each in domains),
        access=spec.word("access", Access),
        may_claim=_may_claim(spec),
        on_behalf_of=tuple(globs.compiled(each) for each in people),
        not_before=spec.moment("notBefore"),
        expires_at=spec.moment("expiresAt"),
    )
    _judge(spec, grant)
    return grant


def _judge(spec: Node, grant: Grant) -> None:
    """Report the parts that do not go together."""
    if not any(spec.has(name) for name in ("role", "domains", "access", "mayClaim", "onBehalfOf")):
        spec.problem("", "GrantsNothing", "grant something: role, domains with access, mayClaim or onBehalfOf")
    if spec.has("domains") != spec.has("access"):
        missing = "access" if spec.has("domains") else "domains"
        spec.problem(missing, "Required", "`domains` and `access` go together")
    if spec.has("role") and any(kind is SubjectKind.ROLE for kind, _ in grant.subjects):
        spec.problem("role", "RoleOfRole", "a role cannot hold a role: grant it to those who hold the other one")
    if spec.has("onBehalfOf") and not {kind for kind, _ in grant.subjects} <= AGENTS:
        spec.problem("onBehalfOf", "NotApplicable", "`onBehalfOf` is for agents; a User or Group acts for nobody else")
    if grant.not_before and grant.expires_at and grant.not_before >= grant.expires_at:
        spec.problem("expiresAt", "NeverLive", "`expiresAt` must be later than `notBefore`")


def _may_claim(spec: Node) -> frozenset[SourceKind] | None:
    if not spec.has("mayClaim"):
        return None
    kinds = spec.words("mayClaim", SourceKind, bounds.GRANT_MAY_CLAIM_MAX)
    for kind in sorted(NEVER_CLAIMED & set(kinds)):
        origin = "a confirmation" if kind is SourceKind.USER_CONFIRMED else "a policy"
        spec.problem("mayClaim", "NeverClaimed", f"`{kind}` comes from {origin} alone, nobody may claim it")
    return frozenset(kinds)


def _subjects(spec: Node, namespace: str) -> tuple[Subject, ...]:
    spec.require("subjects")
    nodes = spec.nodes("subjects", bounds.GRANT_SUBJECTS_MAX)
    read = [_subject(node, namespace) for node in nodes]
    for index in duplicates(read, lambda subject: subject):
        if read[index] is not None:
            nodes[index].problem("", "Duplicate", "this subject is named before")
    return tuple(subject for subject in read if subject is not None)


def _subject(node: Node, namespace: str) -> Subject | None:
    node.knows(*SUBJECT_FIELDS)
    node.require("kind")
    node.require("name")
    kind = node.word("kind", SubjectKind)
    name = node.text("name", bounds.NAME_MAX)
    home = node.matching("namespace", LABEL, bounds.NAMESPACE_MAX)
    if kind is None or name is None:
        return None
    _judge_subject(node, kind, name)
    if kind is SubjectKind.SERVICE_ACCOUNT:
        return (kind, f"{home or namespace}/{name}")
    return (kind, name)


def _judge_subject(node: Node, kind: SubjectKind, name: str) -> None:
    if kind is SubjectKind.SERVICE_ACCOUNT:
        if name.startswith("system:"):
            node.problem("name", "InvalidName", "give the account's own name, and its namespace in `namespace`")
    elif node.has("namespace"):
        node.problem("namespace", "NotApplicable", f"only a ServiceAccount has a namespace, a {kind} has none")
    if name in NOBODY:
        node.problem("name", "InvalidName", "nobody can be given rights without a credential")
    if name != name.strip():
        node.problem("name", "InvalidName", "a name does not begin or end with a space")
