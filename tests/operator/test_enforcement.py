"""A resource that is applied is in force, or its status says why not."""

import time

from local import stack
from memwarden_operator.impacts import SHOWN
from staging.stage import STORE_REF, account, floor, grant, policy, rule

BAD = rule("bad", "Accept", "candidate.nonsense == 1")


def test_a_policy_is_enforced_when_it_says_ready_and_an_edit_and_a_deletion_too(stage):
    home = stage.namespace("enforced")
    stage.start_operator()
    stage.apply(
        account(home), grant("agent", home), policy("rules", home, rule("no", "Reject", "candidate.topic == 'x'"))
    )
    stage.await_condition("mpol", home, "rules", "InForce")
    stage.await_condition("mgrant", home, "agent", "InForce")
    memory = {"domain": "d", "content": "c", "source": "agent_extracted", "topic": "x"}
    assert stage.propose(home, "agent", **memory).status_code == 403
    stage.apply(policy("rules", home, rule("no", "Accept", "candidate.topic == 'x'")))
    stage.await_condition("mpol", home, "rules", "InForce")
    assert stage.propose(home, "agent", **memory).status_code == 201
    stage.kubectl("delete", "mpol", "rules", "-n", home)
    stage.wait(lambda: ("MemoryPolicy", "rules") not in stage.held(home), "deletion in the service")
    assert stage.propose(home, "agent", **memory | {"content": "other"}).status_code == 202


def test_a_status_names_store_revision_and_digest_of_what_the_service_holds(stage):
    home = stage.namespace("told")
    stage.start_operator()
    stage.apply(policy("rules", home))
    document = stage.await_condition("mpol", home, "rules", "InForce")
    in_force = stage.held(home)["MemoryPolicy", "rules"]
    status = document["status"]
    assert (status["digest"], status["revision"]) == (in_force["digest"], in_force["revision"])
    assert status["store"] == f"{STORE_REF['namespace']}/{STORE_REF['name']}"
    assert status["observedGeneration"] == document["metadata"]["generation"]
    assert {each["type"] for each in status["conditions"]} == {"Accepted", "InForce", "Ready"}
    assert {each["observedGeneration"] for each in status["conditions"]} == {1}


def test_the_operator_leaves_no_finalizer_and_no_annotation(stage):
    home = stage.namespace("untouched")
    stage.start_operator()
    stage.apply(policy("rules", home), grant("agent", home))
    for kind, name in (("mpol", "rules"), ("mgrant", "agent")):
        metadata = stage.await_condition(kind, home, name, "InForce")["metadata"]
        assert "finalizers" not in metadata
        assert "annotations" not in metadata
    stage.kubectl("delete", "mpol", "rules", "-n", home, "--timeout=5s")


def test_a_bad_expression_says_where_and_the_last_good_version_stays_in_force(stage):
    home = stage.namespace("last-good")
    stage.start_operator()
    stage.apply(policy("rules", home))
    good = stage.await_condition("mpol", home, "rules", "InForce")["status"]
    stage.apply(policy("rules", home, rule("fine", "Reject"), BAD))
    status = stage.await_condition("mpol", home, "rules", "NotAccepted")["status"]
    told = {each["type"]: each for each in status["conditions"]}
    assert (told["Accepted"]["status"], told["Accepted"]["reason"]) == ("False", "UnknownAttribute")
    assert told["Accepted"]["message"].startswith("spec.admission[1].when: ")
    assert (told["InForce"]["status"], told["InForce"]["reason"]) == ("True", "LastGoodInForce")
    assert told["Stalled"]["status"] == "True"
    assert (status["digest"], status["revision"]) == (good["digest"], good["revision"])
    assert stage.held(home)["MemoryPolicy", "rules"]["generation"] == 1
    stage.apply(policy("rules", home, rule("fine", "Reject")))
    mended = stage.await_condition("mpol", home, "rules", "InForce")["status"]
    assert {each["type"] for each in mended["conditions"]} == {"Accepted", "InForce", "Ready"}


def test_one_bad_object_among_a_hundred_good_ones_hurts_nobody_else(stage):
    home = stage.namespace("poison")
    stage.start_operator()
    good = [policy(f"good-{index}", home) for index in range(100)]
    stage.apply(*good, policy("poison", home, BAD))
    stage.wait(lambda: stage.ready("mpol", home) == {each["metadata"]["name"] for each in good}, "hundred Ready")
    stage.await_condition("mpol", home, "poison", "NotAccepted")
    assert len([name for kind, name in stage.held(home) if kind == "MemoryPolicy"]) == 100


