"""Cases that say in YAML what a ruleset must answer: the tests of this project, and those of policy authors."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from memwarden_policy import change, explain, feedback, provenance, recall, shapes
from memwarden_policy.access import Rights, rights
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.decide import NOTHING_KNOWN, decide
from memwarden_policy.demands import Confirmation
from memwarden_policy.feedback import FeedbackKind
from memwarden_policy.model import (
    Access,
    Answer,
    Caller,
    Candidate,
    Decision,
    Known,
    Memory,
    Point,
    Problem,
    Resource,
    SourceKind,
    StoreDefaults,
)
from memwarden_policy.retention import Ending, ending
from memwarden_policy.ruleset import Ruleset

# What the service answers before any policy is asked: the caller may not write in the domain.
FORBIDDEN = "Forbidden"
NEVER: Final = "never"
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
    details: Mapping[str, str] = field(default_factory=dict)  # Of a decision, each in the words of `detail`.
    on_memory: Mapping[Point, str] = field(default_factory=dict)  # What reading, updating, deleting come to.
    feedback: Mapping[str, str] = field(default_factory=dict)  # The confidence after each kind of feedback.
    ends: str | None = None  # When a retention ends it, in the words of `ending_shown`.


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to the ruleset, and the answer it must give."""

    name: str
    resources: tuple[Resource, ...]  # Those of the suite, and its own.
    caller: Caller
    candidate: Candidate | None  # None: the case asks for rights alone.
    proposal: Mapping[str, Any]  # The candidate as the case writes it, in the words of the HTTP API.
    expect: Expectation
    known: Known = NOTHING_KNOWN  # What the service would have found out.
    memory: Memory | None = None  # None: the case asks nothing of a memory that exists.
    change_source: SourceKind = SourceKind.AGENT_EXTRACTED  # On whose word the memory is changed.


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
    found, answers = ask(compiled.ruleset, case, suite.now)
    reason = " ".join(explain.sentence(answer) for answer in answers)
    return Result(case=case, differences=found, reason=reason)


def ask(ruleset: Ruleset, case: Case, now: datetime) -> tuple[tuple[Difference, ...], tuple[Answer, ...]]:
    """Ask a ruleset all that a case asks; return where it differs, and what it decided."""
    held = rights(ruleset, case.caller, now)
    decision = _decision(ruleset, case, held, now)
    on_memory = _on_memory(ruleset, case, now)
    differences = (
        *_compare_decision(case, decision),
        *_compare_details(ruleset, case, decision, now),
        *_compare_memory(case, on_memory),
        *_compare_feedback(ruleset, case, now),
        *_compare_ending(ruleset, case),
        *_compare_rights(case.expect, held),
    )
    return differences, (*([decision] if decision else []), *on_memory.values())


def _decision(ruleset: Ruleset, case: Case, held: Rights, now: datetime) -> Decision | None:
    if case.candidate is None or held.access(case.candidate.domain) < Access.WRITE:
        return None
    return decide(ruleset, case.candidate, case.caller, now, case.known)


def _on_memory(ruleset: Ruleset, case: Case, now: datetime) -> dict[Point, Answer]:
    """Ask what comes of the points the case has an expectation of."""
    if case.memory is None:
        return {}
    by = (case.memory, case.caller, now)
    ways: dict[Point, Callable[[], Answer]] = {
        Point.RECALL: lambda: recall.judge(ruleset, *by),
        Point.UPDATE: lambda: change.judge_update(ruleset, *by, case.change_source),
        Point.DELETE: lambda: change.judge_delete(ruleset, *by, case.change_source),
    }
    return {point: way() for point, way in ways.items() if point in case.expect.on_memory}


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


def _compare_details(ruleset: Ruleset, case: Case, decision: Decision | None, now: datetime) -> Iterator[Difference]:
    if case.candidate is None:
        return
    for name, expected in case.expect.details.items():
        if name == "seed":
            actual = str(provenance.seed(ruleset, case.candidate, case.caller, now))
        else:
            actual = detail(name, decision) if decision else FORBIDDEN
        if expected != actual:
            yield Difference(what=name, expected=expected, actual=actual)


def detail(name: str, decision: Decision) -> str:
    """Return one thing beside the action in the words in which a case expects it; "none" where there is none."""
    said = {
        "detected": lambda: _listed(decision.detected),
        "reference": lambda: str(decision.reference),
        "sentence": lambda: explain.sentence(decision),
        "reason": lambda: decision.reason,
    }
    if name in said:
        return said[name]()
    return _needed(name, decision.confirmation) if decision.confirmation else "none"


def _needed(name: str, confirmation: Confirmation) -> str:
    match name:
        case "confirmedBy":
            return _listed(each.address for each in confirmation.by)
        case "people":
            return str(confirmation.people)
        case "questions":
            return _listed(confirmation.questions)
    return shapes.shown(confirmation.expires_after)


def _compare_memory(case: Case, answers: Mapping[Point, Answer]) -> Iterator[Difference]:
    for point, answer in answers.items():
        expected = case.expect.on_memory[point]
        if expected != answer.action.value:
            yield Difference(what=point.value, expected=expected, actual=answer.action.value)
    if answers and case.candidate is None:
        behind = {address for answer in answers.values() for address in answer.behind}
        yield from _compare_sets("rules", case.expect.rules, behind)


def _compare_feedback(ruleset: Ruleset, case: Case, now: datetime) -> Iterator[Difference]:
    if case.memory is None:
        return
    settings = feedback.settings(ruleset, case.memory, case.caller, now)
    for name, expected in case.expect.feedback.items():
        actual = str(settings.deletes_on_reject)
        if name != "deletes":
            actual = str(feedback.apply(case.memory.statement.confidence, FeedbackKind(name), settings))
        if expected != actual:
            yield Difference(what=f"feedback {name}", expected=expected, actual=actual)


def _compare_ending(ruleset: Ruleset, case: Case) -> Iterator[Difference]:
    if case.memory is None or case.expect.ends is None:
        return
    actual = ending_shown(ending(ruleset, case.memory))
    if actual != case.expect.ends:
        yield Difference(what="ends", expected=case.expect.ends, actual=actual)


def ending_shown(found: Ending | datetime | None) -> str:
    """Return when a memory ends, in the words in which a case expects it."""
    if found is None:
        return NEVER
    return (found.at if isinstance(found, Ending) else found).astimezone(UTC).isoformat()


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
