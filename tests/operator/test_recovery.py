"""What went wrong while nobody looked is found and mended: deletions, edits by hand, outages, an empty database."""

import json
import subprocess

import pytest

from staging.stage import account, floor, grant, policy, rule

LOOK_SECONDS = 75
BAD = rule("bad", "Accept", "candidate.nonsense == 1")
MENDED = 'memwarden_operator_drift_mended_total{cause="%s"}'


def finalize(stage, namespace):
    """Let a namespace go: what the controller manager does elsewhere."""
    stage.kubectl("delete", "mpol,mgrant,mstore", "--all", "-n", namespace)
    stage.kubectl("delete", "namespace", namespace, "--wait=false")
    document = json.loads(stage.kubectl("get", "namespace", namespace, "-o", "json"))
    document["spec"]["finalizers"] = []
    stage.kubectl("replace", "--raw", f"/api/v1/namespaces/{namespace}/finalize", "-f", "-", stdin=json.dumps(document))

    def is_gone():
        try:
            stage.kubectl("get", "namespace", namespace)
        except subprocess.CalledProcessError:
            return True
        return False

    stage.wait(is_gone, f"end of {namespace}")


def test_what_was_deleted_while_the_operator_was_down_is_out_of_force(stage):
    home = stage.namespace("deleted-meanwhile")
    operator = stage.start_operator()
    stage.apply(policy("stays", home), policy("goes", home), grant("agent", home))
    for kind, name in (("mpol", "stays"), ("mpol", "goes"), ("mgrant", "agent")):
        stage.await_condition(kind, home, name, "InForce")
    assert operator.stop() == 0
    stage.kubectl("delete", "mpol", "goes", "-n", home)
    stage.kubectl("delete", "mgrant", "agent", "-n", home)
    assert ("MemoryPolicy", "goes") in stage.held(home)
    stage.start_operator()
    stage.wait(lambda: {name for _, name in stage.held(home)} == {"stays"}, "deletion in the service")


def test_a_restart_with_nothing_changed_writes_nothing_but_the_lease(stage):
    home = stage.namespace("quiet")
    operator = stage.start_operator()
    stage.apply(
        policy("rules", home),
        policy("bad", home, BAD),
        grant("agent", home),
        floor("calm", rule("r", "Reject", "false")),
    )
    for kind, where, name in (("mpol", home, "rules"), ("mgrant", home, "agent"), ("cmpol", "", "calm")):
        stage.await_condition(kind, where, name, "InForce")
    stage.await_condition("mpol", home, "bad", "NotAccepted")
    assert operator.stop() == 0
    before = stage.versions()
    again = stage.start_operator()
    stage.wait(lambda: again.metrics()["memwarden_operator_queue_depth"] == 0, "empty queue")
    stage.wait(lambda: again.metrics()['memwarden_operator_reconciles_total{unit="Floor"}'] > 0, "look at the floor")
    figures = again.metrics()
    assert figures['memwarden_operator_rulesets_offered_total{result="taken"}'] == 0
    assert figures['memwarden_operator_status_writes_total{result="written"}'] == 0
    assert stage.versions() == before


@pytest.mark.parametrize(
    ("cause", "statement"),
    [
        (
            "edited",
            """update memwarden.policy_object set spec = jsonb_set(spec, '{admission,0,action}', '"Accept"')
            where name = %s""",
        ),
        ("edited", "delete from memwarden.policy_object where name = %s"),
    ],
    ids=["a row edited by hand", "a row lost"],
)
def test_rows_that_another_hand_changed_are_mended_once(stage, cause, statement):
    name = f"drift-{statement.split()[0]}"
    home = stage.namespace(name)
    operator = stage.start_operator()
    stage.apply(policy(name, home, rule("no", "Reject")))
    good = stage.await_condition("mpol", home, name, "InForce")["status"]["digest"]
    assert stage.admin(statement, name) == 1
    assert stage.ruleset(home)["drifted"]
    mended = MENDED % cause
    stage.wait(lambda: operator.metrics()[mended] == 1, "mending", seconds=LOOK_SECONDS)
    assert stage.held(home)["MemoryPolicy", name]["digest"] == good
    assert not stage.ruleset(home)["drifted"]
    text = f"The ruleset of the workspace {home} was changed by another hand, and is in force again"
    stage.wait(lambda: text in {each["message"] for each in stage.events("memwarden-system", "main")}, "event")
    status = stage.await_condition("mpol", home, name, "InForce")["status"]
    assert status["revision"] == stage.held(home)["MemoryPolicy", name]["revision"]


