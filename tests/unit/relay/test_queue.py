"""The queue on a real file: what folds while it waits, what never may, what goes first, what a kill leaves."""

import asyncio
import json

import httpx2
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memwarden_relay import accept, deliveries, groups, ledger
from memwarden_relay.intake import Intake, is_known, tokens
from memwarden_relay.model import Kind
from memwarden_relay.outcomes import Next, Verdict
from memwarden_relay.plan import Outcome
from memwarden_relay.queue import BusyError, Queue
from memwarden_relay.settings import Settings

TOKEN = "a-token-of-some-length"


@pytest.fixture
def queue(tmp_path):
    opened = Queue(tmp_path / "queue.sqlite", is_sender=True)
    yield opened
    opened.close()


@pytest.fixture
def told(tmp_path):
    (tmp_path / "intake").write_text(TOKEN)
    return Settings.model_validate(
        {
            "homeserver": "http://127.0.0.1:1",
            "tokenFile": tmp_path / "token",
            "intakeTokenFile": tmp_path / "intake",
            "queueFile": tmp_path / "queue.sqlite",
            "rooms": {"ops": {"id": "!a:x"}, "other": {"id": "!b:x"}},
            "defaultRooms": ["ops"],
        }
    )


@pytest.fixture
def tell(queue, told, make):
    def telling(*alerts, name="Down", now=1_000.0, rooms=("ops",)):
        document = make.webhook(*alerts, groupKey=name, groupLabels={"alertname": name})
        work = accept.Accept(settings=told, notification=make.read(document), rooms=rooms, now=now)
        return queue.call(work)

    return telling


def claim(queue, now=2_000.0, paused=()):
    return queue.call(lambda connection: deliveries.claim(connection, now, paused))


def settle(queue, delivery, now=2_000.0, **verdict):
    made = Verdict(**verdict)
    queue.call(lambda connection: deliveries.settle(connection, delivery, made, room_id="!a:x", now=now))


def send(queue, **more):
    delivery = claim(queue, **more)
    settle(queue, delivery, next=Next.SENT, event=f"$event-{delivery.seq}")
    return delivery


def test_changes_fold_while_nobody_can_have_seen_the_message(queue, tell, make):
    for instance in "abcd":
        tell(*[make.entry(instance=one) for one in "abcd" if one <= instance])
    assert "4 firing" in send(queue).payload.body
    assert claim(queue) is None


def test_what_may_be_in_the_room_is_never_rewritten(queue, tell, make):
    tell(make.entry())
    first = claim(queue)
    tell(make.entry(), make.entry(instance="b"))
    settle(queue, first, next=Next.RETRY, is_unclear=True)
    again = claim(queue)
    assert (again.id, again.was_unclear, again.payload) == (first.id, True, first.payload)
    settle(queue, again, next=Next.SENT, event="$root")
    assert [send(queue).kind for _ in range(2)] == [Kind.EDIT, Kind.NOTE]


def test_what_was_clearly_refused_may_be_rewritten(queue, tell, make):
    tell(make.entry())
    settle(queue, claim(queue), next=Next.LIMITED, wait=5.0)
    tell(make.entry(), make.entry(instance="b"))
    again = claim(queue)
    assert not again.was_unclear
    assert "2 firing" in again.payload.body


def test_a_kill_leaves_what_was_under_way_as_unclear(queue, tell, make, tmp_path):
    tell(make.entry())
    first = claim(queue)
    queue.close()
    again = Queue(tmp_path / "queue.sqlite", is_sender=True)
    found = claim(again)
    assert (found.id, found.was_unclear) == (first.id, True)
    again.close()
    queue.__init__(tmp_path / "queue.sqlite", is_sender=True)


def test_only_one_sender_has_the_queue_and_others_may_look(queue, tmp_path):
    with pytest.raises(BusyError):
        Queue(tmp_path / "queue.sqlite", is_sender=True)
    Queue(tmp_path / "queue.sqlite", is_sender=False).close()


def test_the_worst_goes_first_and_a_severity_in_its_order(queue, tell, make):
    for number, severity in enumerate(["info", "warning", "critical", "warning", "critical"]):
        tell(make.entry(f"{severity}{number}", severity=severity), name=str(number))
    order = [send(queue).payload.body.split(" · ")[1] for _ in range(5)]
    assert order == ["critical2", "critical4", "warning1", "warning3", "info0"]


def test_a_paused_room_holds_up_no_other(queue, tell, make):
    tell(make.entry(), rooms=("ops", "other"))
    assert claim(queue, paused=["ops"]).room == "other"


