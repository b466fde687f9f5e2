"""Questions about policies: what is enforced, what holds for whom, what a change would do; the engine by its names."""

import asyncio
import dataclasses
import json
import os
import subprocess
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from memwarden_policy.model import Caller, Candidate, MemoryType, SourceKind
from memwarden_service.database import Database
from memwarden_service.engine import MemoryPolicyEngine
from memwarden_service.migrate import sqlalchemy_url
from memwarden_service.picture import Subject, domain_id
from serving import inside, stack
from serving.stack import proposal

COMMAND = Path(__file__).parents[2] / ".venv/bin/memwarden"
MEMORIES = 20_000
MIB_MORE_MAX = 64
CPU_SECONDS_MAX = 8.0  # Of the service: a busy machine takes longer, and does no more.
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", onBehalfOf=["**"]),
    stack.grant("bosses", [stack.user("boss")], access="Admin"),
    stack.grant("leads", [stack.user("lead")], access="Admin", domains=["team/**"]),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
]
STRICTER = {
    "kind": "MemoryPolicy",
    "name": "stricter",
    "spec": {
        "admission": [{"name": "no-rumours", "action": "Reject", "when": "candidate.category == 'rumour'"}],
        "recall": [{"name": "old", "action": "Hide", "when": "memory.category == 'old'"}],
    },
}


@pytest.fixture(scope="module")
def board(service, operator, cluster):
    operator.put("board", RULES)
    clients = {name: service.client(operator.key("board", f"{name}-key", name)) for name in ("boss", "lead", "alice")}
    token = cluster.token("board", "agent")
    clients["agent"] = service.client(token)
    clients["for alice"] = service.client(token, **{"Memwarden-On-Behalf-Of": "alice"})
    yield clients
    for client in clients.values():
        client.close()


def kept(client, content, **more) -> str:
    answer = client.post("/v1/memories", json=proposal(content, confidence=0.9, **more))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def plan(client, *objects):
    return client.post("/v1/policies/plan", json={"objects": list(objects)})


def test_a_plan_counts_before_anything_is_applied(board, operator):
    rumour, old = (
        kept(board["agent"], "They merge.", category="rumour"),
        kept(board["agent"], "Was so.", category="old"),
    )
    private = kept(board["for alice"], "Alice's rumour.", category="rumour", private=True)
    answer = plan(board["boss"], STRICTER)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["counts"]["wouldReject"], body["counts"]["wouldHide"]) == (1, 1)
    assert {(each["memory"], each["count"]) for each in body["sample"]} == {(rumour, "wouldReject"), (old, "wouldHide")}
    assert private not in answer.text
    assert board["agent"].get(f"/v1/memories/{old}").status_code == 200  # Nothing was applied.
    for other in ("agent", "lead", "alice"):
        assert plan(board[other], STRICTER).status_code == 403
    operator.put("board", [*RULES, STRICTER])
    assert board["agent"].get(f"/v1/memories/{old}").status_code == 404
    impact = operator.client.get("/admin/v1/workspaces/board/impact?kind=MemoryPolicy&name=stricter").json()
    assert (impact["generation"], impact["counts"]["wouldReject"], impact["counts"]["wouldHide"]) == (1, 1, 1)
    assert operator.client.get("/admin/v1/workspaces/board/impact?kind=MemoryPolicy&name=none").status_code == 404
    operator.put("board", RULES)


