"""What an answer of the homeserver means, and how its limit is kept."""

import pytest

from memwarden_relay import pacing
from memwarden_relay.outcomes import Answer, History, Next, backoff, judge, limit_seconds
from memwarden_relay.pacing import Pace


def history(**more):
    return History(**({"attempts": 1, "shrinks": 0, "server_errors": 0, "others_got_through": False} | more))


@pytest.mark.parametrize(
    ("status", "code", "past", "expected"),
    [
        (200, "", {}, Next.SENT),
        (400, "M_DUPLICATE_ANNOTATION", {}, Next.SENT),
        (429, "M_LIMIT_EXCEEDED", {}, Next.LIMITED),
        (401, "M_UNKNOWN_TOKEN", {}, Next.PAUSE_ALL),
        (403, "M_FORBIDDEN", {}, Next.PAUSE_ROOM),
        (404, "M_NOT_FOUND", {}, Next.PAUSE_ROOM),
        (400, "M_UNSUPPORTED_ROOM_VERSION", {}, Next.PAUSE_ROOM),
        (413, "M_TOO_LARGE", {}, Next.SHRINK),
        (413, "M_BAD_JSON", {"shrinks": 2}, Next.SHRINK),
        (413, "M_BAD_JSON", {"shrinks": 3}, Next.DEAD),
        (400, "M_BAD_JSON", {}, Next.SHRINK),
        (400, "M_BAD_JSON", {"shrinks": 1}, Next.DEAD),
        (405, "", {}, Next.DEAD),
        (0, "ReadTimeout", {"attempts": 500}, Next.RETRY),
        (502, "", {"attempts": 500, "others_got_through": True}, Next.RETRY),
        (500, "M_UNKNOWN", {"server_errors": 8}, Next.RETRY),
        (500, "M_UNKNOWN", {"attempts": 500, "others_got_through": True}, Next.RETRY),
        (500, "M_UNKNOWN", {"server_errors": 7, "others_got_through": True}, Next.DEAD),
        (500, "M_UNKNOWN", {"server_errors": 239}, Next.DEAD),
    ],
)
def test_every_answer_has_its_meaning(status, code, past, expected):
    assert judge(Answer(status=status, body={"errcode": code}), history(**past)).next is expected


@pytest.mark.parametrize(
    ("answer", "is_unclear"),
    [
        (Answer(status=0, body={}, was_sent=False), False),
        (Answer(status=0, body={}), True),
        (Answer(status=500, body={}), True),
        (Answer(status=504, body={}), True),
        (Answer(status=429, body={}), False),
        (Answer(status=403, body={}), False),
        (Answer(status=413, body={}), False),
    ],
)
def test_only_where_the_room_may_have_it_is_it_looked_for(answer, is_unclear):
    verdict = judge(answer, history())
    assert verdict.is_unclear is is_unclear
    assert not is_unclear or verdict.wait >= 2.0


def test_the_header_is_believed_before_the_older_field():
    assert limit_seconds(Answer(status=429, body={"retry_after_ms": 9000}, retry_after=3)) == 3
    assert limit_seconds(Answer(status=429, body={"retry_after_ms": 9000})) == 9
    assert limit_seconds(Answer(status=429, body={})) == 5
    assert limit_seconds(Answer(status=429, body={}, retry_after=1e9)) == 300


def test_backoff_grows_and_ends():
    assert [backoff(n) for n in (1, 2, 3, 7, 100)] == [1, 2, 4, 15, 15]


def test_the_pace_is_learnt_from_refusals():
    pace = pacing.succeeded(Pace(), 100.0)
    assert pace.ready_at <= 100.0
    pace = pacing.limited(pace, 100.1, 4.9)
    assert pace.ready_at == pytest.approx(105.0)
    pace = pacing.succeeded(pace, 105.0)
    assert pace.ready_at == pytest.approx(110.0, abs=0.2)


def test_idle_time_is_not_taken_for_the_homeserver_s_pace():
    pace = pacing.limited(pacing.succeeded(Pace(), 100.0), 125.0, 0.5)
    assert pacing.succeeded(pace, 125.5).ready_at == pytest.approx(126.0)


def test_an_outage_is_not_taken_for_the_homeserver_s_pace():
    pace = pacing.away(pacing.succeeded(Pace(), 100.0), 110.0, 9)
    assert pace.ready_at == pytest.approx(115.0)
    assert pacing.limited(pace, 116.0, 0.5).spacing == pytest.approx(0.5)


def test_after_quiet_there_is_no_pace_to_keep():
    pace = pacing.limited(pacing.succeeded(Pace(), 0.0), 0.0, 5.0)
    assert pacing.succeeded(pacing.succeeded(pace, 5.0), 500.0).ready_at < 500.0


def test_a_bucket_of_ten_filled_at_a_fifth_a_second_is_emptied_in_the_least_time_with_few_refusals():
    now, tokens, filled, pace, sent, refused = 0.0, 10.0, 0.0, Pace(), 0, 0
    while sent < 50:
        now = max(now, pace.ready_at)
        tokens, filled = min(10.0, tokens + (now - filled) * 0.2), now
        if tokens >= 1:
            tokens, sent, pace = tokens - 1, sent + 1, pacing.succeeded(pace, now)
        else:
            refused, pace = refused + 1, pacing.limited(pace, now, (1 - tokens) / 0.2)
    assert now <= 200.0 * 1.05
    assert refused < 25
