"""Compiled policies: rules with their conditions, and the selector that says which candidates they speak of."""

from dataclasses import dataclass

from memwarden_policy.attributes import Facts
from memwarden_policy.expressions import Activation, Expression, Failure
from memwarden_policy.globs import Glob, any_matches
from memwarden_policy.model import Action, Candidate, MemoryType, RuleOutcome
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
    """One admission rule."""

    name: str
    action: Action
    condition: Condition
    outcome: RuleOutcome  # What it says where it matches: the same each time, so it is made once.


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy in force."""

    address: str  # "MemoryPolicy/name"
    priority: int
    is_audit: bool
    selector: Selector
    rules: tuple[Rule, ...]

    @property
    def cost(self) -> int:
        """The most that asking this policy costs in one decision."""
        globs = (*self.selector.domains, *self.selector.categories)
        conditions = (rule.condition.cost if isinstance(rule.condition, Expression) else 1 for rule in self.rules)
        return sum(glob.cost for glob in globs) + sum(conditions)


class Evaluation:
    """Evaluates the conditions of one decision, each distinct one once."""

    __slots__ = ("_activation", "_answers", "_facts")

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._activation = Activation(facts)
        self._answers: dict[str, bool | Failure] = {}

    def holds(self, condition: Condition) -> bool | Failure:
        if condition is None:
            return True
        if isinstance(condition, Where):
            return condition.holds(self._facts)
        answer = self._answers.get(condition.text)
        if answer is None:
            answer = self._answers[condition.text] = condition.holds(self._activation)
        return answer