def test_a_service_that_is_down_is_told_at_once_and_caught_up_with_when_it_returns(stage):
    home = stage.namespace("outage")
    stage.start_operator()
    stage.apply(policy("before", home))
    stage.await_condition("mpol", home, "before", "InForce")
    stage.stop_service()
    try:
        stage.apply(policy("during", home))
        stage.await_condition("mpol", home, "during", "ServiceUnavailable")
        stage.await_condition("mstore", "memwarden-system", "main", "ServiceUnavailable")
        assert stage.condition("mpol", home, "before") == ("True", "InForce")
    finally:
        stage.start_service()
    stage.await_condition("mpol", home, "during", "InForce")
    stage.await_condition("mstore", "memwarden-system", "main", "ServiceReady")
    told = [each["reason"] for each in stage.events(home, "during")]
    assert sorted(told) == ["InForce", "ServiceUnavailable"]


def test_an_operator_that_starts_while_the_service_is_down_changes_no_status_but_the_stores(stage):
    home = stage.namespace("dark")
    operator = stage.start_operator()
    stage.apply(policy("rules", home), floor("calm", rule("r", "Reject", "false")))
    stage.await_condition("mpol", home, "rules", "InForce")
    stage.await_condition("cmpol", "", "calm", "InForce")
    assert operator.stop() == 0
    stage.stop_service()
    try:
        before = stage.versions()
        again = stage.start_operator()
        stage.await_condition("mstore", "memwarden-system", "main", "ServiceUnavailable")
        stage.wait(
            lambda: again.metrics()['memwarden_operator_reconciles_total{unit="Floor"}'] > 0, "look at the floor"
        )
        after = stage.versions()
    finally:
        stage.start_service()
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert {kind for kind, _, _ in changed} == {"MemoryStore", "Event"}


def test_a_database_that_came_back_empty_is_filled_again_and_what_is_lost_is_said(stage):
    home = stage.namespace("empty")
    operator = stage.start_operator()
    stage.apply(account(home), grant("agent", home), policy("rules", home), policy("spoiled", home))
    for kind, name in (("mgrant", "agent"), ("mpol", "rules"), ("mpol", "spoiled")):
        stage.await_condition(kind, home, name, "InForce")
    stage.apply(policy("spoiled", home, BAD))
    stage.await_condition("mpol", home, "spoiled", "LastGoodInForce", "InForce")
    stage.stop_service()
    stage.new_database()
    stage.start_service()
    stage.wait(lambda: ("MemoryPolicy", "rules") in stage.held(home), "rules in the new database", seconds=LOOK_SECONDS)
    lost = stage.await_condition("mpol", home, "spoiled", "LastGoodLost", "InForce")
    assert "digest" not in lost["status"]
    assert ("MemoryPolicy", "spoiled") not in stage.held(home)
    assert operator.metrics()[MENDED % "lost"] >= 1
    assert "LastGoodLost" in {each["reason"] for each in stage.events(home, "spoiled")}
    assert operator.process.poll() is None


def test_a_namespace_of_the_same_name_is_a_new_and_empty_workspace(stage):
    home = stage.namespace("twice")
    stage.start_operator()
    stage.apply(policy("old", home))
    stage.await_condition("mpol", home, "old", "InForce")
    first = stage.ruleset(home)["namespace"]["uid"]
    finalize(stage, home)
    stage.wait(lambda: stage.ruleset(home) == {}, "end of the workspace")
    stage.namespace(home)
    stage.apply(policy("new", home))
    stage.await_condition("mpol", home, "new", "InForce")
    assert stage.ruleset(home)["namespace"]["uid"] != first
    assert [name for kind, name in stage.held(home) if kind == "MemoryPolicy"] == ["new"]


def test_a_namespace_that_vanished_while_the_operator_was_down_is_closed(stage):
    home = stage.namespace("vanished")
    operator = stage.start_operator()
    stage.apply(policy("rules", home))
    stage.await_condition("mpol", home, "rules", "InForce")
    assert operator.stop() == 0
    finalize(stage, home)
    assert stage.ruleset(home)
    stage.start_operator()
    stage.wait(lambda: stage.ruleset(home) == {}, "end of the workspace")
