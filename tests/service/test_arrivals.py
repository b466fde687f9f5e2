"""Repetition and bursts: counted where they are recorded, per source, and held against no other."""

import pytest

from memwarden_policy.screening import counting
from serving import stack
from serving.stack import proposal

RULES = [
    stack.grant("agents", [stack.account("tool"), stack.account("other")], access="Write"),
    stack.grant("people", [stack.user("boss")], access="Admin"),
    stack.policy("all", "Accept"),
]
FEW, MANY = counting.BURST
ALIKE_FEW, ALIKE_MANY = counting.SIMILAR


@pytest.fixture(scope="module")
def hall(service, operator, cluster):
    operator.put("hall", RULES)
    clients = {name: service.client(cluster.token("hall", name)) for name in ("tool", "other")}
    clients["boss"] = service.client(operator.key("hall", "boss-key", "boss"))
    yield clients
    for client in clients.values():
        client.close()


def said(client, content, domain="d", source="tool_result", **more):
    answer = client.post("/v1/memories", json=proposal(content, domain, source=source, **more))
    assert answer.status_code in (201, 202), answer.text
    return answer.json()["status"]


def test_the_same_words_again_and_again_from_a_tool_are_set_apart(hall):
    states = [said(hall["other"], f"Invoice {n}: Acme pays {n} francs late.") for n in range(ALIKE_MANY + 2)]
    assert states[:ALIKE_MANY] == ["confirmed"] * ALIKE_MANY
    assert states[ALIKE_MANY:] == ["held", "held"]
    assert said(hall["other"], "Something else altogether.") == "confirmed"
    assert said(hall["tool"], "Invoice 99: Acme pays 99 francs late.") == "confirmed"  # Another source.
    waiting = hall["boss"].get("/v1/candidates?domain=d").json()["candidates"]
    assert {each["state"] for each in waiting} == {"quarantined"}


def test_a_burst_from_a_tool_is_set_apart_and_other_sources_are_not(hall):
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    texts = [f"{one} meets {other}" for one in words for other in words][: MANY + 2]
    states = [said(hall["tool"], text, "burst") for text in texts]
    # One was said in the test before.
    assert states[: MANY - 1] == ["confirmed"] * (MANY - 1)
    assert states[-1] == "held"
    assert said(hall["tool"], "What the agent itself concludes.", "burst", "agent_extracted") == "confirmed"
    assert said(hall["other"], "What another tool says.", "burst") == "confirmed"


def test_nothing_but_keyed_hashes_is_kept_of_it(hall, database):
    said(hall["other"], "A canary sings of arrivals.", "marks")
    with database.admin() as admin:
        rows = admin.execute("select to_jsonb(a)::text from memwarden.arrival a").fetchall()
    assert rows
    assert not any("canary" in row[0] or "other" in row[0] for row in rows)
