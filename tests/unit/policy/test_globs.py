"""Globs: what a star covers, and that no glob takes long."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy import globs

TABLE = [
    # glob, text, covered, why
    ("a", "a", True, "a text without a star covers itself"),
    ("a", "ab", False, "and nothing longer"),
    ("*", "a", True, "a star covers a segment"),
    ("*", "a/b", False, "and does not cross"),
    ("*", "", True, "a star covers nothing too"),
    ("**", "a/b/c", True, "two stars cover everything"),
    ("**", "", True, "even nothing"),
    ("a/*", "a/b", True, "a star at the end"),
    ("a/*", "a/b/c", False, "stays in its segment"),
    ("a/*", "a", False, "the slash is needed"),
    ("a/**", "a/b/c", True, "two stars at the end cross"),
    ("a/**", "a", False, "the slash is needed here too"),
    ("**/c", "a/b/c", True, "two stars at the beginning"),
    ("**c", "a/bc", True, "two stars inside of a segment"),
    ("*/b/*", "a/b/c", True, "several stars"),
    ("a*c", "abbbc", True, "a star in the middle of a segment"),
    ("a*c", "ab/c", False, "does not cross either"),
    ("a**c", "ab/c", True, "two in the middle do"),
    ("***", "a/b", True, "three stars are two"),
    ("*a*", "bac", True, "a star on either side"),
    ("*a*", "b/ac", False, "neither of which crosses"),
    ("*a*", "ba/c", False, "on the right either"),
    ("*/a/**", "b/a/c/d", True, "one star and two in one glob"),
    ("*/a/**", "b/b/a/c", False, "keep their meaning"),
    ("ab*ba", "aba", False, "the two sides do not share letters"),
    ("a.c", "abc", False, "a dot is a dot"),
    ("a?c", "abc", False, "a question mark is a question mark"),
    ("[ab]", "a", False, "brackets are brackets"),
    ("é*", "été", True, "letters beyond ASCII"),
    ("repo:**", "repo:acme/api", True, "a colon is a letter like others"),
]


@pytest.mark.parametrize(("glob", "text", "is_covered", "why"), TABLE)
def test_a_glob_covers(glob, text, is_covered, why):
    assert globs.compiled(glob).matches(text) is is_covered, why


def as_pattern(glob):
    parts = re.split(r"(\*+)", glob)
    return "".join({0: re.escape(part), 1: "[^/]*"}.get(part.count("*"), ".*") for part in parts)


@st.composite
def globs_with_a_text_that_is_near(draw):
    """Fill the stars of a glob with texts, so that many of the texts are covered and many are nearly so."""
    parts = draw(st.lists(st.sampled_from(["a", "b", "/", "*", "**"]), max_size=8))
    filling = st.text("ab/", max_size=2)
    return "".join(parts), "".join(draw(filling) if "*" in part else part for part in parts)


@given(
    st.one_of(globs_with_a_text_that_is_near(), st.tuples(st.text("ab/*", max_size=12), st.text("ab/", max_size=12)))
)
def test_a_glob_agrees_with_a_plain_regular_expression(pair):
    glob, text = pair
    assert globs.compiled(glob).matches(text) == bool(re.fullmatch(as_pattern(glob), text, re.DOTALL))


@given(st.text("ab/*", max_size=12))
def test_a_glob_covers_its_own_example(glob):
    assert globs.compiled(glob).matches(globs.compiled(glob).example)


@given(st.text("ab/*", max_size=12), st.text("ab/", max_size=12))
def test_a_glob_covers_nothing_outside_of_its_literal_prefix(glob, text):
    compiled = globs.compiled(glob)
    if compiled.matches(text) and compiled.literal_prefix and not compiled.is_literal:
        assert text.startswith(f"{compiled.literal_prefix}/")


def test_the_worst_glob_takes_no_longer_than_its_length():
    glob = globs.compiled("*a" * 126)
    text = "a" * 252 + "b"
    start = time.perf_counter()
    for _ in range(10):
        assert not glob.matches(text)
    assert time.perf_counter() - start < 0.5
