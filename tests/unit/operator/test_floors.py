"""What a ClusterMemoryPolicy says of all workspaces together."""

from memwarden_operator import events, floors
from memwarden_operator.answers import Version
from memwarden_operator.reasons import Reason
from memwarden_operator.state import Held
from memwarden_operator.statuses import Outage, render
from memwarden_operator.work import Workspace

BAD = {"admission": [{"name": "r", "when": "candidate.nonsense == 1", "action": "Reject"}]}


def told(make, each, held):
    status = render(each, floors.judge(each, held, make.now), make.now)
    return {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}, status


def workspaces(make, **held):
    return {Workspace(make.main, name): each for name, each in held.items()}


def test_in_force_everywhere_is_ready(make):
    each = make.floor()
    held = Held(floor={each.key: make.said(each)})
    found, status = told(make, each, workspaces(make, a=held, b=held))
    assert found["Ready"] == ("True", "InForce")
    assert status["digest"].startswith("sha256:")
    assert "revision" not in status


def test_where_it_is_not_in_force_is_named_and_bounded(make):
    each = make.floor(generation=2)
    good = Held(floor={each.key: make.said(each)})
    older = Held(floor={each.key: make.said(make.floor(generation=1))})
    down = Held(outage=Outage(reason=Reason.SERVICE_UNAVAILABLE, message="no answer"))
    found, status = told(make, each, workspaces(make, a=good, b=older, c=down))
    assert found["Ready"] == ("False", "NotInForceEverywhere")
    assert status["conditions"][2]["message"] == "Not in force in b of system/main, c of system/main"
    many = floors.named([Workspace(make.main, f"n{index:02}") for index in range(12)])
    assert many.endswith("n09 of system/main and 2 more")


def test_an_outage_takes_nothing_out_of_force_that_was_confirmed(make):
    each = make.floor()
    _, status = told(make, each, workspaces(make, a=Held(floor={each.key: make.said(each)})))
    down = Held(outage=Outage(reason=Reason.SERVICE_UNAVAILABLE, message="no answer"))
    assert floors.judge(make.floor(status=status), workspaces(make, a=down), make.now) is None
    changed = make.floor(status=status, generation=2)
    assert told(make, changed, workspaces(make, a=down))[0]["Ready"] == ("False", "NotInForceEverywhere")


def test_without_a_workspace_it_is_ready_when_it_can_be_understood(make):
    assert told(make, make.floor(), {})[0]["Ready"] == ("True", "NoWorkspaces")
    assert told(make, make.floor(**BAD), {})[0]["Accepted"] == ("False", "UnknownAttribute")


def test_one_that_is_not_accepted_keeps_the_last_good(make):
    each = make.floor(generation=2)
    old = Version(generation=1, digest="sha256:old", revision=1)
    said = make.said(each, accepted=False, in_force=old, problems=[make.problem()])
    found, status = told(make, each, workspaces(make, a=Held(floor={each.key: said})))
    assert found["InForce"] == ("True", "LastGoodInForce")
    assert found["Stalled"] == ("True", "NotAccepted")
    assert status["digest"] == "sha256:old"


def condition(kind, status, reason):
    return {"type": kind, "status": status, "reason": reason, "message": f"{reason}."}


def test_events_are_for_what_people_did_not_expect():
    good = {"conditions": [condition("Accepted", "True", "Accepted"), condition("Ready", "True", "InForce")]}
    bad = {
        "conditions": [condition("Accepted", "False", "UnknownAttribute"), condition("Ready", "False", "NotAccepted")]
    }
    lost = {"conditions": [*bad["conditions"], condition("InForce", "False", "LastGoodLost")]}

    def happened(before, after):
        what = events.happened(before, after)
        return what and (what.type, what.reason)

    assert happened({"observedGeneration": -1}, good) is None
    assert happened(good, good) is None
    assert happened(good, bad) == ("Warning", "UnknownAttribute")
    assert happened(bad, bad) is None
    assert happened(bad, lost) == ("Warning", "LastGoodLost")
    assert happened(bad, good) == ("Normal", "InForce")


def test_the_same_happening_has_the_same_name_and_the_next_one_another(make):
    about = events.About(kind="MemoryPolicy", namespace="team", name="p" * 253, uid="u")
    what = events.Happening(type="Warning", reason="A", message="m")
    first, again = (events.document(about, what, "me", make.now) for _ in range(2))
    assert first == again
    assert len(first["metadata"]["name"]) <= 253
    other = events.Happening(type="Warning", reason="B", message="m")
    assert events.document(about, other, "me", make.now)["metadata"]["name"] != first["metadata"]["name"]
    cluster = events.About(kind="ClusterMemoryPolicy", namespace="", name="f", uid="u")
    assert events.document(cluster, what, "me", make.now)["metadata"]["namespace"] == "default"
