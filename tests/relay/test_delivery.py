"""From a real Alertmanager into a real room: one message a group, which tells the whole story."""

import json
from concurrent.futures import ThreadPoolExecutor

from local.homeserver import call

PAST = {"endsAt": "2026-11-01T11:00:00Z"}


def told(name, instance="a", severity="critical", **more):
    labels = {"alertname": name, "severity": severity, "instance": instance}
    since = {"startsAt": "2026-11-01T10:00:00Z"}
    return {"labels": labels, "annotations": {"summary": f"{name} is wrong."}, **since, **more}


def test_a_group_is_one_message_from_its_first_alert_to_its_end(scene):
    scene.start(rooms={"ops": {"id": scene.room, "mentions": {"critical": {"room": True}}}})
    (manager,) = scene.alertmanagers()
    manager.post([told("DiskFull")])
    (message,) = scene.read(lambda m: m, "the message")
    assert "CRITICAL · DiskFull · 1 firing" in message.body
    assert message.mentions == {"room": True}
    manager.post([told("DiskFull", "b")])
    scene.read(lambda m: "2 firing" in m[0].body and m[0].thread, "the second alert in it")
    manager.post([told("DiskFull", "a", **PAST), told("DiskFull", "b", **PAST)])
    (message,) = scene.read(lambda m: m[0].reactions, "the mark of the end")
    assert message.body.startswith("✅ RESOLVED · DiskFull · 2 resolved")
    assert message.reactions == [("✅", scene.bot.id)]
    history = "\n".join(message.thread_bodies)
    assert history.count("is resolved") == 2
    assert "DiskFull (instance=b) fires" in history


def test_a_pair_of_alertmanagers_is_heard_once(open_scene, synapse):
    scene = open_scene(synapse)
    scene.start()
    pair = scene.alertmanagers(2, group_interval="5s")
    for manager in pair:
        manager.post([told("DiskFull"), told("MemoryFull")])
    scene.read(lambda m: len(m) == 2, "both groups")
    for manager in pair:
        manager.post([told("DiskFull", **PAST)])
    scene.read(lambda m: any("RESOLVED" in one.body for one in m), "the end")
    messages = scene.steady(6)  # Time for the second peer's turn.
    assert len(messages) == 2
    (over,) = [one for one in messages if "RESOLVED" in one.body]
    assert len(over.thread) == 1


