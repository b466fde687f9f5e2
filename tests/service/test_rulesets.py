"""The admin API: what is put is in force, whole, on every replica; what is bad leaves the last good in place."""

import concurrent.futures
import threading
import time
import uuid

import psycopg
import pytest

from serving import stack
from serving.stack import proposal

AGENTS = stack.grant("agents", [stack.account("agent")], access="Write")
BAD = "candidate.nonsense > 1"


@pytest.fixture
def place(operator):
    """A workspace of its own for each test."""
    return f"w-{uuid.uuid4().hex[:12]}"


def agent_of(service, cluster, place):
    return service.client(cluster.token(place, "agent"))


def judged(state: dict, name: str) -> dict:
    return next(each for each in state["objects"] if each["name"] == name)


def test_an_unchanged_put_makes_no_revision(operator, place):
    first = operator.put(place, [AGENTS, stack.policy("p", "Accept", priority=100)])
    second = operator.put(place, [stack.policy("p", "Accept", priority=100), AGENTS])
    assert second == first
    read = operator.client.get(f"/admin/v1/workspaces/{place}/ruleset").json()
    assert read == first


def test_what_is_absent_is_removed(operator, place):
    operator.put(place, [AGENTS, stack.policy("p", "Accept")])
    state = operator.put(place, [AGENTS])
    assert [each["name"] for each in state["objects"]] == ["agents"]
    assert state["revision"] == 2


def test_a_bad_version_leaves_the_last_good_in_force(operator, service, cluster, place):
    good = operator.put(place, [AGENTS, stack.policy("p", "Accept")])
    bad = operator.put(place, [AGENTS, stack.policy("p", "Reject", BAD) | {"generation": 2}])
    one = judged(bad, "p")
    assert one["accepted"] is False
    assert one["offered"]["generation"] == 2
    assert one["in_force"] == judged(good, "p")["in_force"]
    assert one["problems"]
    assert (bad["revision"], bad["digest"]) == (good["revision"], good["digest"])
    with agent_of(service, cluster, place) as agent:
        assert agent.post("/v1/memories", json=proposal("Still accepted.")).status_code == 201


def test_a_deleted_and_created_object_does_not_inherit(operator, place):
    operator.put(place, [stack.policy("p", "Accept") | {"uid": "old"}])
    state = operator.put(place, [stack.policy("p", "Reject", BAD) | {"uid": "new"}])
    assert judged(state, "p")["in_force"] is None


EDITS = (
    """update memwarden.policy_object set spec = jsonb_set(spec, '{admission,0,action}', '"Quarantine"')
      where name = 'p'""",
    "delete from memwarden.policy_object where name = 'p'",
    """update memwarden.ruleset set store = store || '{"admission_default": "Accept"}' where true""",
    "update memwarden.ruleset set digest = 'sha256:0' where true",
    """insert into memwarden.policy_object select workspace_id, kind, namespace, 'q', uid, spec, generation, digest,
      revision, offered_uid, offered_generation, offered_digest, accepted, problems, notes
      from memwarden.policy_object where name = 'p'""",
)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_by_hand_is_seen_and_mended(operator, database, place, edit):
    rules = [AGENTS, stack.policy("p", "Accept")]
    first = operator.put(place, rules)
    with database.admin(autocommit=True) as admin:
        admin.execute(f"{edit} and workspace_id = %s", (operator.uid(place),))
    seen = operator.client.get(f"/admin/v1/workspaces/{place}/ruleset").json()
    assert seen["drifted"] is True
    assert seen["revision"] == first["revision"] + 1
    mended = operator.put(place, rules)
    assert (mended["drifted"], mended["digest"]) == (False, first["digest"])
    assert mended["revision"] > seen["revision"]


ODD = (
    'ruleset set store = \'{"admission_default": {}, "reads": [], "name": 7}\'',
    "ruleset set store = '[]'",
    "ruleset set store = 'null'",
    "ruleset set store = '{}'",
    "policy_object set problems = '\"x\"', notes = '7'",
    "policy_object set problems = '[1, {}, {\"path\": 1}]', notes = '{\"reason\": 1}'",
    "policy_object set accepted = false, offered_generation = 99, offered_uid = 'x'",
    *(f"policy_object set spec = '{spec}'" for spec in ("[]", "7", '"x"', '{"admission": {}}', "1e400", "null")),
)


