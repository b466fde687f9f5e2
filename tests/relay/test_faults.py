"""Whatever breaks: nothing is lost, nothing is doubled, order holds, and the relay says what is wrong."""

import json
import sqlite3
import subprocess
import time

import pytest

from local import processes
from local.homeserver import call
from local.proxy import Fault


def titles(messages):
    return [one.body.split(" · ")[1] for one in messages]


def wait_until(claim, what, seconds=20.0):
    processes.wait_for(claim, what, seconds)


def test_a_homeserver_that_is_away_for_a_time(open_scene, servers, tmp_path_factory, make, server):
    scene = open_scene(server)
    scene.start(times={"queueAgeReadySeconds": 1})
    server.stop()
    try:
        for number in range(3):
            scene.tell(make.alert(f"Warn{number}", severity="warning"), name=f"Warn{number}")
        scene.tell(make.alert("Crit"), name="Crit")
        for instance in "abcdef":  # Each a change of the same group.
            scene.tell(
                *[make.alert("Warn0", severity="warning", instance=i) for i in "abcdef" if i <= instance], name="Warn0"
            )
        scene.tell(make.alert("Warn1", severity="warning", status="resolved"), name="Warn1")
        wait_until(lambda: "room ops: the queue is not moving" in scene.relay.ready()[1], "the relay says so")
    finally:
        servers[1][server.make] = server.again()
    messages = scene.read(lambda m: len(m) == 4, "all four", 60)
    assert titles(messages)[0] == "Crit" or "Crit" in titles(messages)[:2]  # One may have been under way.
    assert len(scene.steady()) == 4
    shown = {one.body.split(" · ")[1]: one for one in scene.alice.read(scene.room) if one.sender == scene.bot.id}
    assert "6 firing" in shown["Warn0"].body
    assert "RESOLVED" in shown["Warn1"].body
    assert len(shown["Warn0"].thread) <= 1  # Changes that nobody could see are not told one by one.
    wait_until(lambda: scene.relay.ready()[0], "ready again")


STEPS = {  # What is under way when the relay is killed, by the path of the request.
    "root": "/send/m.room.message",
    "edit": "/send/m.room.message",
    "note": "/send/m.room.message",
    "reaction": "/send/m.reaction",
    "file": "/upload",
}


@pytest.mark.parametrize("is_forwarded", [False, True], ids=["before it arrives", "after it arrived"])
def test_killed_while_an_event_is_under_way(scene, make, is_forwarded):
    scene.start(through_proxy=True)
    for step, where in STEPS.items():
        is_new = step in ("root", "file")
        count = 30 if step == "file" else 2
        alerts = [make.alert(step, instance=str(n)) for n in range(count)]
        over = [make.alert(step, instance=str(n), status="resolved") for n in range(count)]
        if not is_new:
            scene.tell(*alerts, name=step)
            scene.read(lambda m, step=step: _shown(m, step), f"the message before the {step}")
        if step == "note":  # The edit goes first; its answer is lost on the way.
            scene.proxy.faults.append(Fault(where=where, is_forwarded=True, status=503))
        scene.proxy.faults.append(Fault(where=where, is_forwarded=is_forwarded, meanwhile=scene.relay.kill))
        scene.tell(*(alerts if is_new else over), name=step)
        wait_until(lambda: not processes.is_running(scene.relay.pid), f"the kill at the {step}")
        scene.again()
        scene.read(lambda m, step=step: _is_whole(_shown(m, step), step), f"the whole story of the {step}", 30)
    messages = scene.steady()
    assert sorted(titles(messages)) == sorted(STEPS)
    for one in messages:
        step = titles([one])[0]
        assert one.edits == (0 if step in ("root", "file") else 1)
        assert len(one.thread) == (0 if step == "root" else 1)
        assert len(one.reactions) == (0 if step in ("root", "file") else 1)


def _shown(messages, step):
    return next((one for one in messages if f" {step} · " in one.body), None)


def _is_whole(message, step):
    if message is None or step == "root":
        return message is not None and "2 firing" in message.body
    return message.thread and (step == "file" or ("RESOLVED" in message.body and message.reactions))


def test_a_homeserver_that_forgets_transactions_does_not_double(open_scene, servers, dendrite, make):
    scene = open_scene(dendrite)
    relay = scene.start(through_proxy=True)
    scene.proxy.faults.append(Fault(where="/send/", is_forwarded=True, meanwhile=relay.kill))
    scene.tell(make.alert())
    wait_until(lambda: not processes.is_running(relay.pid), "the kill")
    dendrite.stop()
    servers[1]["dendrite"] = dendrite.again()
    scene.again()
    scene.read(lambda m: m, "the message", 30)
    assert len(scene.steady(3)) == 1
    assert scene.relay.metric("memwarden_relay_look_backs_total", outcome="found") == 1


