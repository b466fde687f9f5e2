"""What people write and react, who may, and what it does."""

from dataclasses import replace

import pytest

from memwarden_relay import answers, commands, permissions, timers
from memwarden_relay.answers import Asked, Undone
from memwarden_relay.commands import Verb
from memwarden_relay.model import Mentions
from memwarden_relay.permissions import Right, Rule

RULES = {Right.ACKNOWLEDGE: Rule(power_level=0), Right.SILENCE: Rule(power_level=50, users=("@listed:x",))}
POWERS = permissions.RoomPowers(version="10", creators=("@boss:x",), levels={"users": {"@mod:x": 50, "@boss:x": 100}})


def event(body=None, *, kind="m.room.message", relation=None, sender="@mod:x", **content):
    made = {"body": body, "msgtype": "m.text"} if body is not None else {}
    made |= {"m.relates_to": relation} if relation else {}
    return {"type": kind, "sender": sender, "event_id": "$e", "content": {**made, **content}}


def read(*args, **more):
    return commands.read(event(*args, **more), "ops", "!r:x")


@pytest.mark.parametrize(
    ("body", "verb", "number", "seconds", "comment"),
    [
        ("!ack", Verb.ACK, 0, 3600, ""),
        ("  !ACK #12 on it", Verb.ACK, 12, 3600, "on it"),
        ("!silence", Verb.SILENCE, 0, 3600, ""),
        ("!silence 2h", Verb.SILENCE, 0, 7200, ""),
        ("!silence #3 1h30m the new disk is on its way", Verb.SILENCE, 3, 5400, "the new disk is on its way"),
        ("!silence deploying", Verb.SILENCE, 0, 3600, "deploying"),
        ("!unsilence #3", Verb.UNSILENCE, 3, 3600, ""),
        ("> quoted\n> more\n\n!ack", Verb.ACK, 0, 3600, ""),
        ("!alerts", Verb.ALERTS, 0, 3600, ""),
    ],
)
def test_commands_are_understood(body, verb, number, seconds, comment):
    found = read(body)
    assert (found.verb, found.number, found.seconds, found.comment, found.problem) == (
        verb,
        number,
        seconds,
        comment,
        "",
    )


@pytest.mark.parametrize("body", ["!silence 5y", "!silence 0m", "!silence 8d", "!silence 99999h", "!silence 1.5h"])
def test_a_span_that_makes_no_sense_is_said_so_and_not_guessed(body):
    assert read(body).problem


@pytest.mark.parametrize("body", ["hello", "", "ack", "!unknown", "! ack", "look: !ack", "> !ack"])
def test_talk_is_no_command(body):
    assert read(body) is None


@pytest.mark.parametrize("mark", ["👀", "👀\ufe0f"])
def test_a_reaction_is_a_command(mark):
    found = read(kind="m.reaction", relation={"rel_type": "m.annotation", "event_id": "$root", "key": mark})
    assert (found.verb, found.target, found.is_reaction) == (Verb.ACK, "$root", True)


@pytest.mark.parametrize(
    "strange",
    [
        {},
        {"type": "m.room.message", "sender": 5, "event_id": "$e", "content": {}},
        {"type": "m.room.message", "sender": "@a:x", "event_id": "$e", "content": []},
        {"type": "m.room.message", "sender": "@a:x", "event_id": "$e", "content": {"body": 5}},
        {"type": "m.reaction", "sender": "@a:x", "event_id": "$e", "content": {"m.relates_to": "x"}},
        {"type": "m.room.redaction", "sender": "@a:x", "event_id": "$e", "content": {}},
        event("!ack", relation={"rel_type": "m.replace", "event_id": "$x"}),
    ],
)
def test_strange_events_are_passed_over(strange):
    assert commands.read(strange, "ops", "!r:x") is None


@pytest.mark.parametrize(
    "relation", [{"rel_type": "m.thread", "event_id": "$root"}, {"m.in_reply_to": {"event_id": "$root"}}]
)
def test_thread_and_reply_point_at_their_alert(relation):
    assert read("!ack", relation=relation).target == "$root"


def powers(version="10", levels=None, creators=("@boss:x",)):
    return permissions.RoomPowers(version=version, creators=creators, levels=levels)


@pytest.mark.parametrize(
    ("user", "room", "expected"),
    [
        ("@boss:x", powers(), 100),
        ("@other:x", powers(), 0),
        ("@boss:x", powers(levels={}), 0),
        ("@boss:x", powers("12", levels={}), permissions.ABOVE_ALL),
        ("@boss:x", powers("12"), permissions.ABOVE_ALL),
        ("@boss:x", powers("org.example.made-up", levels={}), 0),
        ("@a:x", powers(levels={"users": {"@a:x": "75"}}), 75),
        ("@a:x", powers(levels={"users_default": 10}), 10),
        ("@a:x", powers(levels={"users": "broken", "users_default": "broken"}), 0),
    ],
)
def test_ranks_are_read_as_the_room_version_has_them(user, room, expected):
    assert permissions.level(user, room) == expected