@pytest.mark.parametrize("edit", ODD)
@pytest.mark.parametrize("bad", [False, True])
def test_a_row_of_any_shape_stops_nobody_and_is_mended(operator, service, cluster, database, place, edit, bad):
    """Read by agents, by the list, by the verdicts, and as the last good of a version that is refused."""
    rules = [AGENTS, stack.policy("p", "Accept")]
    first = operator.put(place, rules)
    with database.admin(autocommit=True) as admin:
        admin.execute(f"update memwarden.{edit} where workspace_id = %s", (operator.uid(place),))
    with agent_of(service, cluster, place) as agent:
        assert agent.get("/v1/whoami").status_code in (200, 404)
    address = "/admin/v1/workspaces"
    listed = next(
        each
        for each in operator.client.get(f"{address}?limit=100").json()["workspaces"]
        if each["namespace"]["name"] == place
    )
    seen = operator.client.get(f"{address}/{place}/ruleset").json()
    assert listed["revision"] == seen["revision"] > first["revision"]
    if bad:
        operator.put(place, [AGENTS, stack.policy("p", "Reject", BAD)])
    mended = operator.put(place, rules)
    read = operator.client.get(f"{address}/{place}/ruleset").json()
    for state in (mended, read):
        assert (state["drifted"], state["digest"]) == (False, first["digest"])
        assert [each["accepted"] for each in state["objects"]] == [True, True]
        assert [each["offered"] for each in state["objects"]] == [each["offered"] for each in first["objects"]]
        assert [each["problems"] for each in state["objects"]] == [[], []]


@pytest.mark.parametrize("column", ["spec", "problems", "notes"])
def test_a_row_too_deep_to_be_read_back_is_not_taken(operator, database, place, column):
    operator.put(place, [stack.policy("p", "Accept")])
    deep = "[" * 900 + "]" * 900
    with database.admin(autocommit=True) as admin, pytest.raises(psycopg.errors.CheckViolation):
        admin.execute(
            f"update memwarden.policy_object set {column} = %s where workspace_id = %s", (deep, operator.uid(place))
        )


def test_a_revision_that_comes_back_is_not_taken_for_the_one_that_was(operator, service, cluster, database, place):
    """By hand the number only rises; after a restore it is as it was, with other rules behind it."""
    rules = [AGENTS, stack.policy("p", "Accept")]
    first = operator.put(place, rules)
    values = (operator.uid(place),)
    change = """update memwarden.policy_object set spec = jsonb_set(spec, '{admission,0,action}', '"Reject"')
      where name = 'p' and workspace_id = %s"""
    with agent_of(service, cluster, place) as agent, database.admin(autocommit=True) as admin:
        assert agent.post("/v1/memories", json=proposal("Before.")).status_code == 201
        admin.execute("update memwarden.ruleset set revision = 0 where workspace_id = %s", values)
        found = admin.execute("select revision from memwarden.ruleset where workspace_id = %s", values).fetchone()
        assert found[0] > first["revision"]
        operator.put(place, rules)
        assert agent.post("/v1/memories", json=proposal("Between.")).status_code == 201
        with admin.transaction():
            # As a restore writes rows: without triggers.
            admin.execute("set local session_replication_role = replica")
            admin.execute(change, values)
            admin.execute("update memwarden.ruleset set moved_in = moved_in + 1 where workspace_id = %s", values)
        assert agent.post("/v1/memories", json=proposal("After.")).status_code == 403
        assert agent.get("/v1/whoami").status_code == 200
    listed = operator.client.get(f"/admin/v1/workspaces/{place}/ruleset").json()
    assert listed["drifted"] is True


def test_a_last_good_that_was_tampered_with_is_dropped(operator, database, place):
    operator.put(place, [stack.policy("p", "Accept")])
    with database.admin(autocommit=True) as admin:
        admin.execute(
            "update memwarden.policy_object set spec = jsonb_set(spec, '{active}', 'true') where workspace_id = %s",
            (operator.uid(place),),
        )
    bad = [stack.policy("p", "Reject", BAD)]
    for _ in range(2):  # And stays so: the status does not flap.
        one = judged(operator.put(place, bad), "p")
        assert one["in_force"] is None
        assert "LastGoodLost" in {each["reason"] for each in one["problems"]}
    assert judged(operator.put(place, [stack.policy("p", "Accept")]), "p")["in_force"] is not None


def test_a_bad_text_is_a_problem_of_its_object_alone(operator, place):
    state = operator.put(place, [AGENTS, stack.policy("p", "Accept", "candidate.topic == '\x00'")])
    assert judged(state, "agents")["accepted"] is True
    assert judged(state, "p")["problems"][0]["reason"] == "BadText"


def test_a_late_operator_is_refused_everywhere(operator, place):
    put = operator.client.put
    address = f"/admin/v1/workspaces/{place}/ruleset"
    first = operator.body(place, [AGENTS])
    assert put(address, json=first).status_code == 200
    assert put(address, json=first).status_code == 200  # The same request again.
    other = {**first, "objects": []}
    assert put(address, json=other).status_code == 409
    assert put(address, json={**first, "fence": {"term": 0, "counter": 999}}).json()["type"].endswith("stale-fence")
    elsewhere = operator.body(f"{place}-x", [AGENTS])
    assert put(f"{address[:-8]}-x/ruleset", json={**elsewhere, "fence": {"term": 0, "counter": 999}}).status_code == 409


def test_counters_of_two_workspaces_may_cross(operator, place):
    first, second = operator.body(place, [AGENTS]), operator.body(f"{place}-x", [AGENTS])
    assert operator.client.put(f"/admin/v1/workspaces/{place}-x/ruleset", json=second).status_code == 200
    assert operator.client.put(f"/admin/v1/workspaces/{place}/ruleset", json=first).status_code == 200


