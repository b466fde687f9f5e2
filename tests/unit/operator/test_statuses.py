"""What a status says, given what the service answered."""

from datetime import timedelta

import pytest

from memwarden_operator import conditions, statuses
from memwarden_operator.answers import Version
from memwarden_operator.assignment import Refusal
from memwarden_operator.reasons import Reason
from memwarden_operator.statuses import Outage

OLD = Version(generation=1, digest="sha256:old", revision=2)


def told(status):
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_accepted_and_held_is_ready(make):
    each = make.object()
    status = statuses.of_object(each, make.main, make.said(each), make.now)
    assert told(status) == {
        "Accepted": ("True", "Accepted"),
        "InForce": ("True", "InForce"),
        "Ready": ("True", "InForce"),
    }
    assert (status["store"], status["revision"], status["observedGeneration"]) == ("system/main", 4, 1)


@pytest.mark.parametrize(
    ("in_force", "before", "expected"),
    [
        (OLD, {}, ("True", "LastGoodInForce")),
        (None, {}, ("False", "NotAccepted")),
        (None, {"digest": "sha256:old"}, ("False", "LastGoodLost")),
        (
            None,
            {"conditions": [{"type": "InForce", "status": "False", "reason": "LastGoodLost"}]},
            ("False", "LastGoodLost"),
        ),
    ],
    ids=["the last good stays", "never accepted", "lost since", "lost before"],
)
def test_not_accepted_says_what_is_in_force_instead(make, in_force, before, expected):
    each = make.object(generation=2, status=before)
    said = make.said(each, accepted=False, in_force=in_force, problems=[make.problem()])
    status = statuses.of_object(each, make.main, said, make.now)
    assert told(status) == {
        "Accepted": ("False", "UnknownAttribute"),
        "InForce": expected,
        "Ready": ("False", "NotAccepted"),
        "Stalled": ("True", "NotAccepted"),
    }
    assert status.get("digest") == (in_force.digest if in_force else None)


def test_the_service_may_say_itself_that_the_last_good_is_lost(make):
    each = make.object()
    lost = make.problem(path="", reason="LastGoodLost", message="gone")
    said = make.said(each, accepted=False, in_force=None, problems=[make.problem(), lost])
    assert told(statuses.of_object(each, make.main, said, make.now))["InForce"] == ("False", "LastGoodLost")


def test_accepted_and_not_held_is_never_ready(make):
    each = make.object()
    for held in (None, OLD):
        status = statuses.of_object(each, make.main, make.said(each, in_force=held), make.now)
        assert told(status)["Ready"] == ("False", "NotEnforced")


def test_an_outage_takes_nothing_out_of_force(make):
    each = make.object(status={"observedGeneration": 1, "digest": "sha256:old", "revision": 3}, generation=2)
    outage = Outage(reason=Reason.SERVICE_UNAVAILABLE, message="no answer")
    status = statuses.of_object(each, make.main, outage, make.now)
    assert set(told(status).values()) == {("Unknown", "ServiceUnavailable"), ("True", "ServiceUnavailable")}
    assert (status["digest"], status["revision"]) == ("sha256:old", 3)


def test_without_a_store_everything_is_false_and_stays_so(make):
    each = make.object(status={"digest": "sha256:old"})
    status = statuses.of_object(each, None, Refusal(Reason.STORE_NOT_FOUND, "none"), make.now)
    assert told(status)["Stalled"] == ("True", "StoreNotFound")
    assert "digest" not in status


@pytest.mark.parametrize(
    ("kind", "spec", "in_force"),
    [
        ("MemoryPolicy", {"active": False}, ("False", "Inactive")),
        ("MemoryPolicy", {"mode": "Audit", "admission": []}, ("True", "Audited")),
        ("MemoryAccessGrant", {"expiresAt": "2026-12-01T12:00:00Z"}, ("False", "Expired")),
        ("MemoryAccessGrant", {"expiresAt": "2026-12-01T13:00:00+01:00"}, ("False", "Expired")),
        ("MemoryAccessGrant", {"expiresAt": "2026-12-01T12:00:01Z"}, ("True", "InForce")),
        ("MemoryAccessGrant", {"notBefore": "2026-12-01T12:00:01Z"}, ("False", "NotYetValid")),
        ("MemoryAccessGrant", {"notBefore": "2026-12-01T12:00:00Z"}, ("True", "InForce")),
    ],
)
def test_what_does_what_it_says_is_ready_and_tells_whether_it_does_something_now(make, kind, spec, in_force):
    each = make.object(kind=kind, **spec)
    found = told(statuses.of_object(each, make.main, make.said(each), make.now))
    assert (found["InForce"], found["Ready"]) == (in_force, ("True", in_force[1]))


def test_the_moments_of_a_grant_are_those_at_which_its_status_changes(make):
    each = make.object(kind="MemoryAccessGrant", notBefore="2026-12-01T13:00:00Z", expiresAt="2026-12-02T00:00:00Z")
    assert [each - make.now for each in statuses.moments(each.resource)] == [timedelta(hours=1), timedelta(hours=12)]


def test_a_transition_time_moves_only_when_the_status_flips(make):
    each = make.object()
    first = statuses.of_object(each, make.main, make.said(each), make.now)
    later = make.now + timedelta(hours=1)
    again = make.object(status=first, generation=2)
    second = statuses.of_object(again, make.main, make.said(again), later)
    assert {each["lastTransitionTime"] for each in second["conditions"]} == {"2026-12-01T12:00:00Z"}
    assert {each["observedGeneration"] for each in second["conditions"]} == {2}
    bad = make.object(status=second, generation=3)
    said = make.said(bad, accepted=False, in_force=OLD, problems=[make.problem()])
    third = {each["type"]: each for each in statuses.of_object(bad, make.main, said, later)["conditions"]}
    assert third["Ready"]["lastTransitionTime"] == "2026-12-01T13:00:00Z"
    assert third["InForce"]["lastTransitionTime"] == "2026-12-01T12:00:00Z"


def test_the_same_facts_an_hour_later_are_nothing_to_write(make):
    each = make.object()
    status = statuses.of_object(each, make.main, make.said(each), make.now)
    again = make.object(status=status)
    desired = statuses.of_object(again, make.main, make.said(again), make.now + timedelta(hours=1))
    assert statuses.difference(status, desired) is None


def test_a_patch_holds_what_differs_and_takes_away_what_is_gone():
    observed = {"store": "a/b", "digest": "d", "revision": 1}
    assert statuses.difference(observed, {"store": "a/b", "revision": 2}) == {"digest": None, "revision": 2}


def test_problems_are_one_bounded_line_with_the_path_first(make):
    problems = [make.problem(path=f"spec.admission[{index}]", message="is\nwrong") for index in range(7)]
    line = conditions.one_line(statuses.shown(problems))
    assert line.startswith("spec.admission[0]: is wrong; spec.admission[1]")
    assert line.endswith("; and 2 more")
    assert len(conditions.one_line("x" * 9999)) == conditions.MESSAGE_LENGTH_MAX


def test_a_reason_that_is_no_reason_is_not_written(make):
    each = make.object()
    said = make.said(each, accepted=False, in_force=None, problems=[make.problem(reason="not a reason")])
    assert told(statuses.of_object(each, make.main, said, make.now))["Accepted"] == ("False", "NotAccepted")