def test_creators_of_version_12_come_from_sender_and_content():
    create = {"sender": "@a:x", "content": {"room_version": "12", "additional_creators": ["@b:x", 5]}}
    found = permissions.powers(create, {"users": {}})
    assert all(permissions.level(user, found) == permissions.ABOVE_ALL for user in ("@a:x", "@b:x"))
    assert permissions.level("@c:x", found) == 0


GOLDEN = """
who       acknowledge  silence
@boss:x   yes          yes
@mod:x    yes          yes
@listed:x yes          yes
@user:x   yes          -
"""


def test_the_table_of_rights():
    rows = ["who       acknowledge  silence"]
    for user in ("@boss:x", "@mod:x", "@listed:x", "@user:x"):
        ticks = ["yes" if permissions.may(user, RULES[right], POWERS) else "-" for right in Right]
        rows.append(f"{user:<9} {ticks[0]:<12} {ticks[1]}")
    assert rows == GOLDEN.strip().splitlines()


def test_without_a_level_only_the_list_counts():
    assert not permissions.may("@boss:x", Rule(users=("@a:x",)), POWERS)


@pytest.fixture
def group(story, make):
    story.tell(make.entry())
    return replace(story.group, root_event="$root")


def respond(command, group, undone=None):
    asked = Asked(
        command=command, group=group, undone=undone, open_groups=(group,), powers=POWERS, rules=RULES, now=5.0
    )
    return answers.respond(asked)


def test_an_acknowledgement_has_an_owner(group):
    made = respond(read("!ack"), group)
    assert (made.outcome, made.group.acknowledged_by) == ("done", "@mod:x")


def test_a_silence_covers_the_group_and_says_who_and_where(group):
    made = respond(read("!silence 2h disk"), group)
    assert made.silence.matchers == (("alertname", "Down"),)
    assert made.silence.comment == "disk · @mod:x · https://matrix.to/#/!r:x/$e"
    assert made.silence.seconds == 7200


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"group_labels": {}, "common_labels": {}}, "everything"),
        ({"group_labels": {"a": "x [redacted]"}}, "redacted"),
        ({"silence": "s"}, "already"),
    ],
)
def test_a_silence_that_would_be_wrong_is_refused(group, change, word):
    made = respond(read("!silence"), replace(group, **change))
    assert (made.outcome, made.silence) == ("refused", None)
    assert word in made.answer


def test_who_may_not_is_told_and_nothing_changes(group):
    made = respond(read("!silence", sender="@user:x"), group)
    assert (made.outcome, made.group, made.silence) == ("refused", None, None)


def test_taking_the_reaction_back_undoes_what_it_did(group):
    taken = replace(read("!ack"), verb=Verb.RETRACT, target="$r")
    assert read(kind="m.room.redaction", redacts="$r") == replace(taken, comment="")
    owned = replace(group, acknowledged_by="@mod:x", silence="s")
    assert respond(taken, None, Undone(verb=Verb.ACK, group=owned, sender="@mod:x")).group.acknowledged_by == ""
    assert respond(taken, None, Undone(verb=Verb.SILENCE, group=owned, sender="@mod:x")).unsilence == "s"
    assert respond(taken, None, None).outcome == "nothing"


def test_a_stranger_s_redaction_of_another_s_silence_undoes_nothing(group):
    taken = replace(read("!ack"), verb=Verb.RETRACT, sender="@user:x")
    made = respond(taken, None, Undone(verb=Verb.SILENCE, group=replace(group, silence="s"), sender="@mod:x"))
    assert (made.outcome, made.unsilence) == ("refused", "")


def test_undo_undoes_both(group):
    command = replace(read("!ack"), verb=Verb.UNDO)
    made = respond(command, replace(group, acknowledged_by="@a:x", silence="s"))
    assert (made.group.acknowledged_by, made.group.silence, made.unsilence) == ("", "", "s")


REMIND = timers.Reminding(after_seconds=900, mentions=Mentions(users=("@lead:x",)))


def test_a_critical_alert_that_nobody_takes_is_spoken_of_again_a_few_times(group):
    now, times = group.opened_at, 0
    for _ in range(20):
        now += 900
        found = timers.due([group], now, REMIND)
        times += len(found)
        group = found[0].group if found else group
    assert times == timers.REMINDERS_MAX


TAKEN, SILENCED = {"acknowledged_by": "@a:x"}, {"silence": "s", "silenced_until": 1e12}


@pytest.mark.parametrize("change", [TAKEN, SILENCED, {"closed_at": 5.0}, {"root_event": ""}])
def test_what_is_taken_silenced_over_or_unseen_needs_no_reminder(group, change):
    assert not timers.due([replace(group, **change)], group.opened_at + 5_000, REMIND)


def test_the_end_of_a_silence_shows(group):
    (due,) = timers.due([replace(group, silence="s", silenced_until=500.0)], 500.0, REMIND)
    assert (due.group.silence, due.has_new_look) == ("", True)


def test_a_heartbeat_that_was_never_heard_cannot_stop():
    assert not timers.is_quiet(0, 1e9, 300)
    assert timers.is_quiet(1_000, 1_301, 300)
    assert not timers.is_quiet(1_000, 1_300, 300)