def test_a_pair_without_gossip_sends_everything_twice_and_is_heard_once(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    groups = [make.webhook(make.alert(f"Alert{n}"), name=f"Alert{n}") for n in range(8)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(scene.relay.post, groups * 4))
    assert {status for status, _ in answers} == {200}
    scene.read(lambda m: len(m) >= 8, "all groups")
    assert len(scene.steady()) == 8
    assert scene.relay.metric("memwarden_relay_notifications_total", outcome="duplicate") == 24


def test_labels_choose_the_rooms(open_scene, synapse, make):
    scene = open_scene(synapse)
    security = scene.alice.make_room(scene.bot)
    rooms = {"ops": {"id": scene.room}, "security": {"id": security}}
    routes = [{"match": {"component": "security"}, "rooms": ["security", "ops"]}]
    scene.start(rooms=rooms, routes=routes)
    scene.tell(make.alert("Break"), commonLabels={"component": "security"}, name="Break")
    scene.tell(make.alert("Slow"), name="Slow")
    scene.read(lambda m: len(m) == 2, "both in ops")
    assert len(scene.read(lambda m: m, "one in security", room=security)) == 1


SEVERITIES = {"critical": "CRITICAL", "page": "CRITICAL", "warning": "WARNING", "info": "INFO", "none": "NONE"}
SEVERITIES |= dict.fromkeys(("", "catastrophe", "Критично"), "WARNING")


def test_every_severity_arrives(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    for severity in SEVERITIES:
        scene.tell(make.alert(f"Alert-{severity}", severity=severity), name=severity)
    messages = scene.read(lambda m: len(m) == len(SEVERITIES), "one message each")
    titles = {one.body.partition(" · #")[0] for one in messages}
    assert {f"{place} · Alert-{severity} · 1 firing" for severity, place in SEVERITIES.items()} == {
        t[2:] for t in titles
    }


TEXTS = [
    "plain",
    "日本語のアラート · Ελληνικά · العربية · हिन्दी",
    "🧑‍💻👩‍👩‍👧‍👦🏳️‍🌈",
    "nul \x00 bell \x07 escape \x1b[31m",
    "lone \ud800 surrogate \udfff",
    "right to left \u202e override",
    "a\u0301\u0301\u0301 combining",
    "tags \U000e0041\U000e0042",
    "\u2028line\u2029paragraph",
    '"quotes" \\backslashes\\ <b>markup</b> &amp; `code` **bold**',
    "\ufffe\uffff\U0010ffff",
]


def test_text_of_every_kind_arrives(scene, make):
    scene.start()
    for number, text in enumerate(TEXTS):
        strange = make.alert(annotations={"summary": text, text: text}, labels={"alertname": text, text: text})
        scene.tell(strange, name=str(number))
    messages = scene.read(lambda m: len(m) == len(TEXTS), "one message each")
    assert "日本語のアラート" in "".join(one.body for one in messages)
    assert scene.relay.metric("memwarden_relay_dead_letters") == 0


def files(scene):
    found = [event for one in scene.alice.read(scene.room) for event in one.thread]
    return [event["content"] for event in found if event["content"]["msgtype"] == "m.file"]


def download(scene, url):
    path = f"/_matrix/media/v3/download/{url.removeprefix('mxc://')}"
    status, document = call(scene.server.url + path, "GET", token=scene.alice.user.token)
    assert status == 200
    return document


def test_a_group_of_300_shows_the_worst_and_attaches_all(scene, make):
    scene.start()
    alerts = [make.alert(instance=f"web-{n}", severity="warning") for n in range(299)]
    scene.tell(*alerts, make.alert(instance="the-worst"))
    (message,) = scene.read(lambda m: m and m[0].thread, "message and file")
    assert message.body.index("the-worst") < message.body.index("web-")
    assert "and 280 more" in message.body
    (content,) = files(scene)
    assert len(download(scene, content["url"])) == 300


def test_annotations_of_70_kilobytes_arrive_cut_and_attached(scene, make):
    scene.start()
    for number, filling in enumerate(['"', "é", "<", "\\", "a"]):
        text = filling * (70_000 // len(filling.encode()))
        scene.tell(make.alert(instance=str(number), annotations={"description": text}), name=str(number))
    scene.read(lambda m: len(m) == 5 and all(one.thread for one in m), "five messages with files")
    assert scene.relay.metric("memwarden_relay_dead_letters") == 0
    longest = max(len(download(scene, content["url"])[0]["annotations"]["description"]) for content in files(scene))
    assert longest == 70_000


def test_a_strange_alert_does_not_take_its_neighbours_with_it(scene, make):
    scene.start()
    strange = [{}, {"labels": None}, {"annotations": None, "labels": {"alertname": "Half"}}, None, 5]
    document = make.webhook(make.alert(), *strange)
    del document["externalURL"], document["version"]
    assert scene.relay.post({**document, "commonAnnotations": None, "groupLabels": None})[0] == 200
    (message,) = scene.read(lambda m: m, "the message")
    assert "Down" in message.body
    assert "Half" in message.body


def test_what_can_never_be_read_is_refused_for_good_and_said_in_the_room_once(open_scene, synapse):
    scene = open_scene(synapse)
    scene.start()
    answers = [scene.relay.post(body)[0] for body in (b"{", b"{", b'{"text": "custom"}', b"[" * 100_000)]
    assert answers == [400, 400, 400, 400]
    scene.read(lambda m: len(m) == 3, "a notice each reason")
    assert len(scene.steady()) == 3


def test_a_body_beyond_the_bound_is_refused_for_good_and_said(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    large = json.dumps(make.webhook(make.alert(annotations={"a": "x" * 17_000_000}))).encode()
    assert scene.relay.post(large)[0] == 413
    assert "larger than 16 MiB" in scene.read(lambda m: m, "the notice")[0].body
    assert scene.tell(make.alert(annotations={"a": "x" * 15_000_000}))["rooms"] == {"ops": "accepted"}


def test_no_credential_leaves_the_cluster(open_scene, synapse, make):
    scene = open_scene(synapse)
    scene.start()
    secret = "postgresql://mw:hunter2hunter2@db/x"
    scene.tell(make.alert(instance=secret, annotations={"summary": secret, "description": secret * 500}))
    scene.read(lambda m: m and m[0].thread, "message and file")
    assert "hunter2" not in json.dumps(scene.alice.events(scene.room))
    assert "hunter2" not in json.dumps([download(scene, content["url"]) for content in files(scene)])
    queue = scene.folder / "relay/queue"
    assert not [path for path in queue.iterdir() if b"hunter2" in path.read_bytes()]
