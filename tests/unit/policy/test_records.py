"""Systems of record and structured values: what agrees, what differs, and what is no answer."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy import bounds, records, values
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Candidate, RecordAnswer, Resource, SourceKind, StoreDefaults
from memwarden_policy.records import Row, Table

TABLE = Table(
    rows=(
        Row(subject="seat", topic="price", value="40"),
        Row(subject="desk", value='{"opens": "08:00"}'),
        Row(subject="desk", value="Opens at eight."),
    )
)


def candidate(**fields):
    usual = {"domain": "a", "content": "b", "source": SourceKind.REASONING, "confidence": Decimal(1)}
    return Candidate(**(usual | fields))


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"subject": "seat", "topic": "price", "value": "40"}, RecordAnswer.AGREES),
        ({"subject": "seat", "topic": "price", "value": '"40"'}, RecordAnswer.AGREES),
        ({"subject": "seat", "topic": "price", "value": "45"}, RecordAnswer.DIFFERS),
        ({"subject": "seat", "topic": "colour", "value": "40"}, RecordAnswer.SILENT),
        ({"subject": "chair", "topic": "price", "value": "40"}, RecordAnswer.SILENT),
        ({"subject": "", "value": "40"}, RecordAnswer.SILENT),
        ({"subject": "desk", "topic": "any", "value": '{"opens":"08:00"}'}, RecordAnswer.AGREES),
        ({"subject": "desk", "content": "Opens at eight."}, RecordAnswer.AGREES),
        ({"subject": "desk", "content": "Opens at nine."}, RecordAnswer.DIFFERS),
    ],
)
def test_a_table_answers_by_subject_topic_and_value(fields, answer):
    assert records.look_up(TABLE, candidate(**fields))[0] is answer


@pytest.mark.parametrize(
    ("status", "body", "answer"),
    [
        (200, b'{"agrees": true}', RecordAnswer.AGREES),
        (200, b'{"agrees": false, "reason": "it is\\n45"}', RecordAnswer.DIFFERS),
        (200, b'{"agrees": "true"}', RecordAnswer.SILENT),
        (200, b"[true]", RecordAnswer.SILENT),
        (200, b"yes", RecordAnswer.SILENT),
        (200, b"\xff", RecordAnswer.SILENT),
        (200, b" " * (bounds.RECORD_ANSWER_BYTES_MAX + 1), RecordAnswer.SILENT),
        (200, b"[" * 4_000, RecordAnswer.SILENT),
        (302, b'{"agrees": true}', RecordAnswer.SILENT),
        (500, b"", RecordAnswer.SILENT),
    ],
)
def test_only_a_clear_yes_agrees(status, body, answer):
    said, note = records.answer(status, body)
    assert said is answer
    assert "\n" not in note


@given(st.integers(), st.binary(max_size=200))
def test_no_answer_raises(status, body):
    said, note = records.answer(status, body)
    assert isinstance(said, RecordAnswer)
    assert len(note) <= records.NOTE_LENGTH_MAX


def test_the_longest_glob_speaks_for_a_domain():
    specs = {"all": {"domain": "**", "owner": "a"}, "prices": {"domain": "prices/**", "owner": "b"}}
    objects = [Resource(kind="MemoryDomain", namespace="support", name=name, spec=spec) for name, spec in specs.items()]
    held = compile_ruleset(objects, StoreDefaults(), workspace="support").ruleset
    assert held.domain_of("prices/list").owner == "b"
    assert held.domain_of("notes").owner == "a"
    assert compile_ruleset([], StoreDefaults(), workspace="support").ruleset.domain_of("notes") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (1.0, "1"),
        ({"b": [1, "ä"], "a": None}, '{"a":null,"b":[1,"ä"]}'),
    ],
)
def test_a_value_has_one_form(value, text):
    assert values.canonical(value) == text


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, {"a": {1, 2}}, "x" * 5_000, [[[[[[[[[1]]]]]]]]], object()]
)
def test_what_is_no_bounded_json_is_refused(value):
    assert isinstance(values.canonical(value), values.Refused)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


@given(JSON)
def test_no_value_raises(value):
    assert isinstance(values.canonical(value), str | values.Refused)
