"""What one decision costs as a workspace grows, when few rules match and when all do, beside the CEL engine's own."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from statistics import median

from cel_expr_python import cel

from benchmarks import Figure
from memwarden_policy import bounds
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.decide import decide
from memwarden_policy.model import Caller, Candidate, Resource, SourceKind, StoreDefaults
from memwarden_policy.ruleset import Ruleset

WORKSPACE = "bench"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
SIZES = (10, 100, 1_000, 10_000)
RULES_PER_POLICY = 10
MATCHING_MAX = 50
ROUNDS = 7
SECONDS_PER_ROUND = 0.15
RATIO_GOAL = 5.0

CANDIDATE = Candidate(
    domain="customers/acme",
    content="Acme wants its invoices on paper, by the fifth of each month.",
    category="preference",
    source=SourceKind.AGENT_EXTRACTED,
    confidence=Decimal("0.810"),
    tags=("billing", "paper"),
)
CALLER = Caller.service_account(WORKSPACE, "agent")
# What the policies of the crowd speak of, none of it the candidate: each kind of selector has its share.
CROWD_SELECTORS = (
    lambda number: {"domains": [f"area-{number}/*"]},
    lambda number: {"domains": ["customers/**"], "categories": [f"category-{number}"]},
    lambda number: {"roles": [f"role-{number}"], "memoryTypes": ["semantic"]},
    lambda number: {"domains": [f"customers/customer-{number}"]},
)


def run() -> list[Figure]:
    """Measure, and return the figures."""
    seconds = {size: _seconds(_ruleset(size, matching=MATCHING_MAX)) for size in SIZES}
    all_match = _seconds(_ruleset(bounds.RULES_PER_WORKSPACE_MAX, matching=bounds.RULES_PER_WORKSPACE_MAX))
    engine = _seconds_of_engine()
    figures = [
        _figure(f"decide, {size} rules of which {min(size, MATCHING_MAX)} match", seconds[size] * 1e6, "us")
        for size in SIZES
    ]
    return [
        *figures,
        _figure("decide, 10000 rules beside 100, 50 match", seconds[10_000] / seconds[100], "times", RATIO_GOAL),
        _figure("decide, 10000 rules and all match", all_match * 1e3, "ms"),
        _figure("decide, each of 10000 matching rules", all_match / bounds.RULES_PER_WORKSPACE_MAX * 1e6, "us"),
        _figure("decisions, 100 rules of which 50 match", 1 / seconds[100], "per second", better_high=True),
        _figure(
            "rules evaluated in decisions of 100 rules", MATCHING_MAX / seconds[100], "per second", better_high=True
        ),
        _figure("CEL engine alone, one evaluation", 1 / engine, "per second", better_high=True),
    ]


def _figure(name: str, value: float, unit: str, goal: float | None = None, *, better_high: bool = False) -> Figure:
    return Figure(name=name, value=value, unit=unit, better="higher" if better_high else "lower", goal=goal)


def _ruleset(size: int, matching: int) -> Ruleset:
    """Return a ruleset in which policies of `matching` rules cover the candidate and the crowd does not."""
    grant = Resource(
        kind="MemoryAccessGrant",
        namespace=WORKSPACE,
        name="agent",
        spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "domains": ["**"], "access": "Write"},
    )
    policies = [
        _policy(number, is_crowd=number * RULES_PER_POLICY >= matching) for number in range(size // RULES_PER_POLICY)
    ]
    compilation = compile_ruleset([grant, *policies], StoreDefaults(), workspace=WORKSPACE)
    recorded = len(decide(compilation.ruleset, CANDIDATE, CALLER, NOW).rules)
    if recorded != min(size, matching, bounds.OUTCOMES_PER_DECISION_MAX):
        raise RuntimeError(f"{size} rules were to give {matching} that match, and gave {recorded}")
    return compilation.ruleset


def _policy(number: int, *, is_crowd: bool) -> Resource:
    selector = CROWD_SELECTORS[number % len(CROWD_SELECTORS)](number) if is_crowd else {"domains": ["customers/*"]}
    # Each condition is another one, so that no answer is found twice.
    admission = [
        {
            "name": f"rule-{index}",
            "when": f"candidate.confidence >= 0.{number * RULES_PER_POLICY + index:05d} && candidate.topic != 't'",
            "action": "Accept",
        }
        for index in range(RULES_PER_POLICY)
    ]
    spec = {"selector": selector, "admission": admission}
    return Resource(kind="MemoryPolicy", namespace=WORKSPACE, name=f"policy-{number}", spec=spec)


def _seconds(ruleset: Ruleset) -> float:
    return _timed(lambda: decide(ruleset, CANDIDATE, CALLER, NOW))


def _seconds_of_engine() -> float:
    """Time the engine itself: one expression on a prepared activation, nothing of ours around it."""
    environment = cel.NewEnv(variables={"confidence": cel.Type.DOUBLE, "topic": cel.Type.STRING})
    program = environment.compile("confidence >= 0.00001 && topic != 't'")
    activation = environment.Activation({"confidence": 0.81, "topic": ""})
    return _timed(lambda: program.eval(activation).value())


def _timed(action: Callable[[], object]) -> float:
    """Return the median over rounds of the mean seconds of one action."""
    action()
    return median(_round(action) for _ in range(ROUNDS))


def _round(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    count = 0
    while (elapsed := time.perf_counter() - start) < SECONDS_PER_ROUND:
        action()
        count += 1
    return elapsed / count
