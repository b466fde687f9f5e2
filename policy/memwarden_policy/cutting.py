"""What a policy lets be cut out of the words of a memory beside secrets: contact data, and what its own rules find."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memwarden_policy.model import Action, Candidate, RuleOutcome
from memwarden_policy.redaction import (
    Category,
    CustomRule,
    Redaction,
    Registry,
    SanitizedValue,
    sanitize_server_write,
    sanitize_value,
)
from memwarden_policy.rules import Contact
from memwarden_policy.ruleset import Ruleset


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """What all policies that cover a statement say together: the strictest of each."""

    contact: bool = False  # Contact data is cut.
    refusing: tuple[str, ...] = ()  # The policies that refuse what holds contact data.
    rules: tuple[CustomRule, ...] = ()

    @property
    def is_anything(self) -> bool:
        return self.contact or bool(self.rules)

    @property
    def registry(self) -> Registry:
        """The rules beside the built-in ones, which have been asked before."""
        return Registry(self.rules, is_beside=True)


NO_CUTS: Final = Cuts()


def cuts(ruleset: Ruleset, candidate: Candidate, roles: frozenset[str]) -> Cuts:
    """Return what is cut out of a statement, and what refuses it."""
    if ruleset.redacting.is_empty:
        return NO_CUTS
    said = [(each.address, each.redaction) for each in ruleset.redacting.select(candidate, roles) if each.redaction]
    if not said:
        return NO_CUTS
    return Cuts(
        contact=any(each.contact is not Contact.KEEP for _, each in said),
        refusing=tuple(address for address, each in said if each.contact is Contact.REJECT),
        rules=tuple(dict.fromkeys(rule for _, each in said for rule in each.rules)),
    )


def cut(value: Any, wanted: Cuts) -> SanitizedValue:
    """Return JSON without what is to be cut beside secrets."""
    return sanitize_value(value, wanted.contact, wanted.registry)


def refusals(wanted: Cuts, found: Sequence[Redaction]) -> Iterable[RuleOutcome]:
    """Return what refuses a statement for the contact data that was found in it."""
    kinds = ", ".join(dict.fromkeys(each.kind for each in found if each.category is Category.CONTACT))
    for address in wanted.refusing if kinds else ():
        note = f"it held {kinds}"
        yield RuleOutcome(policy=address, rule="redaction.ownerPII", action=Action.REJECT, note=note)


def would_cut(candidate: Candidate, wanted: Cuts) -> bool:
    """Say whether anything of the words of a statement would be cut."""
    if not wanted.is_anything or candidate.envelope.is_vault:
        return False
    words = (candidate.content, candidate.topic, candidate.subject, candidate.reason, candidate.value)
    return sanitize_server_write("\n".join(filter(None, words)), wanted.contact, wanted.registry).applied
