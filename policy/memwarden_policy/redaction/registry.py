"""The rules a store redacts by: the built-in ones and those it adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import re2

from memwarden_policy.redaction.finders import quiet
from memwarden_policy.redaction.labels import label_rules
from memwarden_policy.redaction.matcher import Matcher
from memwarden_policy.redaction.model import KIND_LENGTH_MAX, Category, Match, Rule, RuleError, Span, whole
from memwarden_policy.redaction.numbers import contact_rules, number_rules
from memwarden_policy.redaction.tokens import token_rules

CUSTOM_RULES_MAX = 64
CUSTOM_PATTERN_LENGTH_MAX = 512
# Instructions of the compiled pattern; `[a-z]{1,200}` takes about 400.
CUSTOM_PROGRAM_SIZE_MAX = 2_000
CUSTOM_RANK = 60
REGISTRIES_KEPT = 32
_KIND = re2.compile(r"[a-z](?:[a-z0-9]|-[a-z0-9])*")
# Ordinary words: a pattern that matches all of them would empty every memory.
_ORDINARY = (b"the", b"customer", b"prefers", b"tea", b"12", b"Monday.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomRule:
    """A rule of a store: what its pattern matches (RE2 syntax; its first group, if it has one) is cut."""

    kind: str
    pattern: str
    contact: bool = False  # Whether it holds only where contact data is cut.
    skip: bool = False  # Whether a text that holds it is skipped altogether.


@dataclass(frozen=True, slots=True)
class Registry:
    """All rules of a store. Compiled at first use, once per process for equal registries."""

    custom: tuple[CustomRule, ...] = ()
    is_beside: bool = (
        False  # True: contact data and the store's own rules alone, for a text that was looked through before.
    )

    def with_rules(self, rules: Sequence[CustomRule]) -> "Registry":
        """Return a registry with more rules.

        Raises RuleError for a rule that cannot be taken: a kind that is no name or is taken, a pattern that RE2 does
        not know, that is too long or too large, or that matches nothing at all or ordinary words; or too many rules.
        """
        together = (*self.custom, *rules)
        if len(together) > CUSTOM_RULES_MAX:
            raise RuleError(f"A store adds at most {CUSTOM_RULES_MAX} rules, these are {len(together)}")
        kinds = [rule.kind for rule in together]
        for rule in rules:
            _check_kind(rule.kind, kinds)
            _check_pattern(rule)
        return Registry(together, self.is_beside)

    def matcher(self) -> Matcher:
        """Return the compiled rules."""
        return _compiled(self)

    def kinds(self) -> tuple[str, ...]:
        """Return the names of all kinds that are recognised."""
        return tuple(sorted({rule.kind for rule in (*_built_in(), *map(_rule, self.custom))}))


def _check_kind(kind: str, all_kinds: Sequence[str]) -> None:
    if len(kind) > KIND_LENGTH_MAX or not _KIND.fullmatch(kind):
        raise RuleError(f"A kind is lower-case words joined by '-', at most {KIND_LENGTH_MAX} characters")
    if all_kinds.count(kind) > 1 or kind in {rule.kind for rule in _built_in()}:
        raise RuleError(f"There is a rule for {kind} already")


def _check_pattern(rule: CustomRule) -> None:
    if not 0 < len(rule.pattern) <= CUSTOM_PATTERN_LENGTH_MAX:
        raise RuleError(f"The pattern of {rule.kind} must have 1 to {CUSTOM_PATTERN_LENGTH_MAX} characters")
    try:
        pattern = re2.compile(rule.pattern.encode(), quiet())
    except (re2.error, UnicodeEncodeError):
        raise RuleError(f"The pattern of {rule.kind} is not an RE2 expression") from None
    if pattern.programsize > CUSTOM_PROGRAM_SIZE_MAX:
        raise RuleError(f"The pattern of {rule.kind} is too large once its repetitions are written out")
    if pattern.match(b"") or all(pattern.search(word) for word in _ORDINARY):
        raise RuleError(f"The pattern of {rule.kind} matches ordinary words")


def _not_empty(match: Match) -> Span | None:
    span = whole(match)
    return span if span and span[1] > span[0] else None


def _rule(rule: CustomRule) -> Rule:
    category = Category.CONTACT if rule.contact else Category.CLOUD if rule.skip else Category.CUSTOM
    return Rule(kind=rule.kind, category=category, pattern=rule.pattern, locate=_not_empty, rank=CUSTOM_RANK)


@lru_cache(maxsize=1)
def _built_in() -> tuple[Rule, ...]:
    return (*token_rules(), *label_rules(), *number_rules(), *contact_rules())


@lru_cache(maxsize=REGISTRIES_KEPT)
def _compiled(registry: Registry) -> Matcher:
    built_in = contact_rules() if registry.is_beside else _built_in()
    return Matcher((*built_in, *map(_rule, registry.custom)))
