"""Expressions: what is taken, what is refused and how it is said, and that an error is never true."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwarden_policy import attributes, bounds, subset
from memwarden_policy.attributes import Facts
from memwarden_policy.expressions import Activation, Expression, Failure, Fault, compiled
from memwarden_policy.model import Caller, Candidate, SourceKind

FACTS = Facts(
    candidate=Candidate(
        domain="customers/acme",
        content="Acme pays late.",
        source=SourceKind.AGENT_EXTRACTED,
        confidence=Decimal("0.700"),
        tags=("billing", "vip"),
    ),
    caller=Caller.service_account("support", "agent", principal="alice"),
    roles=frozenset({"support-agent", "night-shift"}),
    now=datetime(2026, 12, 1, 12, tzinfo=UTC),
)

HOLDS = [
    "candidate.domain == 'customers/acme' && candidate.topic == ''",
    "candidate.memory_type == 'semantic' && candidate.category == ''",
    "candidate.content.contains('late') && size(candidate.content) == 15",
    "candidate.source in ['agent_extracted', 'reasoning']",
    "candidate.source_uri == ''",
    "candidate.confidence == 0.7 && !(candidate.confidence > 0.7)",
    "!candidate.is_sensitive",
    "candidate.tags == ['billing', 'vip'] && candidate.tags[1] == 'vip'",
    "candidate.tags.all(t, size(t) > 2) && candidate.tags.exists_one(t, t == 'vip')",
    "size(candidate.tags.filter(t, t != 'vip')) == 1 && candidate.tags.map(t, t + '!')[0] == 'billing!'",
    "candidate.owner == '' && candidate.about == ''",
    "candidate.observed_at == now",
    "now - duration('24h') == timestamp('2026-11-30T12:00:00Z')",
    "now.getHours() == 12 && now.getHours('Europe/Berlin') == 13 && now.getDayOfWeek() == 2",
    "actor.kind == 'ServiceAccount' && actor.name == 'support/agent'",
    "actor.roles == ['night-shift', 'support-agent']",
    "principal == 'alice'",
    "candidate.content.matches('^Acme .* late[.]$')",
    "candidate.confidence < 0.5 ? false : true",
    "int('3') + 4 == 7 && double(1) == 1.0 && string(2) == '2'",
    "'has(' != 'x' // has( in a text and in a comment",
    " || ".join(["candidate.topic == 'x'"] * 60) + " || true",
]

REFUSED = [
    ("candidate.confidnce > 0.5", "UnknownAttribute", "line 1, column 10", "did you mean `candidate.confidence`?"),
    ("true &&\n  actor.role == 'x'", "UnknownAttribute", "line 2, column 8", "did you mean `actor.roles`?"),
    ("memory.source == 'x'", "UnknownAttribute", "line 1", "unknown name `memory"),
    ("candidate.source.startWith('x')", "UnknownAttribute", "line 1", "did you mean `startsWith`?"),
    ("candidate.confidence > 1", "InvalidExpression", "line 1, column 22", "write a number with its point"),
    ("candidate.source == 1", "InvalidExpression", "line 1", "`==` does not take (string, int)"),
    ("candidate.source.foo == 'x'", "InvalidExpression", "line 1", "string"),
    ("candidate.owner == null", "InvalidExpression", "line 1", "null"),
    ("candidate.source ==", "InvalidExpression", "line 1", "Syntax error"),
    ("", "InvalidExpression", "line 1", "Syntax error"),
    ("true\x00", "InvalidExpression", "", "Syntax error"),
    ("candidate.source", "NotABool", "", "gives string"),
    ("has(candidate.source)", "NotAllowed", "line 1, column 1", "`has` is not allowed"),
    ("true && has(candidate.is_sensitive)", "NotAllowed", "line 1, column 9", "`has` is not allowed"),
    ("{'a': 1}['a'] == 1", "NotAllowed", "line 1", "nothing else is allowed"),
    ("b'a' == b'a'", "NotAllowed", "line 1", "nothing else is allowed"),
    ("1u == 1u", "NotAllowed", "line 1", "nothing else is allowed"),
    ("dyn(1) == 1", "NotAllowed", "line 1", "nothing else is allowed"),
    ("type(1) == int", "NotAllowed", "line 1", "nothing else is allowed"),
    ("candidate.source in ['a', 1]", "NotAllowed", "line 1", "nothing else is allowed"),
    ("google.protobuf.Timestamp{} == now", "NotAllowed", "line 1", "nothing else is allowed"),
    ("bool('true')", "NotAllowed", "line 1", "`bool` is not allowed"),
    ("candidate.tags.exists(now, now == 'x')", "NotAllowed", "line 1", "`now` has a meaning already"),
    ("candidate.content.matches(candidate.topic)", "NotAllowed", "line 1", "must be a text in quotes"),
    ("candidate.content.matches('(')", "InvalidConstant", "line 1", "missing )"),
    ("candidate.observed_at < now - duration('30d')", "InvalidConstant", "line 1", "write days as hours"),
    ("candidate.observed_at < timestamp('yesterday')", "InvalidConstant", "line 1", "timestamp"),
    ("int('many') == 1", "InvalidConstant", "line 1", "int"),
    ("(" * 25 + "true" + ")" * 25, "TooDeep", "column 25", "24 deep"),
    (" + ".join(["1"] * 26) + " == 26", "TooDeep", "", "24 deep"),
    (" + ".join(["1"] * 400) + " == 400", "TooDeep", "", "24 deep"),
    ("'" + "x" * 2_048 + "' == ''", "ExpressionTooLong", "", "at most 2048 characters"),
    (" || ".join(["candidate.tags.exists(t, t == 'x')"] * 5), "TooManyLoops", "", "at most 4"),
    (
        "candidate.tags.exists(a, candidate.tags.exists(b, candidate.tags.exists(c, a + b == c)))",
        "TooExpensive",
        "",
        "may cost 100000",
    ),
    ("candidate.tags.all(t, candidate.content.matches('(x+x+)+y'))", "TooExpensive", "", "may cost 100000"),
]


@pytest.mark.parametrize("text", HOLDS)
def test_an_expression_holds(text):
    expression = compiled(text)
    assert isinstance(expression, Expression), expression
    assert expression.holds(Activation(FACTS)) is True


@pytest.mark.parametrize(("text", "reason", "place", "words"), REFUSED)
def test_an_expression_is_refused(text, reason, place, words):
    fault = compiled(text)
    assert isinstance(fault, Fault)
    assert fault.reason == reason
    assert place in fault.message
    assert words in fault.message
    assert "\n" not in fault.message


@pytest.mark.parametrize(
    "text", ["candidate.tags[7] == 'x'", "int(candidate.topic) > 0", "1 / size(candidate.topic) == 1"]
)
def test_an_evaluation_that_fails_is_a_failure_and_not_true(text):
    expression = compiled(text)
    assert isinstance(expression, Expression)
    answer = expression.holds(Activation(FACTS))
    assert isinstance(answer, Failure)
    assert answer is not True
    assert "\n" not in answer


def test_an_expression_about_a_value_the_engine_does_not_take_fails():
    candidate = Candidate(domain="\ud800", content="x", source=SourceKind.REASONING, confidence=Decimal(1))
    facts = Facts(candidate=candidate, caller=FACTS.caller, roles=frozenset(), now=FACTS.now)
    expression = compiled("candidate.domain != 'x'")
    assert isinstance(expression, Expression)
    assert isinstance(expression.holds(Activation(facts)), Failure)


@pytest.mark.parametrize(
    "attribute", attributes.TABLES[attributes.Matter.CANDIDATE].attributes, ids=lambda each: each.name
)
def test_every_attribute_of_the_table_can_be_spoken_of(attribute):
    samples = {"string": "''", "bool": "false", "double": "0.0", "timestamp": "now", "list(string)": "['x']"}
    expression = compiled(f"{attribute.name} != {samples[attribute.type]} || true")
    assert isinstance(expression, Expression)
    assert expression.holds(Activation(FACTS)) is True


def test_the_functions_of_the_subset_are_functions_of_the_engine():
    for name in subset.FUNCTIONS:
        fault = compiled(f"{name}(candidate.tags, candidate.tags, candidate.tags)")
        assert isinstance(fault, Fault)
        assert "does not take" in fault.message


FRAGMENTS = st.lists(
    st.sampled_from(
        [each.name for each in attributes.TABLES[attributes.Matter.CANDIDATE].attributes]
        + [f"{name}(" for name in subset.FUNCTIONS]
        + [
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "'",
            '"""',
            "//",
            "&&",
            "||",
            "!",
            "-",
            "+",
            "==",
            "<",
            "in",
            "?",
            ":",
            ".",
            ",",
        ]
        + ["1", "0.5", "'x'", "true", "t", ".exists(t,", ".map(t,", "has(", "\n", "\\", "r'", "é", "\U0001f600"]
    ),
    max_size=30,
).map(" ".join)


@settings(max_examples=400)
@given(st.one_of(st.text(max_size=60), FRAGMENTS))
def test_no_text_raises(text):
    answer = compiled(text)
    if isinstance(answer, Expression):
        assert isinstance(answer.holds(Activation(FACTS)), bool | Failure)
    else:
        assert answer.message
        assert "\n" not in answer.message


@pytest.mark.parametrize("opening", ["(", "[", "{", "!", "-", "a.", "a(", "1+", "a?", "'", '"""', "r'''", "\\", "//\n"])
def test_a_long_run_of_one_thing_is_refused_and_nothing_crashes(opening):
    text = opening * (bounds.EXPRESSION_LENGTH_MAX // len(opening))
    assert isinstance(compiled(text), Fault)
