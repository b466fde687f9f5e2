"""The past of a memory under retention: it is served no longer than the memory, ends with it, is held with it."""

import time

import pytest

from memwarden_service import terms
from serving import stack
from serving.retaining import BASE, DAY, journaled, keeping, kept, rows_of, run, shift

RULES = [
    *BASE,
    keeping("short", "short/**", ttl="7d"),
    keeping("doubtful", "doubtful/**", lowConfidence={"below": 0.3, "for": "30d"}),
]


@pytest.fixture(scope="module")
def attic(service, operator, cluster):
    put = operator.put("attic", RULES)
    assert all(each["accepted"] for each in put["objects"]), put
    clients = {name: service.client(operator.key("attic", f"{name}-key", name)) for name in ("alice", "boss")}
    clients["agent"] = service.client(cluster.token("attic", "agent"))
    yield clients
    for client in clients.values():
        client.close()


def edited(clients, memory, words):
    answer = clients["alice"].patch(f"/v1/memories/{memory}", json={"content": f"{words} {time.monotonic_ns()}."})
    assert answer.status_code == 200, answer.text


def test_the_past_of_what_has_ended_is_served_to_nobody_before_the_job_has_run(attic, database):
    """An older version was believed and had no end of its own; the memory has one, and takes its past with it."""
    memory = kept(attic["agent"], "doubtful/a", confidence=0.5)
    body = {"feedback_id": "no", "kind": "reject"}
    assert attic["alice"].post(f"/v1/memories/{memory}/feedback", json=body).status_code == 200
    run(database, terms.keep_terms)
    shift(database, memory, 31 * DAY)
    assert attic["agent"].get(f"/v1/memories/{memory}").status_code == 404
    if rows_of(database, memory)["memory"]:
        assert attic["agent"].get(f"/v1/memories/{memory}/history").status_code == 404


def test_what_is_revoked_before_it_was_reckoned_ends_all_the_same(attic, database):
    memory = kept(attic["agent"], "short/a")
    edited(attic, memory, "Put otherwise")
    assert attic["boss"].delete(f"/v1/memories/{memory}").status_code == 200
    shift(database, memory, 8 * DAY)
    assert attic["agent"].get(f"/v1/memories/{memory}/history").status_code == 404
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
    assert ("memory.expired", "MemoryPolicy/short: ttl") in journaled(attic["boss"], memory)


def test_every_version_of_a_long_past_is_reckoned_by_new_rules(attic, database, operator, monkeypatch):
    monkeypatch.setattr(terms, "RECKONED_AT_ONCE", 3)
    memories = [kept(attic["agent"], "long/a") for _ in range(2)]
    for memory in memories:
        for _ in range(4):
            edited(attic, memory, "Again")
        assert attic["boss"].delete(f"/v1/memories/{memory}").status_code == 200
        shift(database, memory, 8 * DAY)
    run(database, terms.keep_terms)
    operator.put("attic", [*RULES, keeping("long", "long/**", ttl="7d")])
    run(database, terms.keep_terms)
    assert [sum(rows_of(database, memory).values()) for memory in memories] == [0, 0]
    operator.put("attic", RULES)


def test_the_past_of_what_is_held_is_kept_when_something_takes_its_place(attic, database):
    place = {"topic": "colour", "subject": "acme"}
    memory = kept(attic["agent"], "short/b", **place)
    edited(attic, memory, "Blue")
    assert attic["boss"].put(f"/v1/memories/{memory}/hold", json={"reason": "case 8"}).status_code == 204
    versions = rows_of(database, memory)["memory_version"]
    other = kept(attic["agent"], "short/b", **place)
    assert attic["agent"].get(f"/v1/memories/{memory}").status_code == 404  # It was superseded.
    shift(database, memory, 30 * DAY)
    run(database, terms.keep_terms)
    assert rows_of(database, memory)["memory_version"] == versions + 1
    assert attic["boss"].delete(f"/v1/memories/{memory}/hold").status_code == 204
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
    assert attic["agent"].get(f"/v1/memories/{other}").status_code == 200


def test_a_namespace_does_not_hold_against_the_floor(attic, database, operator):
    memory, own = kept(attic["agent"], "case/a"), kept(attic["agent"], "case/b")
    for each in (memory, own):
        shift(database, each, 8 * DAY)
    floor = {"kind": "ClusterMemoryPolicy", "name": "week", "spec": keeping("week", "case/a", ttl="7d")["spec"]}
    operator.put(
        "attic", [*RULES, floor, keeping("case", "case/**", legalHold=True), keeping("c", "case/**", ttl="7d")]
    )
    assert attic["agent"].get(f"/v1/memories/{memory}").status_code == 404
    assert attic["agent"].get(f"/v1/memories/{own}").status_code == 200
    operator.put("attic", RULES)


def test_one_workspace_that_cannot_be_read_does_not_stop_the_others(attic, database, operator, monkeypatch):
    memory = kept(attic["agent"], "short/c")
    shift(database, memory, 8 * DAY)
    operator.put("broken", [stack.policy("p", "Accept")])
    bad = operator.uid("broken")
    settle = terms.settle

    async def broken(made, workspace):
        if str(workspace) == bad:
            raise KeyError("a row that nobody expected")
        return await settle(made, workspace)

    monkeypatch.setattr(terms, "settle", broken)
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
