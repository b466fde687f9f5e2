"""Dates and "last week" in questions, seen from Tuesday, 1 December 2026."""

from datetime import date

import pytest

from memwarden_policy.retrieval.dates import YEARS_LOOKED_BACK, Period, read, tells_when

TODAY = date(2026, 12, 1)


def period(first: str, last: str | None = None) -> Period:
    return Period(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened on 2023-07-31?", period("2023-07-31")),
        ("what did she do on 31 July, 2023", period("2023-07-31")),
        ("on July 31st, 2023", period("2023-07-31")),
        ("the 3rd of May 2024", period("2024-05-03")),
        ("in January 2024", period("2024-01-01", "2024-01-31")),
        ("decisions in 2025", period("2025-01-01", "2025-12-31")),
        ("yesterday", period("2026-11-30")),
        ("today's decisions", period("2026-12-01")),
        ("what did we decide last week?", period("2026-11-23", "2026-11-29")),
        ("last month", period("2026-11-01", "2026-11-30")),
        ("last year", period("2025-01-01", "2025-12-31")),
        ("3 days ago", period("2026-11-28")),
        ("on 31 June 2023", period("2023-06-01", "2023-06-30")),  # no such day, but such a month
        ("2 weeks ago", period("2026-11-14", "2026-11-20")),
        ("was am 31. Juli 2023 geschah", period("2023-07-31")),
        ("am 31.07.2023", period("2023-07-31")),
        ("im März 2025", period("2025-03-01", "2025-03-31")),
        ("gestern", period("2026-11-30")),
        ("letzte Woche", period("2026-11-23", "2026-11-29")),
        ("vor 3 Tagen", period("2026-11-28")),
        ("letzten Monat", period("2026-11-01", "2026-11-30")),
        ("31 липня 2023 року", period("2023-07-31")),
        ("у січні 2024", period("2024-01-01", "2024-01-31")),
        ("вчора", period("2026-11-30")),
        ("минулого тижня", period("2026-11-23", "2026-11-29")),
        ("минулого місяця", period("2026-11-01", "2026-11-30")),
        ("3 дні тому", period("2026-11-28")),
        ("31 июля 2023 года", period("2023-07-31")),
        ("в январе 2024", period("2024-01-01", "2024-01-31")),
        ("вчера", period("2026-11-30")),
        ("на прошлой неделе", period("2026-11-23", "2026-11-29")),
        ("в прошлом месяце", period("2026-11-01", "2026-11-30")),
        ("3 дня назад", period("2026-11-28")),
        ("31. července 2023", period("2023-07-31")),
        ("minulý týden", period("2026-11-23", "2026-11-29")),
        ("včera", period("2026-11-30")),
        ("2023年7月31日", period("2023-07-31")),
        ("昨天", period("2026-11-30")),
        ("先週", period("2026-11-23", "2026-11-29")),
        ("2023년 7월 31일", period("2023-07-31")),
        ("지난주", period("2026-11-23", "2026-11-29")),
    ],
)
def test_a_question_names_a_period(question, expected):
    assert read(question, TODAY).periods == (expected,)


@pytest.mark.parametrize(
    "question",
    [
        "may I deploy on Fridays?",
        "the march of progress",
        "who is the second owner?",
        "ticket 2023",
        "version 1.2.3",
        "what should we do last",
    ],
)
def test_a_question_names_none(question):
    assert read(question, TODAY).periods == ()


def test_a_date_without_a_year_is_that_day_of_any_of_the_last_years():
    periods = read("what did she do on June 3?", TODAY).periods
    assert len(periods) == YEARS_LOOKED_BACK
    assert period("2023-06-03") in periods


def test_the_words_of_the_date_are_not_looked_up():
    assert read("what did Ann cook on 3 May 2024 for lunch", TODAY).rest.split() == [
        "what",
        "did",
        "Ann",
        "cook",
        "on",
        "for",
        "lunch",
    ]


def test_a_question_that_is_only_a_date_keeps_its_words():
    assert read("yesterday?", TODAY).rest == "yesterday?"


@pytest.mark.parametrize(
    "hostile", ["9" * 5_000 + " days ago", "9999 years ago", "31.31.2023", "2023-99-99", "in 1850"]
)
def test_no_number_breaks_it(hostile):
    read(hostile, TODAY)


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("I moved last week", True),
        ("Wir sehen uns am Montag", True),
        ("Ми переїхали вчора", True),
        ("昨日引っ越しました", True),
        ("I like tea", False),
        ("You may go", False),
    ],
)
def test_a_statement_tells_when(text, tells):
    assert tells_when(text) is tells
