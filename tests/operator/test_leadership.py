"""One operator works at a time, and one that only believes that it does is refused by the service."""

import json

import httpx2

from local import stack
from staging.stage import policy

TAKEOVER_SECONDS = 75


def lease(stage) -> dict:
    return json.loads(stage.kubectl("get", "lease", stack.OPERATOR, "-n", stack.NAMESPACE, "-o", "json"))["spec"]


def test_a_second_operator_waits_and_takes_over_when_the_first_is_killed(stage):
    home = stage.namespace("takeover")
    first = stage.start_operator()
    holder = lease(stage)["holderIdentity"]
    second = stage.start_operator(is_ready=False)
    stage.wait(second.is_ready, "readiness of one that stands by")
    assert not second.leads()
    assert lease(stage)["holderIdentity"] == holder
    first.kill()
    stage.apply(policy("rules", home))
    stage.wait(second.leads, "takeover", seconds=TAKEOVER_SECONDS)
    stage.await_condition("mpol", home, "rules", "InForce")
    assert lease(stage)["holderIdentity"] != holder


def test_one_that_stops_hands_over_at_once(stage):
    first = stage.start_operator()
    second = stage.start_operator(is_ready=False)
    stage.wait(second.is_ready, "readiness of one that stands by")
    assert first.stop() == 0
    stage.wait(second.leads, "takeover", seconds=12)


def test_one_that_slept_through_its_lease_ends_and_its_late_order_is_refused(stage):
    home = stage.namespace("fenced")
    first = stage.start_operator()
    stage.apply(policy("rules", home))
    stage.await_condition("mpol", home, "rules", "InForce")
    first.freeze()
    second = stage.start_operator(is_ready=False)
    stage.wait(second.leads, "takeover", seconds=TAKEOVER_SECONDS)
    stage.apply(policy("more", home))
    stage.await_condition("mpol", home, "more", "InForce")
    first.thaw()
    assert first.process.wait(timeout=20) == 1
    assert late_order(stage, home).status_code == 409
    assert {name for kind, name in stage.held(home) if kind == "MemoryPolicy"} == {"more", "rules"}


def late_order(stage, home: str) -> httpx2.Response:
    """Offer an empty ruleset with the fence of an operator of long ago."""
    held = stage.ruleset(home)
    audience = f"--audience=memwarden:{stage.store_uid}"
    token = stage.kubectl("create", "token", stack.OPERATOR, "-n", stack.NAMESPACE, audience).strip()
    store = {"namespace": stack.NAMESPACE, "name": stack.STORE, "uid": stage.store_uid}
    body = {
        "namespace": held["namespace"],
        "fence": {"term": 1, "counter": 1},
        "store": {**store, "admission_default": "Accept", "reads": "Open"},
        "objects": [],
    }
    path = f"{stage.url}/admin/v1/workspaces/{home}/ruleset"
    return httpx2.put(path, json=body, headers={"Authorization": f"Bearer {token}"})