def test_the_command_line_asks_the_service_for_the_plan(board, operator, service, tmp_path):
    kept(board["agent"], "They split.", category="rumour")
    token, wanted = tmp_path / "token", tmp_path / "stricter.yaml"
    token.write_text(operator.key("board", "planner-key", "boss"))
    wanted.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "memwarden.dev/v1alpha1",
                "kind": STRICTER["kind"],
                "metadata": {"name": STRICTER["name"], "namespace": "board"},
                "spec": STRICTER["spec"],
            }
        )
    )
    command = [COMMAND, "plan", "-f", wanted, "-n", "board", "--url", service.url, "--token-file", token, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["wouldReject"] >= 1
    token.write_text("mw_nobody")
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "401" in refused.stderr
    assert "mw_nobody" not in refused.stderr + refused.stdout


def test_a_plan_says_what_would_not_be_accepted(board):
    bad = stack.policy("bad", "Reject", "candidate.nothing == 1")
    answer = plan(board["boss"], bad)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"].startswith("MemoryPolicy/bad")


def test_policies_are_listed_as_enforced_to_those_who_administer_everything(board):
    first = board["boss"].get("/v1/policies?limit=3").json()
    rest = board["boss"].get("/v1/policies", params={"limit": 3, "cursor": first["next"]}).json()
    names = [(each["kind"], each["name"]) for each in (*first["policies"], *rest["policies"])]
    assert names == sorted((each["kind"], each["name"]) for each in RULES)
    assert rest["policies"][-1]["spec"] == RULES[-1]["spec"]
    assert rest["policies"][-1]["digest"].startswith("sha256:")
    assert board["agent"].get("/v1/policies").status_code == 403


def test_the_effective_policy_of_oneself_and_of_others(board):
    own = board["agent"].get("/v1/policies/effective?domain=customers/acme").json()
    assert (own["caller"], own["access_here"]) == ("ServiceAccount:board/agent", "Write")
    assert [each["policy"] for each in own["policies"]] == ["MemoryPolicy/sure"]
    subject = {"subject": "user:lead", "domain": "team/a"}
    assert board["boss"].get("/v1/policies/effective", params=subject).json()["access_here"] == "Admin"
    assert board["agent"].get("/v1/policies/effective", params=subject).status_code == 403
    assert board["boss"].get("/v1/policies/effective?subject=nobody").status_code == 422


def test_a_plan_over_many_memories_takes_seconds_and_little_memory(service, operator, database):
    operator.put("many", RULES)
    with service.client(operator.key("many", "boss-key", "boss")) as boss:
        boss.timeout = 90
        fill(database, uuid.UUID(operator.uid("many")))
        before, began = peak(service), processor(service)
        answer = plan(boss, STRICTER)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["memories"], answer.json()["counts"]["wouldReject"]) == (MEMORIES, MEMORIES // 10)
    seconds, more = processor(service) - began, (peak(service) - before) // 1024
    assert seconds < CPU_SECONDS_MAX
    assert more < MIB_MORE_MAX


def fill(database, workspace):
    domain = domain_id(workspace, "customers/acme")
    decision = uuid.uuid4()
    with database.admin() as admin:
        admin.execute("insert into memwarden.domain values (%s, %s, 'customers/acme')", (workspace, domain))
        admin.execute(
            """insert into memwarden.decision (workspace_id, id, domain_id, actor, action, rules, reason, revision,
              content_key, at) values (%s, %s, %s, 'x', 'Accept', '[]', '', 1, sha256('x'), now())""",
            (workspace, decision, domain),
        )
        admin.execute(
            """insert into memwarden.memory (workspace_id, id, domain_id, topic, memory_type, category, content, source,
              confidence, is_sensitive, tags, observed_at, proposed_by, proposed_by_person, proposed_at, decision_id,
              version, in_force_from)
            select %s, gen_random_uuid(), %s, '', 'semantic', case when n %% 10 = 0 then 'rumour' else 'fact' end,
              'Fact number ' || n, 'agent_extracted', 0.9, false, '{}', now(), 'ServiceAccount:many/agent', false,
              now(), %s, 1, now() from generate_series(1, %s) n""",
            (workspace, domain, decision, MEMORIES),
        )


def peak(service) -> int:
    """Return the most memory the service ever used, in KiB."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def processor(service) -> float:
    """Return how long the service ever kept a processor busy, in seconds."""
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def candidate(**more) -> Candidate:
    stated = Candidate(
        domain="customers/acme",
        content="Engine fact.",
        source=SourceKind.AGENT_EXTRACTED,
        confidence=Decimal("0.9"),
        observed_at=datetime.now(UTC),
    )
    return dataclasses.replace(stated, **more)


def test_the_engine_says_what_the_write_path_does(board, database):
    kept(board["agent"], "Known engine fact.", topic="engine", subject="acme", memory_type="procedural")
    ended = kept(board["agent"], "Ends soon.", valid_until="2999-01-01T00:00:00Z")
    lasting = kept(board["agent"], "Lasts.")
    with database.admin() as admin:
        admin.execute("update memwarden.memory set valid_until = now() where id = %s", (ended,))

    async def asked():
        made = Database(sqlalchemy_url(database.url))
        subject = Subject(caller=Caller.service_account("board", "agent"), workspace="board", is_at_home=True)
        engine = MemoryPolicyEngine(database=made, subject=subject, hash_key=stack.HASH_KEY.encode())
        procedure = candidate(topic="engine", subject="acme", memory_type=MemoryType.PROCEDURAL)
        try:
            assert await engine.should_store_in_long_term(candidate())
            assert not await engine.requires_user_confirmation(candidate())
            for waiting in (candidate(confidence=Decimal("0.7")), candidate(is_sensitive=True), procedure):
                assert not await engine.should_store_in_long_term(waiting)
                assert await engine.requires_user_confirmation(waiting)
            refused = candidate(source=SourceKind.SYSTEM_RULE)
            assert not await engine.should_store_in_long_term(refused)
            assert not await engine.requires_user_confirmation(refused)
            assert await engine.apply_retention_policy(uuid.UUID(ended))
            assert not await engine.apply_retention_policy(uuid.UUID(lasting))
        finally:
            await made.close()

    inside.run(asked())
    history = board["agent"].get(f"/v1/memories/{ended}/history").json()["versions"]
    assert [each["status"] for each in history] == ["expired"]
    assert asyncio.iscoroutinefunction(MemoryPolicyEngine.apply_retention_policy)
