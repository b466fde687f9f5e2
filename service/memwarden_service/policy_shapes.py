"""The shapes of questions about policies: what is in force, what holds for whom, what a change would do."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from memwarden_policy import bounds
from memwarden_service.admin_shapes import Name
from memwarden_service.shapes import TIDY, Domain, Person, Strict

PLANNED_OBJECTS_MAX = 100
SUBJECT_FORM = r"^(serviceAccount:[^/]+/[^/]+|user:.+|apiKey:[^/]+)$"
SUBJECT_LENGTH_MAX = 2 * bounds.NAME_MAX + 20


class Planned(Strict):
    """One object as it would be applied."""

    kind: Literal["MemoryPolicy", "ClusterMemoryPolicy", "MemoryAccessGrant", "MemoryDomain"]
    name: Name
    spec: dict[str, Any]


class PlanBody(Strict):
    """Objects that would be applied over what is in force."""

    objects: Annotated[tuple[Planned, ...], Field(min_length=1, max_length=PLANNED_OBJECTS_MAX)]


class AffectedShape(BaseModel):
    """A memory that would be treated otherwise."""

    memory: str
    domain: str
    count: str
    reason: str


class ImpactShape(BaseModel):
    """What a change would do: counts, and a few memories of each."""

    memories: int
    counts: dict[str, int]
    sample: list[AffectedShape]


class Counts(BaseModel):
    """What one object in force does to the memories that exist; those private to a person are not counted."""

    generation: int
    revision: int
    memories: int
    counts: dict[str, int]


class ObjectName(Strict):
    """Which policy of a workspace."""

    kind: Literal["MemoryPolicy", "ClusterMemoryPolicy"]
    name: Name


class About(Strict):
    """Whose effective policy, and where."""

    subject: Annotated[str, StringConstraints(max_length=SUBJECT_LENGTH_MAX, pattern=SUBJECT_FORM), TIDY] | None = (
        Field(
            default=None,
            description="`serviceAccount:NAMESPACE/NAME`, `user:NAME` or `apiKey:NAME`; absent: the caller.",
        )
    )
    on_behalf_of: Person | None = None
    domain: Domain | None = None


class PolicyShape(BaseModel):
    """An object as it is enforced."""

    kind: str
    namespace: str
    name: str
    generation: int | None
    digest: str
    revision: int
    spec: dict[str, Any]


class Policies(BaseModel):
    """A page of what is in force, by kind and name."""

    policies: list[PolicyShape]
    next: str | None


class EffectiveRuleShape(BaseModel):
    """One rule as its author wrote it."""

    name: str
    action: str
    condition: str


class EffectivePolicyShape(BaseModel):
    """One policy that speaks of what a caller does."""

    layer: str
    policy: str
    priority: int
    mode: str
    domains: list[str]
    memory_types: list[str]
    categories: list[str]
    roles: list[str]
    rules: dict[str, list[EffectiveRuleShape]]
    says: list[str]


class Granted(BaseModel):
    """What is granted in some domains."""

    domains: str
    access: str


class EffectiveShape(BaseModel):
    """All that holds for a caller, in the order in which it is asked."""

    caller: str
    principal: str | None
    roles: list[str]
    may_claim: list[str]
    on_behalf_of: list[str]
    access: list[Granted]
    access_here: str | None
    admission_default: str
    policies: list[EffectivePolicyShape]
