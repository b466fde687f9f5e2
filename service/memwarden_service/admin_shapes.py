"""The shapes of requests and answers of the admin API, which only the operator speaks."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from memwarden_policy import bounds
from memwarden_policy.model import Action, Reads
from memwarden_service.shapes import Strict

FENCE_MAX = 2**62
UID_LENGTH_MAX = 63
NamespaceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$")]
Number = Annotated[int, Field(ge=0, le=FENCE_MAX, strict=True)]


class Namespace(Strict):
    """A namespace, which is a workspace."""

    name: NamespaceName
    uid: UUID


class Fence(Strict):
    """Where the operator stands: the term of its Lease and a counter of its requests."""

    term: Number
    counter: Number


class Store(Strict):
    """What the store says where no policy or grant speaks."""

    namespace: NamespaceName
    name: Name
    uid: Annotated[str, StringConstraints(max_length=UID_LENGTH_MAX)]
    admission_default: Action
    reads: Reads


class OfferedObject(Strict):
    """One policy, grant or domain as it is in the cluster."""

    kind: Literal["MemoryPolicy", "ClusterMemoryPolicy", "MemoryAccessGrant", "MemoryDomain"]
    namespace: NamespaceName | Literal[""]
    name: Name
    uid: Annotated[str, StringConstraints(min_length=1, max_length=UID_LENGTH_MAX)]
    generation: Number
    spec: dict[str, Any]


class PutRuleset(Strict):
    """Everything that is to be in force in a workspace; what is not named goes."""

    namespace: Namespace
    fence: Fence
    store: Store
    objects: Annotated[list[OfferedObject], Field(max_length=bounds.OBJECTS_PER_WORKSPACE_MAX)]


class ProblemShape(BaseModel):
    """What is wrong with an object, or worth knowing."""

    path: str
    reason: str
    message: str


class Offered(BaseModel):
    """What was offered last."""

    generation: int
    digest: str


class InForceShape(BaseModel):
    """What is enforced, which may be older than what was offered."""

    generation: int
    digest: str
    revision: int


class JudgedObject(BaseModel):
    """The service's word on one object."""

    kind: str
    namespace: str
    name: str
    uid: str
    accepted: bool
    offered: Offered
    in_force: InForceShape | None
    problems: list[ProblemShape]
    notes: list[ProblemShape]


class HeldStore(BaseModel):
    """The store's defaults as they are held: hand-edited rows may say what no offer could."""

    namespace: str
    name: str
    uid: str
    admission_default: Action
    reads: Reads


class RulesetState(BaseModel):
    """What is in force in a workspace."""

    namespace: Namespace
    revision: int
    digest: str
    drifted: bool
    holds_memories: bool  # Shared ones: those that an impact would count.
    store: HeldStore
    objects: list[JudgedObject]


class WorkspaceState(BaseModel):
    """A workspace in the list."""

    namespace: Namespace
    revision: int
    digest: str
    drifted: bool


class Workspaces(BaseModel):
    """A page of open workspaces, by name."""

    workspaces: list[WorkspaceState]
    next: str | None
