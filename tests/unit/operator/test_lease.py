"""Whose Lease it is, judged by when we last saw it change."""

import pytest

from memwarden_operator.fence import Fence
from memwarden_operator.lease import (
    DURATION_SECONDS,
    RENEW_SECONDS,
    REQUEST_SECONDS,
    RETRY_SECONDS,
    Observer,
    Record,
    read,
)

ANCIENT = Record(holder="other", renewed="2001-01-01T00:00:00Z", transitions=1, duration=15, version="7")
NEWER = Record(holder="other", renewed="2001-01-01T00:00:02Z", transitions=1, duration=15, version="8")
FREE = Record(holder="", renewed="2001-01-01T00:00:02Z", transitions=1, duration=15, version="9")


@pytest.fixture
def observer():
    return Observer()


def test_a_lease_that_nobody_saw_is_not_ours(observer):
    assert not observer.may_take("me", 0)


def test_a_record_of_long_ago_still_waits_its_whole_time_from_when_we_saw_it(observer):
    observer.see(ANCIENT, 1000)
    assert not observer.may_take("me", 1014.9)
    assert observer.may_take("me", 1015)


def test_a_renewal_starts_the_time_again_and_shows_that_somebody_lives(observer):
    observer.see(ANCIENT, 1000)
    observer.see(ANCIENT, 1010)
    assert not observer.is_alive
    observer.see(NEWER, 1014)
    assert observer.is_alive
    assert not observer.may_take("me", 1020)
    assert observer.may_take("me", 1029)


def test_a_lease_that_was_given_up_and_our_own_are_ours_at_once(observer):
    observer.see(FREE, 1000)
    assert observer.may_take("me", 1000)
    assert not observer.is_alive
    observer.see(NEWER, 1000)
    assert observer.may_take("other", 1000)


def test_a_lease_of_another_length_is_waited_for_as_long_as_it_says(observer):
    observer.see(Record(holder="other", renewed="x", transitions=0, duration=60, version="1"), 0)
    assert not observer.may_take("me", 59)
    assert observer.may_take("me", 60)


def test_who_holds_it_gives_up_before_another_may_take_it():
    assert RENEW_SECONDS + RETRY_SECONDS < DURATION_SECONDS
    assert REQUEST_SECONDS < RENEW_SECONDS


def test_an_empty_lease_reads_as_one_that_nobody_holds():
    record = read({"metadata": {"resourceVersion": "5"}, "spec": {}})
    assert (record.holder, record.duration) == ("", DURATION_SECONDS)


def test_a_fence_rises_with_every_order_and_its_term_only_upwards():
    fence = Fence(10)
    assert [fence.next(), fence.next()] == [(10, 1), (10, 2)]
    assert not fence.raise_to(10)
    assert fence.raise_to(12)
    assert fence.next() == (12, 3)
