"""A store adds rules of its own, within bounds, and never one that can slow it down."""

import pytest

from memwarden_policy.redaction import CustomRule, Registry, RuleError, sanitize_server_write
from memwarden_policy.redaction.registry import CUSTOM_PATTERN_LENGTH_MAX, CUSTOM_RULES_MAX

BADGE = CustomRule(kind="badge", pattern=r"\bBDG-(\d{6})\b")


def test_a_rule_of_the_store_cuts_its_first_group():
    done = sanitize_server_write("badge BDG-482913 of Anna", registry=Registry().with_rules([BADGE]))
    assert done.text == "badge BDG-[REDACTED:badge] of Anna"
    assert sanitize_server_write("badge BDG-482913 of Anna").text == "badge BDG-482913 of Anna"


def test_a_rule_may_hold_only_where_contact_data_is_cut_or_skip_the_text():
    registry = Registry().with_rules(
        [
            CustomRule(kind="desk", pattern=r"desk [A-Z]-\d+", contact=True),
            CustomRule(kind="vault-code", pattern=r"VC\d{9}", skip=True),
        ]
    )
    assert not sanitize_server_write("desk B-204", registry=registry).applied
    assert sanitize_server_write("desk B-204", redact_contact_pii=True, registry=registry).applied
    assert sanitize_server_write("VC482913746", registry=registry).skip


def test_equal_registries_are_compiled_once():
    one, other = Registry().with_rules([BADGE]), Registry().with_rules([BADGE])
    assert one.matcher() is other.matcher()
    assert "badge" in one.kinds()


REFUSED = [
    (CustomRule(kind="Badge", pattern="x1y2"), "lower-case"),
    (CustomRule(kind="b" * 49, pattern="x1y2"), "lower-case"),
    (CustomRule(kind="password", pattern="x1y2"), "already"),
    (CustomRule(kind="back", pattern=r"(a)\1"), "RE2"),
    (CustomRule(kind="look", pattern=r"(?=a)b"), "RE2"),
    (CustomRule(kind="open", pattern=r"("), "RE2"),
    (CustomRule(kind="empty", pattern=""), "1 to"),
    (CustomRule(kind="long", pattern="a" * (CUSTOM_PATTERN_LENGTH_MAX + 1)), "1 to"),
    (CustomRule(kind="large", pattern="(?:[a-z]{1,900}){1,1}[0-9]{900}"), "large"),
    (CustomRule(kind="all", pattern=r".+"), "ordinary"),
    (CustomRule(kind="nothing", pattern=r"x*"), "ordinary"),
]


@pytest.mark.parametrize(("rule", "why"), REFUSED, ids=[rule.kind for rule, _ in REFUSED])
def test_a_rule_that_cannot_be_taken_is_refused(rule, why):
    with pytest.raises(RuleError, match=why):
        Registry().with_rules([rule])


def test_too_many_rules_are_refused():
    rules = [CustomRule(kind=f"kind-{number}", pattern=f"K{number}X[0-9]+") for number in range(CUSTOM_RULES_MAX + 1)]
    assert Registry().with_rules(rules[:-1])
    with pytest.raises(RuleError, match="at most"):
        Registry().with_rules(rules)


def test_a_kind_is_taken_once():
    with pytest.raises(RuleError, match="already"):
        Registry().with_rules([BADGE]).with_rules([BADGE])


def test_a_rule_that_matches_everything_but_the_probe_ends_all_the_same():
    registry = Registry().with_rules([CustomRule(kind="digits", pattern=r"[0-9]|[A-Z]{3}")])
    once = sanitize_server_write("abc 123 DEF REDACTED", registry=registry)
    assert sanitize_server_write(once.text, registry=registry).text == once.text
