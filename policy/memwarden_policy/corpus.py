"""Cases that say in YAML what a ruleset must answer: the tests of this project, and those of policy authors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from memwarden_policy.access import Rights, rights
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.decide import decide
from memwarden_policy.model import Access, Caller, Candidate, Decision, Problem, Resource, StoreDefaults
from memwarden_policy.ruleset import Ruleset

# What the service answers before any policy is asked: the caller may not write in the domain.
FORBIDDEN = "Forbidden"
DEFAULT_NOW: Final = datetime(2026, 12, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a case expects; None is left open."""

    action: str | None = None  # An action, or FORBIDDEN.
    rules: tuple[str, ...] | None = None  # The rules behind the action.
    audited: tuple[str, ...] | None = None  # The Audit rules that matched.
    failed: tuple[str, ...] | None = None  # The rules whose condition could not be evaluated.
    access: Mapping[str, str] = field(default_factory=dict)
    roles: tuple[str, ...] | None = None
    may_claim: tuple[str, ...] | None = None
    may_act_for: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the ruleset, and the answer it must give."""

    name: str
    resources: tuple[Resource, ...]  # Those of the suite, and its own.
    caller: Caller
    candidate: Candidate | None  # None: the case asks for rights alone.
    proposal: Mapping[str, Any]  # The candidate as the case writes it, in the words of the HTTP API.
    expect: Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The cases of one file."""

    name: str
    workspace: str
    now: datetime
    store: StoreDefaults
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where an answer is not the expected one."""

    what: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one case."""

    case: Case
    problems: tuple[Problem, ...] = ()  # Of its resources: nothing was asked.
    differences: tuple[Difference, ...] = ()
    reason: str = ""  # Why the ruleset decided as it did.

    @property
    def is_passed(self) -> bool:
        return not self.problems and not self.differences


def run(suite: Suite) -> Iterator[Result]:
    """Ask every case of a suite."""
    for case in suite.cases:
        yield run_case(suite, case)


def run_case(suite: Suite, case: Case) -> Result:
    """Compile the resources of a case, ask, and compare."""
    compiled = compile_ruleset(case.resources, suite.store, workspace=suite.workspace)
    problems = tuple(
        Problem(path=f"{kind}/{name}: {problem.path}", reason=problem.reason, message=problem.message)
        for (kind, _, name), verdict in compiled.verdicts.items()
        for problem in verdict.problems
    )
    if problems:
        return Result(case=case, problems=problems)
    held = rights(compiled.ruleset, case.caller, suite.now)
    decision = _decision(compiled.ruleset, case, held, suite.now)
    reason = decision.reason if isinstance(decision, Decision) else ""
    differences = (*_compare_decision(case, decision), *_compare_rights(case.expect, held))
    return Result(case=case, differences=differences, reason=reason)


def _decision(ruleset: Ruleset, case: Case, held: Rights, now: datetime) -> Decision | None:
    if case.candidate is None or held.access(case.candidate.domain) < Access.WRITE:
        return None
    return decide(ruleset, case.candidate, case.caller, now)


def _compare_decision(case: Case, decision: Decision | None) -> Iterator[Difference]:
    expect = case.expect
    if case.candidate is None:
        return
    action = decision.action.value if decision else FORBIDDEN
    if expect.action is not None and expect.action != action:
        yield Difference(what="action", expected=expect.action, actual=action)
    rules = decision.rules if decision else ()
    answers = {
        "rules": (expect.rules, decision.behind if decision else ()),
        "audited": (expect.audited, [each.address for each in rules if not each.counted and not each.failed]),
        "failed": (expect.failed, [each.address for each in rules if each.failed]),
    }
    for what, (expected, actual) in answers.items():
        yield from _compare_sets(what, expected, actual)


def _compare_rights(expect: Expectation, held: Rights) -> Iterator[Difference]:
    for domain, expected in expect.access.items():
        if expected != held.access(domain):
            yield Difference(what=f"access to {domain}", expected=expected, actual=held.access(domain).value)
    for person, expected_answer in expect.may_act_for.items():
        if expected_answer != held.may_act_for(person):
            actual = held.may_act_for(person)
            yield Difference(what=f"may act for {person}", expected=str(expected_answer), actual=str(actual))
    yield from _compare_sets("roles", expect.roles, held.roles)
    yield from _compare_sets("mayClaim", expect.may_claim, [each.value for each in held.may_claim])


def _compare_sets(what: str, expected: tuple[str, ...] | None, actual: Any) -> Iterator[Difference]:
    if expected is not None and sorted(expected) != sorted(actual):
        yield Difference(what=what, expected=_listed(expected), actual=_listed(actual))


def _listed(words: Any) -> str:
    return ", ".join(sorted(words)) or "none"
