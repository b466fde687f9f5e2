"""Messages: what they say, and that they always fit."""

import json
from dataclasses import replace

import pytest

from memwarden_relay import sizes, timeline, wire, words
from memwarden_relay.model import Delivery, Kind, Mentions, Payload

EVENT_BYTES_MAX = 65_536
ENVELOPE_BYTES = 2_500  # Hashes, signatures, ids, auth events of a signed event.


def body(made):
    return made.writes[0].payload


def delivery(kind, payload, **more):
    values = {"id": "d" * 36, "seq": 1, "room": "ops", "rank": 1, "group_id": 1, "attempts": 1, "created_at": 0.0}
    values |= {"first_attempt_at": 0.0, "was_unclear": False, "shrinks": 0, "server_errors": 0, "root_event": "$root"}
    return Delivery(kind=kind, payload=payload, **(values | more))


def size(content):
    return len(json.dumps(content, ensure_ascii=False).encode())


def test_a_message_says_what_it_means_and_what_to_do(story, make):
    text = body(story.tell(make.entry())).body
    assert "It is down.\nLook at it.\nrunbook: https://r.example/Down\nsource: http://prometheus/graph" in text


def test_a_runbook_stands_once(story, make):
    text = body(story.tell(make.entry(), make.entry(instance="b"))).body
    assert text.count("https://r.example/Down") == 1


def test_markup_from_outside_is_text(story, make):
    hostile = "<script>alert(1)</script> <a href='javascript:x'>"
    annotations = {
        "summary": hostile,
        "runbook_url": "javascript:alert(1)",
        "dashboard_url": 'https://x/"onmouseover="y',
    }
    made = body(story.tell(make.entry(name=hostile, annotations=annotations, generatorURL="data:text/html,x")))
    assert "<script" not in made.html
    assert "javascript:alert" not in made.html
    assert 'href="https://x/&quot;onmouseover=&quot;y"' in made.html


@pytest.mark.parametrize("filling", ["a", '"', "\\", "é", "<", "&", "日", "🔥", "\n", "\t"])
def test_the_largest_messages_fit_in_an_event_also_as_edits(story, make, filling):
    long = filling * 70_000
    annotations = {"summary": long, "description": long, "runbook_url": "https://r/" + "x" * 500}
    alerts = [make.entry(instance=f"{n}{long[:500]}", annotations=annotations, name=long) for n in range(25)]
    payload = body(story.tell(*alerts))
    for kind in (Kind.ROOT, Kind.EDIT):
        assert size(wire.content(delivery(kind, payload))) < EVENT_BYTES_MAX - ENVELOPE_BYTES


def test_an_annotation_of_70_000_characters_is_cut_and_attached_whole(story, make):
    made = story.tell(make.entry(annotations={"description": "x" * 70_000}))
    assert [one.kind for one in made.writes] == [Kind.ROOT, Kind.FILE]
    assert "x" * 70_000 in made.writes[1].payload.body


def test_notes_fit_too(make):
    lines = [f"{n} " + '"' * 5_000 for n in range(500)]
    note = timeline.joined([sizes.cut(line, 300) for line in lines], Mentions())
    assert size(wire.content(delivery(Kind.NOTE, note))) < 40_000


@pytest.mark.parametrize("bytes_max", [3, 4, 10, 100])
@pytest.mark.parametrize("text", ["plain text that is long enough to be cut", '"""""""""""""', "é" * 50, "🔥🔥🔥🔥🔥"])
def test_cut_keeps_to_its_size(text, bytes_max):
    assert sizes.encoded(sizes.cut(text, bytes_max)) <= bytes_max


@pytest.mark.parametrize("shrinks", [1, 2, 3])
def test_each_refusal_as_too_large_makes_it_smaller(shrinks):
    payload = Payload(body="x" * 14_000, html="x" * 14_000)
    before = size(wire.content(delivery(Kind.EDIT, payload, shrinks=shrinks - 1)))
    after = size(wire.content(delivery(Kind.EDIT, payload, shrinks=shrinks)))
    assert after < before
    assert wire.content(delivery(Kind.EDIT, payload, shrinks=shrinks))["m.relates_to"]["event_id"] == "$root"


@pytest.mark.parametrize("kind", [Kind.ROOT, Kind.EDIT, Kind.NOTE, Kind.REACT, Kind.ANSWER, Kind.NOTICE])
def test_every_event_carries_its_delivery_and_calls_nobody_by_accident(kind):
    content = wire.content(delivery(kind, Payload(body="b", key="✅", target="$t")))
    assert content[wire.DELIVERY_ID] == "d" * 36
    assert kind is Kind.REACT or content["m.mentions"] == {}


def test_a_thread_s_note_that_calls_is_text_because_notices_push_nobody():
    calling = delivery(Kind.NOTE, Payload(body="b", mentions=Mentions(users=("@a:x",))))
    assert wire.content(calling)["msgtype"] == "m.text"
    assert wire.content(replace(calling, payload=Payload(body="b")))["msgtype"] == "m.notice"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-12-01T10:00:00.123456789Z", "2026-12-01 10:00 UTC"),
        ("2026-12-01T12:00:00+02:00", "2026-12-01 10:00 UTC"),
        ("2026-12-01T10:00:00", "2026-12-01 10:00 UTC"),
        ("soon", "soon"),
    ],
)
def test_times_are_shown_in_utc(text, shown):
    assert words.moment(text) == shown