def test_which_store_is_never_a_guess(stage):
    home = stage.namespace("choosing")
    stage.start_operator()
    nowhere = {"name": "nowhere"}
    closed = {"namespace": home, "name": "closed"}
    stage.apply(policy("named-none", home, ref=None), policy("named-unknown", home, ref=nowhere))
    stage.await_condition("mpol", home, "named-none", "StoreNotFound")
    stage.await_condition("mpol", home, "named-unknown", "StoreNotFound")
    endpoint = {"endpoint": {"url": stage.url}}
    store = {"apiVersion": "memwarden.dev/v1alpha1", "kind": "MemoryStore", "spec": endpoint}
    stage.apply({**store, "metadata": closed})
    other = stage.namespace("choosing-other")
    stage.apply(policy("foreign", other, ref=closed))
    stage.await_condition("mpol", other, "foreign", "StoreNotAllowed")
    stage.apply({**store, "metadata": {"namespace": home, "name": "second"}})
    stage.await_condition("mpol", home, "named-none", "StoreAmbiguous")
    stage.apply(policy("named-none", home))
    stage.await_condition("mpol", home, "named-none", "InForce")


def test_a_store_takes_a_namespace_from_the_moment_its_labels_match(stage):
    home = stage.namespace("labelled")
    stage.start_operator()
    selector = {"from": "Selector", "selector": {"matchLabels": {"department": "finance"}}}
    spec = {"endpoint": {"url": stage.url}, "allowedNamespaces": selector}
    ref = {"namespace": stack.NAMESPACE, "name": "finance"}
    metadata = {"namespace": ref["namespace"], "name": ref["name"]}
    stage.apply({"apiVersion": "memwarden.dev/v1alpha1", "kind": "MemoryStore", "metadata": metadata, "spec": spec})
    stage.apply(policy("rules", home, ref=ref))
    stage.await_condition("mpol", home, "rules", "StoreNotAllowed")
    stage.kubectl("label", "namespace", home, "department=finance")
    # The service at that address belongs to another store, and says so: it was asked.
    stage.await_condition("mpol", home, "rules", "ServiceRefused")
    stage.kubectl("label", "namespace", home, "department-")
    stage.await_condition("mpol", home, "rules", "StoreNotAllowed")
    stage.kubectl("delete", "mstore", "finance", "-n", stack.NAMESPACE)
    stage.await_condition("mpol", home, "rules", "StoreNotFound")


def test_the_floor_is_in_force_in_every_workspace_or_says_where_not(stage):
    homes = [stage.namespace(f"floor-{index}") for index in range(3)]
    stage.start_operator()
    stage.apply(*(policy("rules", home) for home in homes))
    stage.apply(floor("strict", rule("no", "Reject", "candidate.category == 'mood'")))
    status = stage.await_condition("cmpol", "", "strict", "InForce")["status"]
    for home in homes:
        assert stage.held(home)["ClusterMemoryPolicy", "strict"]["digest"] == status["digest"]
    stage.apply(floor("strict", BAD))
    stage.await_condition("cmpol", "", "strict", "NotAccepted")
    stage.await_condition("cmpol", "", "strict", "LastGoodInForce", "InForce")
    stage.kubectl("delete", "cmpol", "strict")
    for home in homes:
        stage.wait(lambda home=home: ("ClusterMemoryPolicy", "strict") not in stage.held(home), "deletion of the floor")


def test_a_grant_says_when_its_time_has_not_come_and_when_it_is_over(stage):
    home = stage.namespace("times")
    stage.start_operator()
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
    stage.apply(
        grant("later", home, notBefore="2999-01-01T00:00:00Z"),
        grant("over", home, expiresAt="2001-01-01T00:00:00Z"),
        grant("ends-soon", home, expiresAt=soon),
    )
    stage.await_condition("mgrant", home, "later", "NotYetValid")
    stage.await_condition("mgrant", home, "over", "Expired")
    assert stage.condition("mgrant", home, "over", "InForce") == ("False", "Expired")
    stage.await_condition("mgrant", home, "ends-soon", "InForce")
    stage.await_condition("mgrant", home, "ends-soon", "Expired")


