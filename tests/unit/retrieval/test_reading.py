"""What a row keeps of a text, and its bounds."""

import time
from datetime import date

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memwarden_policy.retrieval.reading import (
    LEXEME_LENGTH_MAX,
    LEXEMES_PER_MEMORY_MAX,
    QUESTION_LENGTH_MAX,
    TERMS_PER_QUESTION_MAX,
    read_memory,
    read_question,
)

TODAY = date(2026, 12, 1)
CONTENT_LENGTH_MAX = 16_384


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read(text):
    document, query = read_memory(text), read_question(text, TODAY)
    assert all(0 < len(lexeme) <= LEXEME_LENGTH_MAX for lexeme in document.frequencies)
    assert len(query.terms) <= TERMS_PER_QUESTION_MAX
    assert all(count > 0 for count in document.frequencies.values())


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20))
@settings(max_examples=150, deadline=None)
def test_a_word_is_found_by_itself(word):
    kept = set(read_memory(word).frequencies)
    assume(kept)  # an apostrophe is a letter to Unicode, and no word
    assert read_question(word, TODAY).lexemes & kept


@pytest.mark.parametrize(
    "text", ["word " * 4_000, "x" * CONTENT_LENGTH_MAX, "a.b/" * 4_000, "数据库" * 5_000, "1 2 " * 4_000]
)
def test_a_long_text_is_read_within_bounds(text):
    start = time.monotonic()
    document = read_memory(text[:CONTENT_LENGTH_MAX])
    read_question(text, TODAY)
    assert time.monotonic() - start < 10  # a backtracking pattern would take minutes
    assert len(document.frequencies) <= LEXEMES_PER_MEMORY_MAX + 1_000


def test_a_long_question_is_cut():
    query = read_question("tea " * QUESTION_LENGTH_MAX + "coffee", TODAY)
    assert [term.word for term in query.terms] == ["tea"]


@pytest.mark.parametrize(
    ("text", "asks"), [("Is it?", True), ("是吗？", True), ("No.", False), ("Is it?  a photo", False)]
)
def test_a_question_is_known_by_its_mark(text, asks):
    assert read_memory(text).asks is asks


def test_accents_and_case_do_not_matter():
    assert read_memory("CAFÉ").frequencies == read_memory("cafe").frequencies


def test_a_language_that_was_said_is_not_guessed():
    assert read_memory("die Hard", language=None).language != read_memory("die Hard", language="en").language
