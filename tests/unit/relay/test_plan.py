"""What a notification means: a message, an edit, a line of history, or nothing at all."""

from dataclasses import replace

import pytest

from memwarden_relay.model import Cancel, Kind, Mentions, RootState, Severity, Waiting
from memwarden_relay.plan import RANK_LAST, Outcome, rank

SENT = Waiting(root=RootState.SENT)


def kinds(made):
    return [one.kind for one in made.writes]


def put(made, kind):
    return next(one.payload for one in made.writes if one.kind is kind)


def test_a_new_group_is_one_message_that_calls_whom_its_severity_calls(story, make):
    made = story.tell(make.entry(), make.entry(instance="b"))
    assert kinds(made) == [Kind.ROOT]
    assert put(made, Kind.ROOT).mentions == Mentions(room=True)
    assert "CRITICAL · Down · 2 firing · #7" in put(made, Kind.ROOT).body


def test_a_copy_of_the_other_peer_changes_nothing(story, make):
    story.tell(make.entry())
    assert story.tell(make.entry(), receiver="relay").outcome is Outcome.DUPLICATE


def test_alerts_in_another_order_are_the_same_state(story, make):
    story.tell(make.entry(), make.entry(instance="b"))
    assert story.tell(make.entry(instance="b"), make.entry()).outcome is Outcome.DUPLICATE


def test_before_the_message_is_in_the_room_changes_rewrite_it(story, make):
    story.tell(make.entry())
    story.waiting = Waiting(root=RootState.WAITING)
    made = story.tell(make.entry(), make.entry(instance="b"))
    assert kinds(made) == [Kind.ROOT]
    assert put(made, Kind.ROOT).mentions == Mentions(room=True)


def test_once_there_it_is_edited_and_the_thread_tells_what_changed(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    made = story.tell(make.entry(status="resolved"), make.entry(instance="b"))
    assert kinds(made) == [Kind.EDIT, Kind.NOTE]
    assert put(made, Kind.NOTE).lines == (
        "🔴 Down (instance=b) fires, 2026-12-01 10:00 UTC",
        "✅ Down (instance=a) is resolved, 2026-12-01 11:00 UTC",
    )


def test_a_message_that_may_be_in_the_room_is_edited_not_written_again(story, make):
    story.tell(make.entry())
    story.waiting = Waiting(root=RootState.UNCLEAR)
    assert kinds(story.tell(make.entry(), make.entry(instance="b"))) == [Kind.EDIT, Kind.NOTE]


def test_a_new_critical_alert_calls_again_and_drops_the_acknowledgement(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    story.group = replace(story.group, acknowledged_by="@a:x")
    made = story.tell(make.entry(), make.entry(instance="b"))
    assert put(made, Kind.NOTE).mentions == Mentions(room=True)
    assert put(made, Kind.EDIT).mentions == Mentions()
    assert made.group.acknowledged_by == ""


def test_a_new_warning_beside_a_critical_one_calls_nobody(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    made = story.tell(make.entry(), make.entry(instance="b", severity="warning"))
    assert put(made, Kind.NOTE).mentions == Mentions()


def test_the_end_is_an_edit_a_line_and_a_mark(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    made = story.tell(make.entry(status="resolved"))
    assert kinds(made) == [Kind.EDIT, Kind.NOTE, Kind.REACT]
    assert put(made, Kind.EDIT).body.startswith("✅ RESOLVED · Down")
    assert made.group.is_closed


def test_firing_again_soon_goes_on_in_the_same_message_and_takes_the_mark_back(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    story.tell(make.entry(status="resolved"))
    made = story.tell(make.entry(starts="2026-12-01T12:00:00Z"), after=299)
    assert Kind.ROOT not in kinds(made)
    assert Cancel(kind=Kind.REACT) in made.writes
    assert put(made, Kind.NOTE).mentions == Mentions(room=True)


def test_firing_again_later_is_a_new_message(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    story.tell(make.entry(status="resolved"))
    assert kinds(story.tell(make.entry(starts="2026-12-01T12:00:00Z"), after=301)) == [Kind.ROOT]


def test_the_same_state_after_a_long_time_is_a_reminder_once_for_both_peers(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    made = story.tell(make.entry(), after=3600)
    assert (made.outcome, kinds(made)) == (Outcome.REPEATED, [Kind.NOTE])
    assert story.tell(make.entry(), after=15).outcome is Outcome.DUPLICATE


def test_what_was_heard_last_is_shown_also_when_it_was_told_before(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    for status in ("resolved", "firing", "resolved"):
        assert story.tell(make.entry(status=status)).outcome is Outcome.ACCEPTED
    assert story.group.is_closed


def test_a_late_copy_of_the_other_peer_calls_nobody_again(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    story.tell(make.entry(status="resolved"))
    assert put(story.tell(make.entry()), Kind.NOTE).mentions == Mentions()


def test_a_resolved_group_that_is_told_again_writes_no_new_message(story, make):
    story.tell(make.entry(), make.entry(instance="b"))
    story.waiting = SENT
    story.tell(make.entry(status="resolved"), make.entry(instance="b", status="resolved"))
    assert Kind.ROOT not in kinds(story.tell(make.entry(status="resolved"), after=5_000))


def test_a_large_group_has_its_file_once(story, make):
    alerts = [make.entry(instance=str(n)) for n in range(300)]
    assert kinds(story.tell(*alerts)) == [Kind.ROOT, Kind.FILE]
    story.waiting = SENT
    assert Kind.FILE not in kinds(story.tell(make.entry(instance="0", status="resolved"), *alerts[1:]))


def test_lines_that_wait_are_joined_and_bounded(story, make):
    story.tell(make.entry())
    story.waiting = SENT
    for number in range(200):
        note = put(story.tell(make.entry(instance=str(number)), after=61), Kind.NOTE)
        story.waiting = Waiting(root=RootState.SENT, note=note)
    assert len(note.lines) == 25
    assert "earlier changes" in note.body


def test_an_empty_notification_changes_nothing(story):
    assert story.tell().outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (rank(Severity.CRITICAL, Kind.EDIT), rank(Severity.WARNING, Kind.ROOT)),
        (rank(Severity.WARNING, Kind.ROOT), rank(Severity.WARNING, Kind.EDIT)),
        (rank(Severity.WARNING, Kind.EDIT), rank(Severity.WARNING, Kind.NOTE)),
        (rank(Severity.WARNING, Kind.NOTE, Mentions(room=True)), rank(Severity.WARNING, Kind.EDIT)),
        (rank(Severity.NONE, Kind.NOTE), RANK_LAST),
    ],
)
def test_the_worst_and_the_newest_come_first(first, second):
    assert first < second
