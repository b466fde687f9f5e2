"""What redaction and screening add to a decision: outcomes of built-in rules, which only make it stricter."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from memwarden_policy import bounds
from memwarden_policy.model import Action, Decision, RuleOutcome, SourceKind
from memwarden_policy.redaction import Redaction, skips
from memwarden_policy.screening import CARRIED, Screened, Verdict, judge

BUILTIN = "builtin"


def at_least(decision: Decision, outcome: RuleOutcome) -> Decision:
    """Return the decision with one more counted outcome: never milder than it was, never milder than the outcome."""
    counted = sorted(
        (*(rule for rule in decision.rules if rule.counted), outcome),
        key=lambda each: (-each.action.rank, each.policy, each.rule),
    )
    rules = (*counted, *(rule for rule in decision.rules if not rule.counted))
    action = max(decision.action, outcome.action)
    reason = decision.reason
    if outcome.action > decision.action:
        reason = f"{action} by {outcome.address}: {outcome.note}"
    return replace(decision, action=Action(action), rules=rules[: bounds.OUTCOMES_PER_DECISION_MAX], reason=reason)


def withheld(redactions: Sequence[Redaction]) -> RuleOutcome | None:
    """Return the refusal of a text that held a private key or a cloud secret; None: it held neither."""
    kinds = dict.fromkeys(each.kind for each in redactions if skips([each]))
    if not kinds:
        return None
    return RuleOutcome(policy=BUILTIN, rule="credentials", action=Action.REJECT, note="it held " + ", ".join(kinds))


def quarantined(seen: Screened, source: SourceKind, may_claim: Collection[SourceKind]) -> RuleOutcome | None:
    """Return the quarantine of a text that worries more than its source may; None: screening has no objection.

    A source is trusted where a grant lets the writer claim it, unless its words are a page's, a file's or a tool's.
    """
    trusted = source in may_claim and source not in CARRIED
    if judge(seen.risk, source, trusted) is Verdict.KEEP:
        return None
    note = ", ".join(dict.fromkeys(signal.kind.value for signal in seen.signals))
    return RuleOutcome(policy=BUILTIN, rule="screened", action=Action.QUARANTINE, note=note)
