"""The words of Memwarden as values: what is offered, who calls, what is proposed, what is decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from memwarden_policy.demands import Confirmation, Demand
from memwarden_policy.envelope import STANDARD, Envelope

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


class Recall(Ordered):
    """What a reader is shown of a memory: it, it with a flag, or nothing."""

    ALLOW = "Allow"
    FLAG = "Flag"
    HIDE = "Hide"


class Change(Ordered):
    """What is done with an update or a deletion of a memory."""

    ALLOW = "Allow"
    REQUIRE_CONFIRMATION = "RequireConfirmation"
    REJECT = "Reject"


class Point(StrEnum):
    """Where rules speak, by the name of their list in a policy."""

    ADMISSION = "admission"
    RECALL = "recall"
    UPDATE = "update"
    DELETE = "delete"


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
    MEMORY_DOMAIN = "MemoryDomain"


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
    subject: str = ""  # Whom or what it speaks of, such as a customer's number.
    value: str = ""  # A structured value as canonical JSON; see `values`.
    reason: str = ""  # Why it should be remembered.
    valid_until: datetime | None = None  # The first moment it no longer holds; None: it has no term.
    delete_at: datetime | None = None  # From when it is to be gone; None: nobody asked for it.
    envelope: Envelope = STANDARD


class Status(StrEnum):
    """Where a memory stands in its life."""

    CONFIRMED = "confirmed"
    NEEDS_VERIFICATION = "needs_verification"
    DEACTIVATED = "deactivated"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory that exists, with its standing."""

    id: str
    statement: Candidate
    created_at: datetime
    status: Status = Status.CONFIRMED
    last_confirmed_at: datetime | None = None  # None: not since its creation.
    version: int = 1
    confirmed: bool = False  # True: a person confirmed it.
    proposer: Caller | None = None  # None: not known, or of no interest.
    falls: tuple[tuple[Decimal, datetime], ...] = ()  # Higher confidences it had, each with until when.
    is_held: bool = False  # True: a legal hold keeps it.


class RecordAnswer(StrEnum):
    """What the system of record said of a candidate."""

    NOT_ASKED = "NotAsked"
    AGREES = "Agrees"
    DIFFERS = "Differs"
    SILENT = "Silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the service found out about a candidate before it is decided."""

    supersedes: Memory | None = None  # None: it takes the place of no memory in force.
    record: RecordAnswer = RecordAnswer.NOT_ASKED
    record_note: str = ""
    redacts: bool = False  # True: its owner wants contact data cut out of it.
    was_rejected: bool = False  # True: a person rejected the same claim before.


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What one rule said."""

    policy: str  # "MemoryPolicy/name", "ClusterMemoryPolicy/name" or "builtin".
    rule: str
    action: Ordered  # An Action, a Recall or a Change, by what was asked.
    counted: bool = True  # False: an Audit rule; recorded, without effect.
    failed: bool = False  # True: its condition could not be evaluated.
    note: str = ""
    message: str = ""  # What the author advises whoever is refused.
    demand: Demand | None = None  # None: nothing beyond what every confirmation needs.
    reference: bool = False  # True: a reference is kept, not the content.

    @property
    def address(self) -> str:
        """Policy and rule in one word, such as `MemoryPolicy/customer-facts/auto-confirm`."""
        return f"{self.policy}/{self.rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a ruleset says, and the rules that said so (those behind the action come first)."""

    action: Ordered
    rules: tuple[RuleOutcome, ...]
    reason: str

    @property
    def behind(self) -> tuple[str, ...]:
        """The addresses of the rules whose action this is."""
        return tuple(rule.address for rule in self.rules if rule.counted and rule.action is self.action)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Answer):
    """What the ruleset says of one candidate."""

    action: Action
    confirmation: Confirmation | None = None  # None: it does not wait.
    reference: bool = False  # True: keep a reference instead of the content; see `decide.kept`.
    detected: tuple[str, ...] = ()  # Categories found by looking at the candidate, sorted.


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Answer):
    """What the ruleset says of one memory to one reader."""

    action: Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Answer):
    """What the ruleset says of an update or deletion of one memory."""

    action: Change
    confirmation: Confirmation | None = None  # None: it does not wait.
