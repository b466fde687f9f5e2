"""People answer in the room: who may, what it does in a real Alertmanager, and what is written down."""

import json
import subprocess
import time

import pytest

from local import processes
from local.proxy import Fault, Proxy


@pytest.fixture
def told(scene, make):
    """Return a scene with one critical alert in its room, and Alertmanager beside it."""
    (scene.manager,) = scene.alertmanagers()
    scene.start(alertmanager={"urls": [scene.manager.url]})
    scene.manager.post([{"labels": {"alertname": "Down", "severity": "critical"}}])
    (message,) = scene.read(lambda m: m, "the message")
    scene.root = message.id
    return scene


def silences(scene):
    return [one for one in scene.manager.ask("GET", "/api/v2/silences") if one["status"]["state"] == "active"]


def journal(scene):
    printed = subprocess.run(scene.relay.command("journal"), capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in printed.splitlines()][::-1]


def test_the_story_of_an_alert_in_the_room(told):
    alice, room, root = told.alice, told.room, told.root
    reaction = alice.react(room, root, "👀")
    told.read(lambda m: f"acknowledged by {alice.user.id}" in m[0].body and m[0].thread, "the owner on the message")
    alice.take_back(room, reaction)
    told.read(lambda m: "acknowledged" not in m[0].body, "nobody's again")
    alice.say(room, "!silence 2h the disk is on its way", thread=root)
    told.read(lambda m: f"silenced by {alice.user.id} until" in m[0].body, "the silence on the message")
    (silence,) = silences(told)
    assert silence["matchers"] == [{"isEqual": True, "isRegex": False, "name": "alertname", "value": "Down"}]
    assert silence["createdBy"] == alice.user.id
    assert "the disk is on its way" in silence["comment"]
    assert f"https://matrix.to/#/{room}/$" in silence["comment"]
    alice.say(room, "!unsilence", thread=root)
    told.read(lambda m: "silenced" not in m[0].body, "the silence gone from the message")
    assert not silences(told)
    quiet = alice.react(room, root, "🔕")
    told.read(lambda m: "silenced" in m[0].body, "silenced by a reaction")
    alice.take_back(room, quiet)
    told.read(lambda m: "silenced" not in m[0].body, "undone by taking it back")
    assert not silences(told)
    alice.say(room, "!alerts")
    told.read(lambda m: any("CRITICAL · Down · 1 firing · #1" in one.body for one in m[1:]), "the list")
    verbs = [(row["verb"], row["outcome"]) for row in journal(told)]
    expected = ["ack", "retract", "silence", "unsilence", "silence", "retract", "alerts"]
    assert verbs == [(verb, "done") for verb in expected]


def test_only_those_with_the_power_may_silence(told, make):
    mallory = told.person("mallory")
    mallory.say(told.room, "!silence 1d", thread=told.root)
    told.read(lambda m: "You may not silence" in "".join(m[0].thread_bodies), "the refusal")
    assert not silences(told)
    told.alice.power_levels(told.room, users={told.alice.user.id: 100, mallory.user.id: 50})
    mallory.say(told.room, "!silence 1d", thread=told.root)
    told.read(lambda m: f"silenced by {mallory.user.id}" in m[0].body, "the silence")
    assert [row["outcome"] for row in journal(told)] == ["refused", "done"]


def test_what_was_said_while_the_relay_was_away_is_done_once(told):
    told.relay.kill()
    told.alice.say(told.room, "!silence 2h", thread=told.root)
    for _ in range(3):
        told.again()
        told.read(lambda m: "silenced" in m[0].body, "the silence")
        told.relay.kill()
    assert len(silences(told)) == 1


def test_a_kill_between_the_silence_and_its_note_makes_no_second_silence(scene, make):
    (scene.manager,) = scene.alertmanagers()
    door = Proxy(int(scene.manager.url.rpartition(":")[2]))
    scene.stack.callback(door.close)
    scene.start(alertmanager={"urls": [door.url]})
    scene.tell(make.alert())
    (message,) = scene.read(lambda m: m, "the message")
    door.faults.append(Fault(where="/api/v2/silences", is_forwarded=True, meanwhile=scene.relay.kill))
    scene.alice.say(scene.room, "!silence 2h", thread=message.id)
    processes.wait_for(lambda: not processes.is_running(scene.relay.pid), "the kill", 20)
    scene.again()
    scene.read(lambda m: "silenced by" in m[0].body, "the silence on the message")
    assert len(silences(scene)) == 1


def test_who_floods_the_room_does_not_hold_up_what_is_critical(open_scene, limited, make):
    scene = open_scene(limited)
    scene.start()
    for _ in range(11):
        scene.alice.say(scene.room, "!help")
    time.sleep(1)
    scene.tell(make.alert())
    scene.read(lambda m: any("CRITICAL" in one.body for one in m), "the alert", 12)
    assert journal(scene)[-1]["verb"] == "help"


def test_an_end_during_a_silence_is_shown_when_it_is_over(told):
    told.alice.say(told.room, "!silence", thread=told.root)
    told.read(lambda m: "silenced" in m[0].body, "the silence")
    told.manager.post([{"labels": {"alertname": "Down", "severity": "critical"}, "endsAt": "2026-11-30T00:00:00Z"}])
    told.alice.say(told.room, "!unsilence", thread=told.root)
    told.read(lambda m: m[0].body.startswith("✅ RESOLVED"), "the end")


def test_what_was_said_before_the_relay_first_came_is_not_its_business(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.alice.say(scene.room, "!help")
    scene.start()
    assert not scene.steady(3)
    scene.alice.say(scene.room, "!help")
    scene.read(lambda m: any("!silence" in one.body and one.sender == scene.bot.id for one in m), "help when asked")


def test_a_critical_alert_that_nobody_takes_is_spoken_of_again(open_scene, synapse, make):
    scene = open_scene(synapse)
    lead = "@lead:localhost.test"
    scene.start(reminder={"afterSeconds": 2, "mentions": {"users": [lead]}})
    scene.tell(make.alert())
    (message,) = scene.read(lambda m: m and m[0].thread, "the reminder")
    assert "nobody has acknowledged" in message.thread_bodies[0]
    assert message.thread[0]["content"]["m.mentions"] == {"user_ids": [lead]}
    scene.alice.react(scene.room, message.id, "👀")
    scene.read(lambda m: "acknowledged by" in m[0].body, "the owner")
    before = len(scene.steady(0)[0].thread)
    (message,) = scene.steady(4)
    assert sum("nobody" in body for body in message.thread_bodies) <= before


def test_an_alertmanager_that_goes_quiet_is_missed(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start(times={"watchdogQuietSeconds": 2})
    assert scene.relay.post(make.webhook(make.alert("Watchdog")), path="/v1/watchdog")[0] == 200
    scene.read(lambda m: any("heartbeat is not heard" in one.body for one in m), "the notice")
    scene.relay.post(make.webhook(make.alert("Watchdog")), path="/v1/watchdog")
    scene.read(lambda m: any("heard again" in one.body for one in m), "the all-clear")
    resolved = scene.relay.post(make.webhook(make.alert("Watchdog", status="resolved")), path="/v1/watchdog")
    assert resolved == (200, {"heartbeat": False})


def test_an_alertmanager_that_is_away_is_said_and_nothing_is_claimed(told):
    told.manager.stop()
    told.alice.say(told.room, "!silence", thread=told.root)
    told.read(lambda m: "Alertmanager did not do it" in "".join(m[0].thread_bodies), "the truth")
    assert "silenced" not in told.steady(0)[0].body
    assert journal(told)[-1]["outcome"] == "failed"
