"""What each route asks of the database: `queries.golden`. To accept a change: MEMWARDEN_GOLDEN=write."""

import os
from pathlib import Path

from serving import inside, stack

GOLDEN = Path(__file__).parent / "queries.golden"
SHOWN_MAX = 110
STATEMENTS_PER_WRITE_MAX = 6
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", domains=["open/**"]),
    stack.grant("boss", [stack.user("boss")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
    stack.policy("never", "Reject", "candidate.category == 'no'", priority=1),
]


class Recorder:
    """Calls routes and notes what each asked."""

    def __init__(self, client, statements):
        self.client, self.statements, self.lines = client, statements, []

    async def call(self, label, headers, method, path, status, **body):
        self.statements.take()
        answer = await self.client.request(method, path, headers=headers, **body)
        assert answer.status_code == status, (label, answer.text)
        taken = self.statements.take()
        self.lines += [f"{label}: {len(taken)}", *(f"    {each[:SHOWN_MAX]}" for each in taken)]
        return answer.json() if answer.content else None


async def record(database, cluster) -> list[str]:
    async with inside.running(database.url, cluster.kubeconfig) as (service, client):
        audience = f"memwarden:{stack.STORE_UID}"
        bearer = lambda token: {"Authorization": f"Bearer {token}"}  # noqa: E731
        admin = bearer(cluster.token("memwarden-system", "memwarden-operator", audience))
        agent = bearer(cluster.token("queries", "agent"))
        operator = stack.Operator(cluster=cluster, client=None)
        calls = Recorder(client, inside.Statements(service.database))
        ruleset = "/admin/v1/workspaces/queries/ruleset"
        await calls.call("put a new ruleset", admin, "PUT", ruleset, 200, json=operator.body("queries", RULES))
        await calls.call("put it unchanged", admin, "PUT", ruleset, 200, json=operator.body("queries", RULES))
        await calls.call("put a changed one", admin, "PUT", ruleset, 200, json=operator.body("queries", RULES[:-1]))
        await calls.call("put it back", admin, "PUT", ruleset, 200, json=operator.body("queries", RULES))
        await calls.call("get a ruleset", admin, "GET", ruleset, 200)
        await calls.call("list workspaces", admin, "GET", "/admin/v1/workspaces", 200)
        body = {"name": "boss-key", "user": "boss"}
        made = await calls.call("make a person's key", admin, "POST", f"{ruleset[:-8]}/api-keys", 201, json=body)
        await write_and_read(calls, agent, bearer(made["key"]))
        return calls.lines


async def write_and_read(calls, agent, boss):
    path = "/v1/memories"
    proposal = lambda words, **more: stack.proposal(words, domain="open/x", **{"confidence": 0.9, **more})  # noqa: E731
    accepted = await calls.call("propose, accepted", agent, "POST", path, 201, json=proposal("One."))
    await calls.call("propose, repeated", agent, "POST", path, 201, json=proposal("One."))
    idempotent = {**agent, "Idempotency-Key": "once"}
    await calls.call("propose, with a key", idempotent, "POST", path, 201, json=proposal("Two."))
    held = await calls.call("propose, held", agent, "POST", path, 202, json=proposal("Three.", confidence=0.1))
    other = await calls.call("propose, held again", agent, "POST", path, 202, json=proposal("Four.", confidence=0.1))
    await calls.call("propose, refused", agent, "POST", path, 403, json=proposal("Five.", category="no"))
    await calls.call("propose, no right", agent, "POST", path, 404, json=stack.proposal("Six.", domain="closed"))
    await calls.call("get a memory", agent, "GET", f"{path}/{accepted['id']}", 200)
    await calls.call("list memories", agent, "GET", path, 200)
    await calls.call("list memories of a domain", agent, "GET", f"{path}?domain=open/x", 200)
    await calls.call("search", agent, "POST", "/v1/search", 200, json={"query": "one"})
    body = {"vector": [1], "embedder": "e"}
    await calls.call("nearest of a vault", boss, "POST", "/v1/vault/nearest", 200, json=body)
    await calls.call("whoami", agent, "GET", "/v1/whoami", 200)
    await calls.call("list candidates", boss, "GET", "/v1/candidates", 200)
    await calls.call("get a candidate", boss, "GET", f"/v1/candidates/{held['id']}", 200)
    await calls.call("confirm", boss, "POST", f"/v1/candidates/{held['id']}/confirm", 200)
    await calls.call("reject", boss, "POST", f"/v1/candidates/{other['id']}/reject", 200)
    await change_and_ask(calls, agent, boss, accepted)
    await calls.call("journal", boss, "GET", "/v1/journal", 200)
    await calls.call("verify the journal", boss, "GET", "/v1/journal/verification", 200)
    key = await calls.call("make a key", boss, "POST", "/v1/api-keys", 201, json={"name": "k"})
    await calls.call("list keys", boss, "GET", "/v1/api-keys", 200)
    await calls.call("delete a key", boss, "DELETE", f"/v1/api-keys/{key['id']}", 204)


async def change_and_ask(calls, agent, boss, accepted):
    path = f"/v1/memories/{accepted['id']}"
    more = {"domain": "open/x", "confidence": 0.1}
    proposal = lambda words: stack.proposal(words, **more)  # noqa: E731
    held = await calls.call("propose, held to be edited", agent, "POST", "/v1/memories", 202, json=proposal("Seven."))
    edited = f"/v1/candidates/{held['id']}/edit"
    await calls.call("edit a candidate", boss, "POST", edited, 200, json={"content": "Eight."})
    held = await calls.call("propose, held for many", agent, "POST", "/v1/memories", 202, json=proposal("Nine."))
    body = {"action": "confirm", "ids": [held["id"]]}
    await calls.call("review several", boss, "POST", "/v1/candidates/bulk", 200, json=body)
    await calls.call("edit a memory", boss, "PATCH", path, 200, json={"content": "Ten."})
    body = {"feedback_id": "f", "kind": "confirm"}
    await calls.call("feedback", boss, "POST", f"{path}/feedback", 200, json=body)
    await calls.call("feedback, repeated", boss, "POST", f"{path}/feedback", 200, json=body)
    await calls.call("history", agent, "GET", f"{path}/history", 200)
    await calls.call("a decision", agent, "GET", f"/v1/decisions/{accepted['decision']}", 200)
    await calls.call("revoke", boss, "DELETE", path, 200)
    await calls.call("list policies", boss, "GET", "/v1/policies", 200)
    await calls.call("effective policy", agent, "GET", "/v1/policies/effective", 200)
    body = {"objects": [stack.policy("sure", "Reject")]}
    await calls.call("plan", boss, "POST", "/v1/policies/plan", 200, json=body)


def test_each_route_asks_what_it_asked_when_it_was_reviewed(server, cluster):
    database = stack.make_database(server, "queries")
    lines = inside.run(record(database, cluster))
    made = "\n".join(lines) + "\n"
    if os.environ.get("MEMWARDEN_GOLDEN") == "write":
        GOLDEN.write_text(made)
    assert made == GOLDEN.read_text()
    counts = [int(line.split(": ")[1]) for line in lines if line.startswith("propose")]
    assert max(counts) <= STATEMENTS_PER_WRITE_MAX
