"""The queue, with a clock and dice of our own."""

import asyncio

import pytest

from memwarden_operator.shapes import StoreKey
from memwarden_operator.work import BACKOFF_MAX_SECONDS, Floor, Queue, StoreStatus, Workspace, backoff

STORE = StoreKey("system", "main")
A, B = Workspace(STORE, "a"), Workspace(STORE, "b")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def queue(clock):
    return Queue(clock=clock, jitter=lambda: 1.0)


def test_a_key_that_is_added_often_is_taken_once(queue):
    for _ in range(5):
        queue.add(A)
    assert queue.take(10) == [A]
    assert queue.take(10) == []


def test_the_longest_waiting_come_first_and_a_batch_is_bounded(queue, clock):
    queue.add(B)
    clock.now += 1
    queue.add(A)
    assert queue.take(1) == [B]
    assert queue.take(1) == [A]


def test_what_is_added_while_it_is_worked_on_waits_until_that_is_over(queue):
    queue.add(A)
    queue.take(1)
    queue.add(A)
    assert queue.take(1) == []
    queue.done(A)
    assert queue.take(1) == [A]


def test_the_earliest_wish_counts(queue, clock):
    queue.add(A, 60)
    queue.add(A, 5)
    queue.add(A, 30)
    assert queue.take(1) == []
    clock.now += 5
    assert queue.take(1) == [A]


def pause_until_taken(queue, clock):
    began = clock.now
    while not queue.take(1):
        clock.now += 0.25
    return clock.now - began


def test_failures_are_tried_again_ever_later_and_one_success_forgets_them(queue, clock):
    queue.add(A)
    queue.take(1)
    pauses = []
    for _ in range(3):
        queue.failed(A)
        pauses.append(pause_until_taken(queue, clock))
    assert pauses == [0.5, 1.0, 2.0]
    queue.done(A)
    queue.add(A)
    queue.take(1)
    queue.failed(A)
    assert pause_until_taken(queue, clock) == 0.5


def test_an_event_does_not_wait_for_a_backoff(queue):
    queue.add(A)
    queue.take(1)
    for _ in range(8):
        queue.failed(A)
    queue.add(A)
    assert queue.take(1) == [A]


def test_hastening_touches_what_failed_and_nothing_else(queue):
    queue.add(A)
    queue.take(1)
    queue.failed(A)
    queue.hasten(frozenset({A, B}))
    assert queue.take(5) == [A]


def test_a_pause_doubles_up_to_its_bound_and_half_of_it_is_chance():
    assert [backoff(n, 1.0) for n in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert backoff(3, 0.0) == 1.0
    assert backoff(10, 1.0) == BACKOFF_MAX_SECONDS


def test_the_floor_waits_for_workspaces_that_were_not_tried(queue, clock):
    queue.add(A)
    queue.add(B, 60)
    queue.add(Workspace(None, "c"), 0)
    assert queue.has_untried_workspaces()
    queue.take(5)
    assert queue.has_untried_workspaces()
    queue.failed(A)
    assert not queue.has_untried_workspaces()


def test_quiet_is_when_all_that_is_due_was_tried_once(queue):
    queue.add(A)
    queue.add(StoreStatus(STORE), 60)
    assert not queue.is_quiet()
    queue.take(5)
    assert not queue.is_quiet()
    queue.failed(A)
    assert queue.is_quiet()


def test_the_depth_is_what_waits_for_work_and_not_for_a_date(queue):
    queue.add(A)
    queue.add(B, 3600)
    assert len(queue) == 1
    queue.take(1)
    assert len(queue) == 0
    queue.failed(A)
    assert len(queue) == 1


def test_the_age_is_that_of_the_oldest_key_that_is_due(queue, clock):
    queue.add(A)
    queue.add(B, 60)
    clock.now += 7
    assert queue.age() == 7
    queue.take(1)
    assert queue.age() == 0


def test_waiting_ends_with_a_key_and_with_a_stop():
    async def scenario():
        queue = Queue()
        waiting = asyncio.create_task(queue.next(5))
        await asyncio.sleep(0)
        queue.add(Floor())
        assert await waiting == [Floor()]
        waiting = asyncio.create_task(queue.next(5))
        await asyncio.sleep(0)
        queue.stop()
        assert await waiting == []

    asyncio.run(scenario())