def test_a_new_namespace_of_the_same_name_is_empty(operator, service, cluster, place):
    rules = [AGENTS, stack.policy("p", "Accept")]
    operator.put(place, rules)
    with agent_of(service, cluster, place) as agent:
        made = agent.post("/v1/memories", json=proposal("Of the old one.")).json()
        operator.uids[place] = str(uuid.uuid4())
        assert operator.put(place, rules)["revision"] == 1
        assert agent.get(f"/v1/memories/{made['id']}").status_code == 404
        assert agent.get("/v1/memories").json()["memories"] == []
        assert agent.post("/v1/memories", json=proposal("Of the old one.")).json()["id"] != made["id"]


def test_a_closed_workspace_is_reached_by_nobody(operator, service, cluster, place):
    operator.put(place, [AGENTS])
    key = operator.key(place, "k", "alice")
    operator.counter += 1
    query = {"uid": operator.uid(place), "term": 1, "counter": operator.counter}
    assert (
        operator.client.delete(f"/admin/v1/workspaces/{place}", params={**query, "uid": str(uuid.uuid4())}).status_code
        == 404
    )
    assert operator.client.delete(f"/admin/v1/workspaces/{place}", params=query).status_code == 204
    with agent_of(service, cluster, place) as agent, service.client(key) as person:
        assert agent.get("/v1/whoami").status_code == 404
        assert person.get("/v1/whoami").status_code == 401
    assert operator.client.get(f"/admin/v1/workspaces/{place}/ruleset").status_code == 404


def test_open_workspaces_are_listed_in_pages(operator, place):
    operator.put(place, [])
    seen, cursor = [], None
    while True:
        answer = operator.client.get(
            "/admin/v1/workspaces", params={"limit": 5, **({"cursor": cursor} if cursor else {})}
        )
        seen += [each["namespace"]["name"] for each in answer.json()["workspaces"]]
        cursor = answer.json()["next"]
        if not cursor:
            break
    assert seen == sorted(set(seen))
    assert place in seen


def test_a_grant_ends_at_its_moment(operator, service, cluster, place):
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    operator.put(place, [stack.grant("agents", [stack.account("agent")], access="Write", expiresAt=ends)])
    with agent_of(service, cluster, place) as agent:
        assert agent.post("/v1/memories", json=proposal("Before.")).status_code == 202
        time.sleep(2.2)
        assert agent.post("/v1/memories", json=proposal("After.")).status_code == 404


@pytest.fixture(scope="module")
def replica(database, cluster):
    where = stack.folder("replica")
    running = stack.start_service(database, cluster, where)
    yield running
    running.stop()
    stack.remove(where)


def test_a_change_is_in_force_on_every_replica_at_once(operator, service, replica, cluster, place):
    with agent_of(service, cluster, place) as here, agent_of(replica, cluster, place) as there:
        for turn in range(15):
            action, status = [("Accept", 201), ("Reject", 403), ("Quarantine", 202)][turn % 3]
            granted = [AGENTS] if turn % 5 != 4 else []
            operator.put(place, [*granted, stack.policy("p", action)])
            for agent in (there, here):
                answer = agent.post("/v1/memories", json=proposal(f"Turn {turn} {agent.base_url}."))
                assert answer.status_code == (status if granted else 404), (turn, answer.text)


def test_a_request_sees_one_revision_whole(operator, service, replica, cluster, database, place):
    """Two policies always change together; a decision by one old and one new would be seen."""

    def rules(word):
        parts = [stack.policy(f"{name}-{word}", "Accept", selector={"domains": ["both/*"]}) for name in ("one", "two")]
        return [AGENTS, *parts]

    operator.put(place, rules("odd"))
    cluster.token(place, "agent")
    stop = threading.Event()

    def write(running, mark):
        with agent_of(running, cluster, place) as agent:
            index = 0
            while not stop.is_set():
                answer = agent.post("/v1/memories", json=proposal(f"{mark} {index}.", domain="both/x"))
                assert answer.status_code in (201, 503), answer.text
                index += 1
            return index

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        writers = [
            pool.submit(write, running, f"{running.port}-{each}") for running in (service, replica) for each in (1, 2)
        ]
        try:
            for turn in range(25):
                operator.put(place, rules("odd" if turn % 2 else "even"))
        finally:
            stop.set()  # A failure must not leave the writers writing, and the test waiting for them.
        assert sum(writer.result() for writer in writers) > 25
    with database.admin() as admin:
        query = "select revision, rules from memwarden.decision where workspace_id = %s"
        found = admin.execute(query, (operator.uid(place),)).fetchall()
    by_revision = {}
    for revision, outcomes in found:
        by_revision.setdefault(revision, set()).add(tuple(sorted(each["rule"] for each in outcomes)))
    assert all(len(rules_seen) == 1 for rules_seen in by_revision.values())
    assert all(len({name.split("-")[1] for name in next(iter(seen))}) == 1 for seen in by_revision.values())
