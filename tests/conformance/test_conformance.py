"""The language of policies against the public CEL conformance cases: every case holds, or is refused when compiled."""

import shutil

import pytest

from conformance import cases, table, textproto

# Answered otherwise than the specification says, with the reason; a case that holds again must leave this list.
LONG_DURATION = "the engine counts durations in nanoseconds of 64 bits, about 292 years"
EXCEPTIONS = {
    "timestamps/timestamp_arithmetic/subtract_max_duration_from_max_time": LONG_DURATION,
    "timestamps/timestamp_arithmetic/add_duration_to_duration_max": LONG_DURATION,
    "timestamps/timestamp_arithmetic/subtract_duration_from_duration_min": LONG_DURATION,
    "timestamps/timestamp_range/sub_time_duration_over": LONG_DURATION,
    "timestamps/timestamp_range/sub_time_duration_under": LONG_DURATION,
}
# Sections that a policy author relies on whole: nothing in them may be refused.
WHOLE_SECTIONS = (
    "macros/nested",
    "parse/string_literals",
    "string/starts_with",
    "string/ends_with",
    "string/matches",
    "string/concatenation",
    "string/contains",
    "timestamps/timestamp_selectors",
    "timestamps/timestamp_selectors_tz",
    "timestamps/timestamp_equality",
    "timestamps/duration_equality",
    "timestamps/comparisons",
)
ANSWERED_MIN = 550


@pytest.fixture(scope="module")
def answers():
    if shutil.which("go") is None:
        pytest.skip("the public cases come as a Go module, and there is no go")
    return list(cases.answers())


def test_every_case_holds_or_is_refused(answers):
    wrong = {answer.address: answer.detail for answer in answers if answer.outcome == cases.WRONG}
    assert not {address: detail for address, detail in wrong.items() if address not in EXCEPTIONS}


def test_no_exception_is_stale(answers):
    wrong = {answer.address for answer in answers if answer.outcome == cases.WRONG}
    assert set(EXCEPTIONS) <= wrong


def test_the_table_of_sections_is_up_to_date(answers):
    assert table.table(answers) == table.FILE.read_text()


def test_enough_cases_are_answered_to_mean_something(answers):
    assert sum(answer.outcome == cases.HOLDS for answer in answers) >= ANSWERED_MIN


@pytest.mark.parametrize("section", WHOLE_SECTIONS)
def test_nothing_that_authors_rely_on_is_refused(answers, section):
    asked = [answer for answer in answers if answer.section == section]
    assert asked
    assert [answer for answer in asked if answer.outcome == cases.REFUSED] == []


def test_the_reader_reads_texts_lists_and_nested_messages():
    text = """name: "a\\tb" 'c' # a comment
    part { number: -1.5 [type.googleapis.com/x.Y] { seconds: 3 } }
    values: [1, 2]"""
    expected = {
        "name": [b"a\tbc"],
        "part": [{"number": ["-1.5"], "[type.googleapis.com/x.Y]": [{"seconds": ["3"]}]}],
        "values": ["1", "2"],
    }
    assert textproto.read(text) == expected


def test_a_wrong_answer_is_seen():
    case = {"expr": [b"1 + 1 == 3"], "value": [{"bool_value": ["true"]}]}
    assert cases._answer("file/section/case", case).outcome == cases.WRONG