def test_a_delivery_that_waits_holds_up_no_other_group_but_its_own_kind(queue, tell, make):
    tell(make.entry("One"), name="One")
    settle(queue, claim(queue), next=Next.RETRY, wait=60.0, is_unclear=True)
    tell(make.entry("Two"), name="Two")
    assert "Two" in send(queue).payload.body
    assert claim(queue) is None


def test_history_waits_for_its_message(queue, tell, make):
    tell(make.entry())
    root = claim(queue)
    settle(queue, root, next=Next.RETRY, wait=60.0, is_unclear=True)
    tell(make.entry(), make.entry(instance="b"))
    assert claim(queue) is None
    settle(queue, root, next=Next.SENT, event="$root")
    assert claim(queue).root_event == "$root"


def test_waiting_for_limit_or_room_is_no_fault_of_a_delivery(queue, tell, make):
    tell(make.entry())
    for outcome in (Next.LIMITED, Next.PAUSE_ROOM, Next.PAUSE_ALL) * 10:
        settle(queue, claim(queue), next=outcome)
    assert claim(queue).attempts == 1


def test_after_a_dead_letter_the_next_change_writes_a_new_message(queue, tell, make):
    tell(make.entry())
    settle(queue, claim(queue), next=Next.DEAD, why="400 M_BAD_JSON")
    tell(make.entry(), make.entry(instance="b"))
    assert send(queue).kind is Kind.ROOT
    (letter,) = queue.call(ledger.dead_letters)
    assert letter["error"] == "400 M_BAD_JSON"
    assert queue.call(lambda connection: ledger.drop(connection, letter["id"]))
    assert queue.call(ledger.dead_letters) == []


def test_a_full_queue_takes_nothing_in_half(queue, tell, make, monkeypatch):
    monkeypatch.setattr(deliveries, "PENDING_MAX", 1)
    with pytest.raises(deliveries.FullError):
        tell(make.entry(), rooms=("ops", "other"))
    assert queue.call(groups.open_ones) == ()
    assert tell(make.entry()) == {"ops": Outcome.ACCEPTED}


def test_a_room_that_moves_has_what_is_open_and_unsaid_anew(queue, tell, told, make):
    tell(make.entry("Shown"), name="Shown")
    send(queue)
    tell(make.entry("Unsaid"), name="Unsaid")
    moved = queue.call(lambda connection: accept.moved(connection, told, "ops", "!new:x", 1.0))
    assert moved == 1
    assert "Unsaid" in send(queue).payload.body
    tell(make.entry("Shown"), make.entry("Shown", instance="b"), name="Shown")
    assert send(queue).kind is Kind.ROOT
    assert queue.call(lambda connection: ledger.room_id(connection, "ops", "!a:x")) == "!new:x"


def test_what_is_old_is_forgotten_and_dead_letters_stay(queue, tell, make):
    tell(make.entry("Dead"), name="Dead")
    settle(queue, claim(queue), next=Next.DEAD)
    tell(make.entry("Over"), name="Over")
    send(queue)
    tell(make.entry("Over", status="resolved"), name="Over")
    for _ in range(3):
        send(queue)
    queue.call(lambda connection: ledger.purge(connection, 2_000.0 + 15 * 86_400))
    rows = queue.call(lambda connection: connection.execute("SELECT state FROM delivery").fetchall())
    assert [row["state"] for row in rows] == ["dead"]
    names = [group.alerts[0].name for group in queue.call(groups.open_ones)]
    assert names == ["Dead"]


def test_two_tokens_are_valid_at_once_and_short_ones_never(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("short\n\n  the-first-token-of-two  \nthe-second-token-of-two\nthe-third-token-of-two\n")
    known = tokens(path)
    assert is_known("Bearer the-first-token-of-two", known)
    assert is_known("bearer the-second-token-of-two", known)
    for header in ("", "Bearer", "Bearer short", "Bearer the-third-token-of-two", "Basic the-first-token-of-two"):
        assert not is_known(header, known)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
BODIES = st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode())
BODIES |= st.fixed_dictionaries(
    {"alerts": st.lists(JSON, max_size=3)}, optional={"groupLabels": JSON, "groupKey": JSON}
).map(lambda value: json.dumps(value).encode())


@given(st.lists(BODIES, min_size=20, max_size=20))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
def test_no_body_makes_trouble_of_our_own(queue, told, bodies):
    async def posting():
        transport = httpx2.ASGITransport(Intake(told, queue, asyncio.Event()).app())
        async with httpx2.AsyncClient(transport=transport, base_url="http://relay") as client:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            return [(await client.post("/v1/alerts", content=body, headers=headers)).status_code for body in bodies]

    assert set(asyncio.run(posting())) <= {200, 400}