def test_events_tell_of_changes_and_of_nothing_else(stage):
    home = stage.namespace("eventful")
    stage.start_operator()
    stage.apply(policy("rules", home))
    stage.await_condition("mpol", home, "rules", "InForce")
    assert stage.events(home, "rules") == []
    stage.apply(policy("rules", home, BAD))
    stage.wait(lambda: stage.events(home, "rules"), "event")
    stage.kubectl("label", "mpol", "rules", "-n", home, "colour=red")
    stage.apply(policy("rules", home))
    stage.await_condition("mpol", home, "rules", "InForce")
    stage.wait(lambda: len(stage.events(home, "rules")) == 2, "second event")
    told = {(each["type"], each["reason"], each["count"]) for each in stage.events(home, "rules")}
    assert told == {("Warning", "UnknownAttribute", 1), ("Normal", "InForce", 1)}
    stage.apply(policy("rules", home, BAD))
    stage.wait(lambda: any(each["count"] == 2 for each in stage.events(home, "rules")), "count of two")


def test_a_status_that_another_hand_wrote_is_put_right(stage):
    home = stage.namespace("meddled")
    stage.start_operator()
    stage.apply(policy("rules", home))
    right = stage.await_condition("mpol", home, "rules", "InForce")["status"]
    lie = '{"status": {"conditions": [], "digest": "sha256:lie"}}'
    stage.kubectl("patch", "mpol", "rules", "-n", home, "--subresource=status", "--type=merge", "-p", lie)
    status = stage.await_condition("mpol", home, "rules", "InForce")["status"]
    assert status["digest"] == right["digest"]


def test_a_status_counts_once_what_a_generation_does_to_the_memories_that_exist(stage):
    home, empty = stage.namespace("counted"), stage.namespace("uncounted")
    operator = stage.start_operator()
    stage.apply(account(home), grant("agent", home), policy("keep", home, rule("all", "Accept")), policy("any", empty))
    stage.await_condition("mpol", home, "keep", "InForce")
    memory = {"domain": "d", "source": "agent_extracted"}
    for topic in ("mood", "mood", "plan", "taste"):
        memory["content"] = f"{topic} {time.monotonic()}"
        answer = stage.propose(home, "agent", topic=topic, **memory)
        assert answer.status_code == 201, answer.text
    no_moods = rule("moods", "Reject", "candidate.topic == 'mood'")
    no_taste = rule("taste", "Reject", "candidate.topic == 'taste'")
    stage.apply(policy("strict", home, no_moods), policy("trial", home, no_taste, mode="Audit"), policy("any", empty))
    stage.apply(floor("everywhere", rule("plans", "Reject", "candidate.topic == 'plan'")))
    assert impact(stage, "mpol", home, "trial", 1) == {"memories": 4, "wouldReject": 1}
    assert impact(stage, "mpol", home, "strict", 1) == {"memories": 4, "wouldReject": 2}
    assert impact(stage, "cmpol", "", "everywhere", 1)["wouldReject"] == 1  # In all workspaces together.
    assert impact(stage, "mpol", empty, "any", 1) == {"memories": 0}
    stage.apply(policy("strict", home, rule("plans", "RequireConfirmation", "candidate.topic == 'plan'")))
    assert impact(stage, "mpol", home, "strict", 2) == {"memories": 4}  # The floor refuses it already.
    counted = operator.metrics()['memwarden_operator_reconciles_total{unit="Impact"}']
    stage.propose(home, "agent", topic="other", **memory | {"content": "one more"})
    stage.kubectl("label", "mpol", "strict", "-n", home, "touched=yes")
    time.sleep(2)  # Longer than the delay after which a count begins.
    assert operator.metrics()['memwarden_operator_reconciles_total{unit="Impact"}'] == counted
    assert impact(stage, "mpol", home, "strict", 2) == {"memories": 4}


def impact(stage, kind: str, home: str, name: str, generation: int) -> dict[str, int]:
    """Wait until a generation was counted, and return what is not zero."""

    def found() -> dict:
        return stage.get(kind, home, name)["status"].get("impact", {})

    stage.wait(
        lambda: found().get("observedGeneration") == generation, f"impact of {kind}/{name}", lambda: str(found())
    )
    return {"memories": found()["memories"]} | {key: count for key, count in found().items() if count and key in SHOWN}
