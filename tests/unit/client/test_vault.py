"""Keys, sealing and recall of a vault, without a service."""

import base64
import json
import statistics
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwarden.vault_keys import KeyRing, KeysError
from memwarden.vault_recall import LocalIndex, Opened
from memwarden.vault_text import VaultError, Words, open_, seal
from memwarden_policy.envelope import is_sealed
from memwarden_policy.retrieval.embedder import StaticEmbedder

NOW = datetime(2026, 12, 1, tzinfo=UTC)
KEYS = KeyRing.generate()
SECONDS_FOR_A_THOUSAND = 2.0  # Many times what a quiet machine needs.
json_values = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(), st.lists, max_leaves=5)


@given(st.text(max_size=500), json_values, st.text(min_size=1, max_size=50))
def test_what_is_sealed_opens_as_it_was_and_shows_none_of_it(content, value, domain):
    try:
        text = seal(KEYS, domain, Words(content, value))
    except VaultError:
        assert any("\ud800" <= each <= "\udfff" for each in repr((content, value)).encode("unicode_escape").decode())
        return
    assert is_sealed(text)
    assert open_(KEYS, domain, text) == Words(content, value)
    assert len(content) < 8 or content not in text
    assert seal(KEYS, domain, Words(content, value)) != text


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.sampled_from("ABCabc019-_."))
def test_what_was_tampered_with_never_opens_as_something_else(at, letter):
    text = seal(KEYS, "d", Words("The code of the door is 1234."))
    at %= len(text)
    # The last letter of a part may hold bits that mean nothing.
    assert outcome(text[:at] + letter + text[at + 1 :]) in ("The code of the door is 1234.", None)


def outcome(text):
    try:
        return open_(KEYS, "d", text).content
    except VaultError:
        return None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"domain": "other"}, "another domain"),
        ({"keys": KeyRing.generate()}, "another domain"),
        ({"keys": KeyRing.generate("k2")}, "'k1' is not on this ring"),
        ({"text": "In the clear."}, "not sealed"),
        ({"text": "mwv1.k1.AAAAAAAAAAAAAAAA." + "A" * 40}, "damaged"),
    ],
)
def test_what_does_not_open_says_why(change, why):
    given_ = {"keys": KEYS, "domain": "d", "text": seal(KEYS, "d", Words("Mine."))} | change
    with pytest.raises(VaultError, match=why):
        open_(**given_)


def test_a_domain_is_the_same_however_its_accents_are_written():
    assert open_(KEYS, "caf\u00e9", seal(KEYS, "cafe\u0301", Words("Mine."))) == Words("Mine.")


def test_the_length_of_the_words_shows_in_steps_alone():
    assert len({len(seal(KEYS, "d", Words("x" * length))) for length in range(1, 40)}) == 1


@pytest.mark.parametrize("words", [Words("x" * 16_384), Words("x", float("nan")), Words("x", {1, 2}), Words("\ud800")])
def test_what_cannot_be_sealed_is_said(words):
    with pytest.raises(VaultError):
        seal(KEYS, "d", words)


def test_keys_are_kept_in_a_file_of_their_owner(tmp_path):
    path = tmp_path / "keys.json"
    sealed = seal(KEYS, "d", Words("Mine."))
    KEYS.rotated("k2").save(path)
    KEYS.rotated("k2").save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    ring = KeyRing.load(path)
    assert ring.current == "k2"
    assert open_(ring, "d", sealed) == Words("Mine.")
    assert seal(ring, "d", Words("Mine.")).startswith("mwv1.k2.")
    path.chmod(0o640)
    with pytest.raises(KeysError, match="chmod 600"):
        KeyRing.load(path)


SHORT = base64.b64encode(b"short").decode()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"current": "a", "keys": []}', json.dumps({"current": "a", "keys": {"a": SHORT}}), "\xff"],
)
def test_a_file_that_is_no_ring_is_said_without_a_word_of_it(tmp_path, text):
    path = tmp_path / "keys.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(KeysError) as caught:
        KeyRing.load(path)
    assert SHORT not in str(caught.value)


def test_no_key_is_in_the_text_of_its_ring():
    key = KEYS.keys["k1"]
    assert all(form not in repr(KEYS) for form in (repr(key), key.hex(), base64.b64encode(key).decode()))
    with pytest.raises(KeysError):
        KEYS.rotated("k1")
    with pytest.raises(KeysError):
        KeyRing("k2", KEYS.keys)
    with pytest.raises(KeysError):
        KeyRing("a.b", {"a.b": key})


def opened(at, content, **more):
    given_ = {"version": 1, "domain": "d", "value": None, "category": "", "confidence": 1.0}
    moments = {"observed_at": NOW - timedelta(days=at % 300), "known_since": NOW - timedelta(days=at % 300)}
    return Opened(**{**given_, **moments, "id": f"{at:04}", "content": content, **more})


def test_recall_finds_what_answers_and_forgets_what_is_gone():
    index = LocalIndex(StaticEmbedder())
    assert index.recall("Anything?", NOW, 5) == []
    index.replace([opened(1, "Has been allergic to peanuts since childhood."), opened(2, "Drives a green car.")])
    (first, *_) = index.recall("Which food is dangerous, any allergy to peanuts?", NOW, 5)
    assert first.memory.id == "0001"
    index.replace([opened(2, "Drives a red car.", version=2)])
    assert {each.memory.content for each in index.recall("What car? Peanuts?", NOW, 5)} == {"Drives a red car."}


def test_a_thousand_memories_are_recalled_while_a_person_waits():
    words = [
        "tea",
        "coffee",
        "garden",
        "dentist",
        "passport",
        "ticket",
        "piano",
        "river",
        "allergy",
        "mortgage",
        "violin",
        "bicycle",
    ]
    many = [opened(at, f"Note {at}: the {words[at % 10]} and the {words[at // 10 % 10]}.") for at in range(1000)]
    index = LocalIndex(StaticEmbedder())
    index.replace(many)
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        found = index.recall("Where is the passport with the ticket?", NOW, 10)
        taken.append(time.perf_counter() - began)
    assert "passport" in found[0].memory.content
    assert statistics.median(taken) < SECONDS_FOR_A_THOUSAND, taken
