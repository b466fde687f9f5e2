"""Sanitising texts and values: twice changes nothing, nothing raw comes back, everything is bounded."""

import base64
import random
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import secrets
from memwarden_policy.redaction import TextTooLongError, ValueTooDeepError, sanitize_server_write, sanitize_value
from memwarden_policy.redaction.registry import _built_in
from memwarden_policy.redaction.sanitise import TEXT_LENGTH_MAX, VALUE_DEPTH_MAX, VALUE_PARTS_MAX

GITHUB = "ghp_q8Zr3Lk2Vw9Xt5Nb7Mc1Pd4Sf6Gh0Jj2KaTe"
LEADS = sorted({lead.expression.replace("\\", "") for rule in _built_in() for lead in rule.leads if lead.width})
PIECES = [
    "password: ", "my password is ", "hunter2", "S3cr3t!x", " ", "\n", '"', "=", ":", "[REDACTED:password]", "[REDACTED:x", "]",
    "4539148803436467", "code 482913", "https://a:b1c2d3@", "?token=", GITHUB, GITHUB[:20], "\u200b", "Ａ", "дом", "jane@corp.io",
    "QUtJQVozTUdIN1FQTFcyTktUUkI=", "-----BEGIN PRIVATE KEY-----", "\ud800", "+49 170 1234567", "name: X_TOKEN\n  value: ",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(LEADS), st.text(max_size=12)), max_size=24).map(
    "".join
)


@settings(max_examples=300, deadline=None)
@given(texts, st.booleans())
def test_twice_changes_nothing_more(text, contact):
    once = sanitize_server_write(text, contact)
    twice = sanitize_server_write(once.text, contact)
    assert twice.text == once.text
    assert not twice.applied


@pytest.mark.parametrize("seed", range(3))
def test_nothing_of_a_secret_comes_back_in_any_form(seed):
    for each in secrets.planted(seed, 66, size_min=200, size_max=600):
        if each.kind in {"card", "iban", "one-time-code", "recovery-phrase"} or each.bare not in each.text:
            continue
        done = sanitize_server_write(each.text)
        shown = repr(done).replace("[REDACTED:rubygems", "")
        forms = [each.bare, base64.b64encode(each.bare.encode()).decode(), quote(each.bare, safe="")]
        assert not [form for form in forms if form in shown], each.kind


def test_lengths_are_characters_in_the_order_of_the_text():
    done = sanitize_server_write("пароль: Kvartal77, password: hunter2")
    assert [(each.kind, each.count, each.lengths) for each in done.redactions] == [("password", 2, (9, 7))]


def test_a_text_that_is_too_long_is_refused():
    assert not sanitize_server_write("a" * TEXT_LENGTH_MAX).applied
    with pytest.raises(TextTooLongError):
        sanitize_server_write("a" * (TEXT_LENGTH_MAX + 1))


def test_a_text_of_nothing_but_beginnings_is_cut_as_a_whole():
    done = sanitize_server_write("xoxb- " * 20_000)
    assert done.text == "[REDACTED:unreadable]"
    assert done.applied


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 lone \udfff", "\x00password: hunter2\x00", "é" * 50])
def test_odd_texts_are_texts(text):
    assert "hunter2" not in sanitize_server_write(text).text


def test_every_string_of_a_value_is_looked_through():
    value = {
        "content": f"use {GITHUB}",
        "metadata": {"n": 4539148803436467, "when": None, "ok": True, "size": 12.5, f"key {GITHUB}": [f"x {GITHUB}", (GITHUB,)]},
        "password": "hunter2",
        "env": [{"name": "API_TOKEN", "value": "q8Zr3Lk2Vw9Xt5"}, {"name": "LOG_LEVEL", "value": "info"}],
    }  # fmt: skip
    done = sanitize_value(value)
    assert done.value == {
        "content": "use [REDACTED:github-token]",
        "metadata": {
            "n": "[REDACTED:payment-card]", "when": None, "ok": True, "size": 12.5,
            "key [REDACTED:github-token]": ["x [REDACTED:github-token]", ("[REDACTED:github-token]",)],
        },
        "password": "[REDACTED:password]",
        "env": [{"name": "API_TOKEN", "value": "[REDACTED:secret]"}, {"name": "LOG_LEVEL", "value": "info"}],
    }  # fmt: skip
    assert {each.kind: each.count for each in done.redactions}["github-token"] == 4
    assert sanitize_value(done.value).value == done.value


def test_keys_that_become_the_same_stay_apart():
    rng = random.Random(3)
    value = {secrets.token(rng, "github"): 1, secrets.token(rng, "github"): 2}
    done = sanitize_value(value).value
    assert done == {"[REDACTED:github-token]": 1, "[REDACTED:github-token] 2": 2}


def test_a_private_key_anywhere_in_a_value_skips_it():
    assert sanitize_value({"a": [{"b": "AKIAZ3MGH7QPLW2NKTRB"}]}).skip


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(VALUE_DEPTH_MAX), list(range(VALUE_PARTS_MAX))], ids=["deep", "wide"])
def test_a_value_without_bounds_is_refused(value):
    with pytest.raises(ValueTooDeepError):
        sanitize_value(value)


def test_the_texts_of_a_value_are_bounded_together():
    with pytest.raises(TextTooLongError):
        sanitize_value(["a" * (TEXT_LENGTH_MAX // 2 + 1)] * 2)
