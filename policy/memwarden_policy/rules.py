"""Compiled policies: rules with their conditions, and the selector that says which candidates they speak of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from memwarden_policy.attributes import Facts
from memwarden_policy.expressions import Activation, Expression, Failure
from memwarden_policy.globs import Glob, any_matches
from memwarden_policy.model import Candidate, Kind, Memory, MemoryType, Ordered, Point, RuleOutcome, SourceKind
from memwarden_policy.redaction import CustomRule
from memwarden_policy.structured import Where

Condition = Expression | Where | None  # None: always.


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which candidates a policy speaks of. An empty part leaves nothing out."""

    domains: tuple[Glob, ...] = ()
    memory_types: frozenset[MemoryType] = frozenset()
    categories: tuple[Glob, ...] = ()
    roles: frozenset[str] = frozenset()

    def covers(self, candidate: Candidate, roles: frozenset[str]) -> bool:
        """Say whether the policy speaks of this candidate, proposed by a holder of these roles."""
        return (
            (not self.memory_types or candidate.memory_type in self.memory_types)
            and (not self.roles or not self.roles.isdisjoint(roles))
            and (not self.domains or any_matches(self.domains, candidate.domain))
            and (not self.categories or any_matches(self.categories, candidate.category))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule on writing, reading, updating or deleting."""

    name: str
    action: Ordered
    condition: Condition
    outcome: RuleOutcome  # What it says where it matches: the same each time, so it is made once.


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """Whose word is kept from being changed on whose."""

    stated_by: frozenset[SourceKind]
    against: frozenset[SourceKind] = frozenset()  # Empty: every kind that is not protected itself.

    def forbids(self, memory: Memory, source: SourceKind) -> bool:
        """Say whether a change on the word of this source is refused."""
        given = {memory.statement.source} | ({SourceKind.USER_CONFIRMED} if memory.confirmed else set())
        if given.isdisjoint(self.stated_by):
            return False
        return source in self.against if self.against else source not in self.stated_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a policy says of sources."""

    trust: Mapping[SourceKind, Decimal] = field(default_factory=dict)
    allowed: tuple[Glob, ...] = ()  # Empty: all that are not blocked.
    blocked: tuple[Glob, ...] = ()
    protections: tuple[Protection, ...] = ()

    def objection(self, candidate: Candidate) -> str:
        """Return the field that keeps this source out; "" where none does."""
        names = (candidate.source.value, candidate.source_uri)
        if any(any_matches(self.blocked, name) for name in names if name):
            return BLOCKED_SOURCES
        if self.allowed and not any(any_matches(self.allowed, name) for name in names if name):
            return ALLOWED_SOURCES
        return ""


BLOCKED_SOURCES: Final = "provenance.blockedSources"
ALLOWED_SOURCES: Final = "provenance.allowedSources"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackNumbers:
    """What feedback does to confidence, where a policy says; None: it leaves the number to others."""

    confirm: Decimal | None = None
    reject: Decimal | None = None
    edit: Decimal | None = None
    deletes_on_reject: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A condition by which a category is known, whatever the candidate claims."""

    category: str
    condition: Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOfTruth:
    """Categories that need the system of record or a person, and how they are known."""

    categories: tuple[Glob, ...]
    detections: tuple[Detection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LowConfidence:
    """How low a confidence must have been, and for how long."""

    below: Decimal
    lasting: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRule:
    """One rule on which memories end: from the moment at which all of it holds."""

    name: str
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long a policy lets memories be kept."""

    ttl: timedelta | None = None  # From the moment it came into force; None: no term.
    is_permanent: bool = False  # Says aloud that there is no term; another policy may give one.
    low: LowConfidence | None = None
    legal_hold: bool = False
    rules: tuple[EndRule, ...] = ()


class Contact(StrEnum):
    """What becomes of contact data."""

    KEEP = "Keep"
    REDACT = "Redact"
    REJECT = "Reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacting:
    """What a policy lets be cut beside secrets."""

    contact: Contact = Contact.KEEP
    rules: tuple[CustomRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy in force."""

    address: str  # "MemoryPolicy/name"
    priority: int
    is_audit: bool
    selector: Selector
    rules: Mapping[Point, tuple[Rule, ...]]
    provenance: Provenance = Provenance()
    feedback: FeedbackNumbers | None = None  # None: it says nothing of feedback.
    truth: SourceOfTruth | None = None  # None: it names no category.
    retention: Retention | None = None  # None: it says nothing of how long.
    redaction: Redacting | None = None  # None: it lets nothing be cut beside secrets.

    @property
    def is_floor(self) -> bool:
        return self.address.startswith(f"{Kind.CLUSTER_MEMORY_POLICY}/")

    @property
    def all_rules(self) -> Iterator[tuple[Point, int, Rule]]:
        """Every rule with its place."""
        return ((point, index, rule) for point, rules in self.rules.items() for index, rule in enumerate(rules))

    def speaks_at(self, point: Point) -> bool:
        """Say whether the policy has anything to say at this point."""
        provenance = self.provenance
        sources = provenance.allowed or provenance.blocked
        others: Mapping[Point, object] = {
            Point.ADMISSION: sources or provenance.trust or self.truth,
            Point.RECALL: sources,
            Point.UPDATE: sources or provenance.protections or self.feedback,
            Point.DELETE: provenance.protections,
        }
        return bool(self.rules.get(point) or others[point])

    @property
    def size(self) -> int:
        """How many conditions it holds: rules, detections, and rules on retention."""
        detections = len(self.truth.detections) if self.truth else 0
        endings = len(self.retention.rules) if self.retention else 0
        return sum(len(rules) for rules in self.rules.values()) + detections + endings

    @property
    def cost(self) -> int:
        """The most that asking this policy costs in one decision."""
        truth = self.truth
        globs = (*self.selector.domains, *self.selector.categories, *self.provenance.allowed, *self.provenance.blocked)
        conditions = [rule.condition for _, _, rule in self.all_rules]
        if truth is not None:
            globs = (*globs, *truth.categories)
            conditions += [each.condition for each in truth.detections]
        costs = (each.cost if isinstance(each, Expression) else 1 for each in conditions)
        return sum(glob.cost for glob in globs) + sum(costs)


class Evaluation:
    """Evaluates the conditions of one decision, each distinct one once."""

    __slots__ = ("_activation", "_answers", "facts")

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._activation = Activation(facts)
        self._answers: dict[str, bool | Failure] = {}

    def holds(self, condition: Condition) -> bool | Failure:
        if condition is None:
            return True
        if isinstance(condition, Where):
            return condition.holds(self.facts)
        answer = self._answers.get(condition.text)
        if answer is None:
            answer = self._answers[condition.text] = condition.holds(self._activation)
        return answer
