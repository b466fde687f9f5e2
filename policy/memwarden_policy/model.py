"""The words of Memwarden as values: what is offered, who calls, what is proposed, what is decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

API_VERSION = "memwarden.dev/v1alpha1"
ACCOUNTS_GROUP = "system:serviceaccounts"


class Ordered(StrEnum):
    """Words of which each stands above the one before it; `<` and `max` follow the order of definition."""

    rank: int

    def __new__(cls, word: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.rank = len(cls.__members__)
        return member

    def __lt__(self, other: str) -> bool:
        return self.rank < type(self)(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= type(self)(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > type(self)(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= type(self)(other).rank


class Action(Ordered):
    """What is done with a candidate, from the mildest to the strictest."""

    ACCEPT = "Accept"
    REQUIRE_CONFIRMATION = "RequireConfirmation"
    QUARANTINE = "Quarantine"
    REJECT = "Reject"


class Access(Ordered):
    """What a caller may do in a domain; each word includes those before it."""

    NONE = "None"
    READ = "Read"
    WRITE = "Write"
    ADMIN = "Admin"


class SourceKind(StrEnum):
    """On whose word something is proposed."""

    USER_STATED = "user_stated"
    USER_CONFIRMED = "user_confirmed"
    AGENT_EXTRACTED = "agent_extracted"
    REASONING = "reasoning"
    TOOL_RESULT = "tool_result"
    RETRIEVAL = "retrieval"
    IMPORTED = "imported"
    SYSTEM_RULE = "system_rule"


class MemoryType(StrEnum):
    """The layer a memory belongs to."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    WORKING = "working"
    IDENTITY = "identity"


class SubjectKind(StrEnum):
    """Whom a grant may name."""

    SERVICE_ACCOUNT = "ServiceAccount"
    USER = "User"
    GROUP = "Group"
    ROLE = "Role"
    API_KEY = "APIKey"


class ActorKind(StrEnum):
    """What kind of credential calls."""

    SERVICE_ACCOUNT = "ServiceAccount"
    API_KEY = "APIKey"


class Reads(StrEnum):
    """Who reads where no grant speaks: nobody, or every actor of the workspace."""

    GRANTED = "Granted"
    OPEN = "Open"


class Mode(StrEnum):
    """Whether a policy's rules count, or are only recorded."""

    ENFORCE = "Enforce"
    AUDIT = "Audit"


class Kind(StrEnum):
    """The resources the core knows."""

    MEMORY_STORE = "MemoryStore"
    MEMORY_POLICY = "MemoryPolicy"
    CLUSTER_MEMORY_POLICY = "ClusterMemoryPolicy"
    MEMORY_ACCESS_GRANT = "MemoryAccessGrant"


ResourceKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One object as it was offered; its spec is judged by `compile`, not before."""

    kind: str
    namespace: str  # "": the resource is cluster-scoped.
    name: str
    uid: str = ""  # "": never applied, as on the command line.
    generation: int = 0
    spec: Mapping[str, Any]

    @property
    def key(self) -> ResourceKey:
        """Kind, namespace and name: what names the object among all."""
        return (self.kind, self.namespace, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDefaults:
    """What the store says where no policy or grant of the workspace speaks."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    admission_default: Action = Action.REQUIRE_CONFIRMATION
    reads: Reads = Reads.GRANTED


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """What keeps an object out, or what its author should know: a path, a reason for machines, a line for people."""

    path: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the compiler says of one object. Notes are information: an object with notes is accepted."""

    accepted: bool
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls, known from authentication alone."""

    actor_kind: ActorKind
    actor_name: str  # "namespace/name" of a ServiceAccount, the name of an API key.
    principal: str | None = None  # None: nobody; the actor speaks for itself.
    is_person: bool = False  # True: the credential is the principal's own, no agent stands between.
    groups: frozenset[str] = frozenset()  # Of the credential, never of a principal an agent acts for.

    @classmethod
    def service_account(cls, namespace: str, name: str, *, principal: str | None = None) -> "Caller":
        """Return a ServiceAccount with the groups that Kubernetes gives every one."""
        groups = frozenset({f"{ACCOUNTS_GROUP}:{namespace}", ACCOUNTS_GROUP, "system:authenticated"})
        kind = ActorKind.SERVICE_ACCOUNT
        return cls(actor_kind=kind, actor_name=f"{namespace}/{name}", principal=principal, groups=groups)

    @property
    def actor(self) -> str:
        """The actor in one word, such as `ServiceAccount:support/agent`."""
        return f"{self.actor_kind}:{self.actor_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory as it is proposed, within the bounds of `bounds`."""

    domain: str
    content: str
    source: SourceKind
    confidence: Decimal
    topic: str = ""
    memory_type: MemoryType = MemoryType.SEMANTIC
    category: str = ""
    source_uri: str = ""
    is_sensitive: bool = False
    tags: tuple[str, ...] = ()
    owner: str | None = None  # None: shared in its domain.
    about: str | None = None  # None: about nobody in particular.
    observed_at: datetime | None = None  # None: at the moment of the proposal.


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What one rule said of a candidate."""

    policy: str  # "MemoryPolicy/name", "ClusterMemoryPolicy/name" or "builtin".
    rule: str
    action: Action
    counted: bool = True  # False: an Audit rule; recorded, without effect.
    failed: bool = False  # True: its condition could not be evaluated.
    note: str = ""

    @property
    def address(self) -> str:
        """Policy and rule in one word, such as `MemoryPolicy/customer-facts/auto-confirm`."""
        return f"{self.policy}/{self.rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the ruleset says of one candidate, and the rules that said so (those behind the action come first)."""

    action: Action
    rules: tuple[RuleOutcome, ...]
    reason: str

    @property
    def behind(self) -> tuple[str, ...]:
        """The addresses of the rules whose action this is."""
        return tuple(rule.address for rule in self.rules if rule.counted and rule.action is self.action)