def test_what_was_acknowledged_survives_a_kill_at_any_moment(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    told = []
    for round_number, seconds in enumerate([0.0, 0.005, 0.02, 0.05, 0.1, 0.3]):
        names = [f"Alert-{round_number}-{number}" for number in range(3)]
        for name in names:
            scene.tell(make.alert(name), name=name)
        time.sleep(seconds)
        scene.relay.kill()
        scene.again()
        scene.tell(make.alert(names[0]), name=names[0])  # The retry of a sender that saw no answer.
        told += names
    scene.read(lambda m: len(m) >= len(told), "all of them", 30)
    assert sorted(titles(scene.steady())) == told


def test_answers_that_are_lost_or_late_double_nothing(scene, make):
    scene.start(through_proxy=True)
    for status in (0, 502, 504, 500):
        scene.proxy.faults.append(Fault(where="/send/m.room.message", is_forwarded=True, status=status))
    for number in range(4):
        scene.tell(make.alert(f"Alert{number}"), name=f"Alert{number}")
    scene.read(lambda m: len(m) >= 4, "all four", 40)
    wait_until(lambda: scene.relay.metric("memwarden_relay_pending_deliveries") == 0, "an empty queue")
    assert len(scene.steady()) == 4


def test_the_default_limit_is_kept_and_critical_goes_first(open_scene, limited, make):
    scene = open_scene(limited)
    scene.start(through_proxy=True)
    for number in range(14):
        scene.tell(make.alert(f"Warn{number:02}", severity="warning"), name=f"Warn{number:02}")
    scene.tell(make.alert("Crit"), name="Crit")
    messages = scene.read(lambda m: len(m) == 15, "all fifteen", 60)
    order = titles(sorted(messages, key=lambda one: one.at))
    warnings = [name for name in order if name != "Crit"]
    assert warnings == sorted(warnings)
    assert order.index("Crit") <= 12  # Not behind all that came before it.
    assert scene.relay.metric("memwarden_relay_dead_letters") == 0
    assert scene.proxy.count("/send/") <= 15 + 8


def test_a_bot_that_is_kicked_waits_until_it_is_invited_again(scene, make):
    scene.start()
    scene.tell(make.alert("Before"), name="Before")
    scene.read(lambda m: m, "the first")
    scene.alice.kick(scene.room, scene.bot)
    scene.tell(make.alert("While"), name="While")
    wait_until(lambda: any("room ops" in problem for problem in scene.relay.ready()[1]), "the relay says so")
    assert scene.relay.metric("memwarden_relay_room_trouble", room="ops") == 1
    scene.alice.invite(scene.room, scene.bot)
    scene.read(lambda m: len(m) == 2, "what waited", 30)
    assert len(scene.steady()) == 2
    wait_until(lambda: scene.relay.ready()[0], "ready again")


def test_a_revoked_token_stops_everything_but_the_intake_until_a_new_one_is_there(scene, make):
    scene.start()
    call(f"{scene.server.url}/_matrix/client/v3/logout", "POST", {}, scene.bot.token)
    scene.tell(make.alert())
    wait_until(lambda: "the homeserver has not accepted the token" in scene.relay.ready()[1], "the relay says so")
    assert scene.relay.metric("memwarden_relay_token_valid") == 0
    body = {
        "type": "m.login.password",
        "identifier": {"type": "m.id.user", "user": scene.bot.id},
        "password": "password-for-tests",
        "device_id": scene.bot.device,
    }
    status, answer = call(f"{scene.server.url}/_matrix/client/v3/login", "POST", body)
    assert status == 200, answer
    (scene.relay.folder / "token").write_text(answer["access_token"])
    scene.read(lambda m: m, "what waited", 30)
    assert len(scene.steady()) == 1


def upgrade(scene):
    path = f"/rooms/{scene.room}/upgrade"
    target = scene.alice.ask("POST", path, {"new_version": "9"})["replacement_room"]
    scene.alice.invite(target, scene.bot)
    return target


def test_a_room_that_is_upgraded_is_followed(scene, make):
    scene.start()
    scene.tell(make.alert())
    scene.read(lambda m: m, "the message in the old room")
    target = upgrade(scene)
    scene.tell(make.alert(), make.alert(instance="b"))
    (message,) = scene.read(lambda m: m, "the message in the new room", 30, room=target)
    assert "2 firing" in message.body
    scene.tell(make.alert(status="resolved"), make.alert(instance="b", status="resolved"))
    scene.read(lambda m: "RESOLVED" in m[0].body, "the end in the new room", 30, room=target)
    scene.relay.kill()
    scene.again()
    scene.tell(make.alert("After"), name="After")
    scene.read(lambda m: len(m) == 2, "the next after a restart", 30, room=target)


def test_a_tombstone_that_points_at_somebody_else_s_room_is_not_followed(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    trap = scene.alice.make_room(scene.bot)
    scene.alice.set_state(scene.room, "m.room.tombstone", {"body": "moved", "replacement_room": trap})
    wait_until(lambda: "room ops: tombstoned" in scene.relay.ready()[1], "the relay says so")
    scene.tell(make.alert())
    time.sleep(2)
    assert not [one for one in scene.alice.read(trap) if one.sender == scene.bot.id]


def test_an_encrypted_room_is_refused_loudly(scene, make):
    scene.start()
    scene.alice.set_state(scene.room, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    wait_until(lambda: "room ops: encrypted" in scene.relay.ready()[1], "the relay says so")
    scene.tell(make.alert())
    assert not scene.steady(2)
    assert scene.relay.metric("memwarden_relay_room_trouble", reason="encrypted") == 1


def test_what_cannot_be_delivered_is_kept_listed_and_sent_when_a_person_says_so(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start(through_proxy=True)
    bad = json.dumps({"errcode": "M_BAD_JSON"}).encode()
    scene.proxy.faults.append(Fault(where="/send/m.room.message", times=2, status=400, body=bad))
    scene.tell(make.alert())
    wait_until(lambda: scene.relay.metric("memwarden_relay_dead_letters") == 1, "the dead letter")
    scene.tell(make.alert("Next"), name="Next")
    scene.read(lambda m: m, "the next, which is not held up")
    listed = subprocess.run(scene.relay.command("dead-letters"), capture_output=True, text=True, check=True).stdout
    (letter,) = [json.loads(line) for line in listed.splitlines()]
    assert letter["error"] == "400 M_BAD_JSON"
    subprocess.run([*scene.relay.command("dead-letters"), "--retry", letter["id"]], check=True)
    scene.read(lambda m: len(m) == 2, "both")


def test_who_may_send_and_what_is_the_relay_s_own_trouble(open_scene, synapse, make):
    scene = open_scene(synapse)
    relay = scene.start()
    body = make.webhook(make.alert())
    assert relay.post(body, token="somebody-else-s-token")[0] == 401
    assert relay.post(body, token="")[0] == 401
    tokens = relay.folder / "intake-token"
    old = tokens.read_text().strip()
    tokens.write_text(f"the-next-token-of-the-intake\n{old}\n")
    assert relay.post(body)[0] == relay.post(body, token="the-next-token-of-the-intake")[0] == 200
    tokens.write_text("the-next-token-of-the-intake\n")
    assert relay.post(body)[0] == 401
    tokens.unlink()
    assert relay.post(body)[0] == 503
    tokens.write_text(old)
    other = sqlite3.connect(relay.folder / "queue/queue.sqlite")
    other.execute("BEGIN IMMEDIATE")
    assert relay.post(make.webhook(make.alert("Locked"), name="Locked"))[0] == 503
    other.close()
    assert relay.post(make.webhook(make.alert("Locked"), name="Locked"))[0] == 200


def test_two_relays_never_send_from_one_queue(open_scene, synapse):
    scene = open_scene(synapse)
    scene.start()
    done = subprocess.run([*scene.relay.command("run"), "--port", "0"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "another relay holds" in done.stderr


def test_a_port_that_is_taken_is_said_in_one_line(open_scene, synapse, tmp_path):
    scene = open_scene(synapse)
    scene.start()
    settings = (scene.relay.folder / "relay.yaml").read_text().replace("queue.sqlite", "other.sqlite")
    (tmp_path / "other.yaml").write_text(settings)
    command = [*scene.relay.command("run")[:-1], tmp_path / "other.yaml", "--port", str(scene.relay.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "in use" in done.stderr.splitlines()[-1]


def test_it_stops_when_told_and_leaves_nothing_open(open_scene, synapse, make):
    scene = open_scene(synapse)
    relay = scene.start()
    scene.tell(make.alert())
    started = time.monotonic()
    relay.stop()
    assert time.monotonic() - started < 10
    assert not processes.is_running(relay.pid)
    assert '"stopped"' in processes.tail(relay.folder / "log", 1)
