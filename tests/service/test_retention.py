"""Retention on the real database: exact without the job, kept by any number of jobs, taken up after a kill, held."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from memwarden_service import terms
from memwarden_service.database import Database
from memwarden_service.migrate import sqlalchemy_url
from serving.retaining import BASE, DAY, journaled, keeping, kept, rows_of, run, shift
from serving.stack import proposal

RULES = [
    *BASE,
    keeping("short", "short/**", ttl="7d"),
    keeping("doubtful", "doubtful/**", lowConfidence={"below": 0.3, "for": "30d"}),
    keeping(
        "stale",
        "stale/**",
        rules=[{"name": "unconfirmed", "where": {"last_confirmed_at": {"lte": "now() - 30d"}}, "action": "Delete"}],
    ),
]


@pytest.fixture(scope="module")
def archive(service, operator, cluster):
    put = operator.put("archive", RULES)
    assert all(each["accepted"] for each in put["objects"]), put
    clients = {name: service.client(operator.key("archive", f"{name}-key", name)) for name in ("alice", "boss")}
    token = cluster.token("archive", "agent")
    clients["agent"] = service.client(token)
    clients["for alice"] = service.client(token, **{"Memwarden-On-Behalf-Of": "alice"})
    yield clients
    for client in clients.values():
        client.close()


def test_a_ttl_is_told_and_is_exact_without_any_job(archive, database):
    memory = kept(archive["agent"], "short/a")
    shown = archive["agent"].get(f"/v1/memories/{memory}").json()
    ends, began = (datetime.fromisoformat(shown[name]) for name in ("ends_at", "in_force_from"))
    assert (ends - began, shown["ends_by"]) == (7 * DAY, "MemoryPolicy/short: ttl")
    shift(database, memory, ends - datetime.now(UTC) - timedelta(seconds=1.5))
    assert archive["agent"].get(f"/v1/memories/{memory}").status_code == 200
    time.sleep(1.6)
    for address in (f"/v1/memories/{memory}", f"/v1/memories/{memory}/history"):
        assert archive["agent"].get(address).status_code == 404, address
    listed = archive["agent"].get("/v1/memories?domain=short/a").json()["memories"]
    assert memory not in [each["id"] for each in listed]


def test_reading_extends_nothing_and_what_ends_is_deleted_with_its_past_and_journaled(archive, database):
    memory = kept(archive["agent"], "short/b")
    edit = {"content": "Put otherwise.", "reason": "clearer"}
    assert archive["agent"].patch(f"/v1/memories/{memory}", json=edit).status_code == 200
    assert (
        archive["alice"]
        .post(f"/v1/memories/{memory}/feedback", json={"feedback_id": "one", "kind": "confirm"})
        .status_code
        == 200
    )
    run(database, terms.keep_terms)
    before = archive["agent"].get(f"/v1/memories/{memory}").json()["ends_at"]
    for _ in range(3):
        assert archive["agent"].get(f"/v1/memories/{memory}").json()["ends_at"] == before
    assert rows_of(database, memory)["memory_version"] == 2
    shift(database, memory, 7 * DAY)
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
    assert ("memory.expired", "MemoryPolicy/short: ttl") in journaled(archive["boss"], memory)
    assert archive["boss"].get("/v1/journal/verification").json()["ok"]


def test_low_confidence_counts_from_the_fall_and_a_rise_saves(archive, database):
    lost, saved = (kept(archive["agent"], "doubtful/a", confidence=0.5) for _ in range(2))
    for memory in (lost, saved):
        answer = archive["alice"].post(f"/v1/memories/{memory}/feedback", json={"feedback_id": "no", "kind": "reject"})
        assert answer.json()["confidence"] == 0.2
        shift(database, memory, 20 * DAY)
    archive["alice"].post(f"/v1/memories/{lost}/feedback", json={"feedback_id": "no again", "kind": "reject"})
    for index in range(2):
        archive["alice"].post(f"/v1/memories/{saved}/feedback", json={"feedback_id": f"yes {index}", "kind": "confirm"})
    for memory in (lost, saved):
        shift(database, memory, 11 * DAY)
    run(database, terms.keep_terms)
    assert ("memory.expired", "MemoryPolicy/doubtful: lowConfidence") in journaled(archive["boss"], lost)
    assert archive["agent"].get(f"/v1/memories/{lost}").status_code == 404
    assert archive["agent"].get(f"/v1/memories/{saved}").status_code == 200


def test_a_rule_and_a_deletion_date_and_a_term_each_end(archive, database):
    soon = (datetime.now(UTC) + DAY).isoformat()
    stale, dated, term = (
        kept(archive["agent"], "stale/a"),
        kept(archive["agent"], "other/a", delete_at=soon),
        kept(archive["agent"], "other/a", valid_until=soon),
    )
    for memory in (stale, dated, term):
        shift(database, memory, 31 * DAY)
    run(database, terms.keep_terms)
    for memory, by in ((stale, "MemoryPolicy/stale/unconfirmed"), (dated, "delete_at"), (term, "valid_until")):
        assert ("memory.expired", by) in journaled(archive["boss"], memory)
    assert not any(rows_of(database, dated).values())
    versions = archive["agent"].get(f"/v1/memories/{term}/history").json()["versions"]
    assert [each["status"] for each in versions] == ["expired"]  # Its past may be read: nothing asked to delete it.
    past = archive["agent"].post("/v1/memories", json=proposal("Late.", "other/a", delete_at="2020-01-01T00:00:00Z"))
    assert (past.status_code, past.json()["errors"][0]["path"]) == (422, "body.delete_at")


def test_a_legal_hold_beats_them_all_until_it_is_lifted(archive, database):
    memory = kept(archive["agent"], "short/c")
    hold = {"reason": "case 7/2026"}
    for other in ("agent", "alice"):
        assert archive[other].put(f"/v1/memories/{memory}/hold", json=hold).status_code == 403, other
    assert archive["boss"].put(f"/v1/memories/{memory}/hold", json=hold).status_code == 204
    shown = archive["agent"].get(f"/v1/memories/{memory}").json()["hold"]
    assert (shown["reason"], shown["by"]) == ("case 7/2026", "APIKey:boss-key")
    shift(database, memory, 400 * DAY)
    run(database, terms.keep_terms)
    assert archive["agent"].get(f"/v1/memories/{memory}").status_code == 200
    refused = archive["boss"].delete(f"/v1/memories/{memory}")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:memwarden:problem:on-legal-hold")
    assert archive["boss"].delete(f"/v1/memories/{memory}/hold?reason=closed").status_code == 204
    assert archive["agent"].get(f"/v1/memories/{memory}").status_code == 404  # Due long ago.
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
    assert archive["boss"].delete(f"/v1/memories/{memory}/hold").status_code == 404
    assert {"memory.hold.put", "memory.hold.lifted"} <= {action for action, _ in journaled(archive["boss"], memory)}


def test_a_shorter_policy_holds_at_once_and_a_longer_one_saves_what_is_due(archive, database, operator):
    memory, other = kept(archive["agent"], "later/a"), kept(archive["agent"], "later/b")
    shift(database, memory, 10 * DAY)
    shift(database, other, 10 * DAY)
    operator.put("archive", [*RULES, keeping("new", "later/a", ttl="5d"), keeping("more", "later/b", ttl="20d")])
    assert archive["agent"].get(f"/v1/memories/{memory}").status_code == 404  # No job has run since.
    assert archive["agent"].get(f"/v1/memories/{other}").status_code == 200
    operator.put("archive", RULES)
    assert archive["agent"].get(f"/v1/memories/{memory}").status_code == 200
    run(database, terms.keep_terms)
    assert rows_of(database, memory)["memory"] == 1


def test_private_memories_end_too_and_the_journal_tells_nobody_else(archive, database):
    memory = kept(archive["for alice"], "short/d", private=True)
    shift(database, memory, 8 * DAY)
    run(database, terms.keep_terms)
    assert not any(rows_of(database, memory).values())
    assert journaled(archive["boss"], memory) == []


def test_jobs_at_once_end_each_memory_once(archive, database):
    memories = [kept(archive["agent"], "short/e") for _ in range(30)]
    for memory in memories:
        shift(database, memory, 8 * DAY)

    async def three(_):
        made = [Database(sqlalchemy_url(database.url)) for _ in range(3)]
        try:
            await asyncio.gather(*(terms.keep_terms(each) for each in made))
        finally:
            for each in made:
                await each.close()

    run(database, three)
    assert ended(archive["boss"], memories) == sorted(memories)
    assert archive["boss"].get("/v1/journal/verification").json()["ok"]


def ended(client, memories):
    """Return the memories of which the journal says that they ended, each as often as it says so."""
    entries = client.get("/v1/journal?limit=100").json()["entries"]
    told = [each for entry in entries if entry["action"] == "memory.expired" for each in entry["detail"]["memories"]]
    return sorted(each for each in told if each in memories)


JOB = """
import asyncio, sys
from memwarden_service import terms
from memwarden_service.database import Database
from memwarden_service.migrate import sqlalchemy_url
terms.RECKONED_AT_ONCE = terms.ENDED_AT_ONCE = 5
asyncio.run(terms.keep_terms(Database(sqlalchemy_url(sys.argv[1]))))
"""


def test_a_job_that_is_killed_is_taken_up_where_it_stopped(archive, database, operator):
    memories = [kept(archive["agent"], "killed/a") for _ in range(120)]
    for memory in memories:
        shift(database, memory, 8 * DAY)
    operator.put("archive", [*RULES, keeping("killed", "killed/**", ttl="7d")])
    left, rounds = 120, 0
    while left and rounds < 60:
        job = subprocess.Popen([sys.executable, "-c", JOB, database.url])
        time.sleep(0.6 + 0.03 * rounds)
        job.send_signal(signal.SIGKILL)
        job.wait()
        rounds += 1
        with database.admin() as admin:
            query = "select count(*) from memwarden.memory where id = any (%s::uuid[])"
            left = admin.execute(query, (memories,)).fetchone()[0]
    assert left == 0
    assert ended(archive["boss"], memories) == sorted(memories)
    assert archive["boss"].get("/v1/journal/verification").json()["ok"]
    operator.put("archive", RULES)


def test_the_metrics_tell_of_the_job(archive, database, service):
    found = json.dumps(service.metrics())
    for name in ("memwarden_retention_last_success_timestamp_seconds", "memwarden_retention_lag_seconds"):
        assert name in found
    for by in ("ttl", "lowConfidence", "rule", "delete_at", "valid_until"):
        assert f'memwarden_ended_memories_total{{by=\\"{by}\\"}}' in found
