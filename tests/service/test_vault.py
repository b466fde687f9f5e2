"""Vault memories: the service keeps what a client sealed, gives it to its owner, and makes nothing of it."""

import base64
import itertools
import json
import os
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from serving import stack

VAULT = {"security_mode": "vault"}
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", onBehalfOf=["**"]),
    stack.grant("people", [stack.user("ann"), stack.user("bob")], access="Write"),
    stack.grant("bosses", [stack.user("boss")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7 || candidate.source == 'user_stated'"),
    {
        "kind": "MemoryPolicy",
        "name": "health-is-sealed",
        "spec": {
            "priority": 10,
            "selector": {"domains": ["health/**"]},
            "admission": [
                {
                    "name": "seal-it",
                    "where": {"security_mode": {"ne": "vault"}},
                    "action": "Reject",
                    "message": "Seal it: this domain takes vault memories alone.",
                },
                {"name": "sealed", "when": "candidate.security_mode == 'vault'", "action": "Accept"},
            ],
        },
    },
    {
        "kind": "MemoryPolicy",
        "name": "references",
        "spec": {
            "selector": {"domains": ["linked/**"]},
            "admission": [{"name": "no-copy", "action": "Accept", "reference": True}],
        },
    },
]
numbers = itertools.count()


def sealed(words=None, key="k1"):
    """Return a text as clients seal it; what is in it nobody here can tell."""
    part = lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")  # noqa: E731
    return f"mwv1.{key}.{part(os.urandom(12))}.{part(words or os.urandom(48))}"


def vault(content=None, domain="diary", envelope=None, **more):
    body = {"content": content or sealed(), "private": True, "confidence": 0.9, "envelope": envelope or VAULT}
    return stack.proposal(domain=domain, **{**body, **more})


@pytest.fixture(scope="module")
def people(service, operator, cluster):
    put = operator.put("vaults", RULES)
    assert all(each["accepted"] for each in put["objects"]), put
    clients = {name: service.client(operator.key("vaults", f"{name}-key", name)) for name in ("ann", "bob", "boss")}
    token = cluster.token("vaults", "agent")
    clients["agent"] = service.client(token)
    clients["for ann"] = service.client(token, **{"Memwarden-On-Behalf-Of": "ann"})
    yield clients
    for client in clients.values():
        client.close()


def kept(client, **more):
    answer = client.post("/v1/memories", json=vault(**more))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def listed(client, path="/v1/memories", **wanted):
    answer = client.get(path, params={"limit": 100, **wanted})
    assert answer.status_code == 200, answer.text
    return {each["id"]: each for each in answer.json()["memories"]}


def test_a_vault_memory_is_kept_as_sealed_and_given_to_its_owner_alone(people):
    content = sealed()
    made = kept(people["for ann"], content=content, domain="diary/one")
    got = people["ann"].get(f"/v1/memories/{made}").json()
    assert got["content"] == content
    assert got["envelope"] == {
        "security_mode": "vault",
        "encryption_state": "client_ciphertext",
        "retrieval_visibility": "client_local_only",
        "server_embeddings_enabled": False,
        "server_content_search_enabled": False,
        "vault_semantic_index_opt_in": False,
        "vault_embedder": "",
    }
    for reader in ("ann", "for ann"):
        assert made in listed(people[reader], local=True)
        assert made not in listed(people[reader])
    for stranger in ("bob", "boss", "agent"):
        assert made not in {**listed(people[stranger]), **listed(people[stranger], local=True)}
        assert people[stranger].get(f"/v1/memories/{made}").status_code == 404
        assert people[stranger].get(f"/v1/memories/{made}/history").status_code == 404


def test_what_is_not_retrievable_is_in_no_list(people):
    made = kept(people["ann"], envelope={**VAULT, "retrieval_visibility": "not_retrievable"})
    assert people["ann"].get(f"/v1/memories/{made}").status_code == 200
    assert made not in {**listed(people["ann"]), **listed(people["ann"], local=True)}


def test_a_private_memory_in_the_clear_may_be_local_too(people):
    envelope = {"retrieval_visibility": "client_local_only"}
    made = kept(people["ann"], content="Walks at dawn.", envelope=envelope)
    assert listed(people["ann"], local=True)[made]["content"] == "Walks at dawn."
    assert made not in listed(people["ann"])


def test_a_domain_of_vault_memories_alone_is_suggested_to_nobody(people):
    domain = "diary/unheard-of"
    kept(people["ann"], domain=domain)
    assert domain not in people["ann"].get("/v1/whoami").text
    assert domain not in people["boss"].get("/v1/whoami").text


def test_no_plan_counts_it(people):
    """Not even the plan of the one whose it is."""
    before = planned(people["boss"])
    kept(people["boss"], domain="counted")
    assert planned(people["boss"]) == before
    people["boss"].post("/v1/memories", json=stack.proposal("Counted.", domain="counted", confidence=0.9))
    assert planned(people["boss"]) != before


def planned(client):
    objects = [stack.policy("never-counted", "Reject", selector={"domains": ["counted"]}, priority=99)]
    answer = client.post("/v1/policies/plan", json={"objects": objects})
    assert answer.status_code == 200, answer.text
    return {**answer.json(), "at": None}


def test_what_is_sealed_is_neither_cut_nor_screened(people):
    looks_like_a_key = base64.b64decode("AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7EXAMPLE")
    content = sealed(looks_like_a_key)
    made = kept(people["ann"], content=content)
    assert people["ann"].get(f"/v1/memories/{made}").json()["content"] == content


def test_the_words_beside_it_are_cut_as_ever(people):
    made = kept(people["ann"], topic="password: hunter2hunter2")
    assert "hunter2" not in people["ann"].get(f"/v1/memories/{made}").text


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"content": "In the clear."}, "body.content"),
        ({"content": "mwv1.k1.AAAAAAAAAAAAAAAA.short"}, "body.content"),
        ({"content": "mwv1.k1.AAAAAAAAAAAAAAAA." + "!" * 30}, "body.content"),
        ({"content": sealed() + "\n"}, "body.content"),
        ({"content": "mwv2" + sealed()[4:]}, "body.content"),
        ({"content": sealed() + "A" * 16_384}, "body.content"),
        ({"value": {"in": "the clear"}}, "body.value"),
        ({"private": False}, "body.private"),
        ({"envelope": {**VAULT, "retrieval_visibility": "server"}}, "body.envelope.retrieval_visibility"),
        ({"envelope": {**VAULT, "retrieval_visibility": "everybody"}}, "body.envelope.retrieval_visibility"),
        ({"envelope": {**VAULT, "server_embeddings_enabled": True}}, "body.envelope.server_embeddings_enabled"),
        ({"envelope": {**VAULT, "server_content_search_enabled": True}}, "body.envelope.server_content_search_enabled"),
        ({"envelope": {"security_mode": "safe"}}, "body.envelope.security_mode"),
        ({"envelope": {**VAULT, "encryption_state": "plaintext"}}, "body.envelope"),
        ({"envelope": {**VAULT, "vector": [1.0], "embedder": "e"}}, "body.envelope.vector"),
        ({"envelope": {**VAULT, "vault_semantic_index_opt_in": True}}, "body.envelope.vector"),
        ({"envelope": {**VAULT, "vault_semantic_index_opt_in": "yes"}}, "body.envelope.vault_semantic_index_opt_in"),
        ({"envelope": "vault"}, "body.envelope"),
        (
            {"envelope": {"retrieval_visibility": "client_local_only", "server_embeddings_enabled": True}},
            "body.envelope",
        ),
        ({"envelope": {"vault_semantic_index_opt_in": True, "vector": [1], "embedder": "e"}}, "body.envelope"),
    ],
)
def test_an_envelope_that_cannot_be_is_refused_with_its_place(people, more, field):
    answer = people["ann"].post("/v1/memories", json=vault(**more))
    assert answer.status_code == 422, answer.text
    assert any(each["path"].startswith(field) for each in answer.json()["errors"]), answer.text


@pytest.mark.parametrize(
    "vector",
    [[0, 0], ["1"], [True], [None], [1e300], [-1e7], [1] * 2049, [[1]], {"0": 1}, "1,2", 3],
)
def test_a_vector_that_is_none_is_refused(people, vector):
    envelope = {**VAULT, "vault_semantic_index_opt_in": True, "embedder": "e", "vector": vector}
    assert people["ann"].post("/v1/memories", json=vault(envelope=envelope)).status_code == 422


@pytest.mark.parametrize("vector", [[1e-300, 0], [1e-9], [1, -1e-30], [999_999.5] * 2048])
def test_a_vector_of_any_length_is_kept_at_length_one(people, database, vector):
    envelope = {**VAULT, "vault_semantic_index_opt_in": True, "embedder": "e", "vector": vector}
    made = kept(people["ann"], envelope=envelope)
    with database.admin() as admin:
        held = admin.execute("select vault_vector from memwarden.memory where id = %s", [made]).fetchone()[0]
    assert sum(number * number for number in held) == pytest.approx(1, abs=1e-4)


def test_an_envelope_is_for_life_and_its_words_are_sealed_each_time(people):
    made = kept(people["ann"])
    path = f"/v1/memories/{made}"
    assert people["ann"].patch(path, json={"content": "In the clear."}).status_code == 422
    assert people["ann"].patch(path, json={"value": 1}).status_code == 422
    assert people["ann"].patch(path, json={"content": sealed(), "vector": [1]}).status_code == 422
    assert people["ann"].patch(path, json={"content": sealed(), "envelope": {}}).status_code == 422
    again = sealed()
    assert people["ann"].patch(path, json={"content": again}).status_code == 200
    got = people["ann"].get(path).json()
    assert (got["content"], got["version"], got["envelope"]["security_mode"]) == (again, 2, "vault")
    feedback = {"feedback_id": "f", "kind": "edit", "content": "In the clear."}
    assert people["ann"].post(f"{path}/feedback", json=feedback).status_code == 422
    assert people["ann"].delete(path).status_code == 200
    assert made not in listed(people["ann"], local=True)
    versions = people["ann"].get(f"{path}/history").json()["versions"]
    assert [each["envelope"]["security_mode"] for each in versions] == ["vault", "vault"]


def test_a_memory_in_the_clear_never_holds_what_looks_sealed_by_an_edit(people):
    made = people["ann"].post("/v1/memories", json=stack.proposal("Plain.", confidence=0.9)).json()["id"]
    hidden = sealed(b"key AKIAIOSFODNN7EXAMPLE and more of it")
    assert people["ann"].patch(f"/v1/memories/{made}", json={"content": hidden}).status_code == 422


def test_the_words_of_an_index_move_with_their_vector(people, database):
    envelope = {**VAULT, "vault_semantic_index_opt_in": True, "embedder": "e", "vector": [3, 4]}
    made = kept(people["ann"], envelope=envelope)
    path = f"/v1/memories/{made}"
    assert people["ann"].patch(path, json={"content": sealed()}).status_code == 422
    assert people["ann"].patch(path, json={"content": sealed(), "vector": [1, 2, 3]}).status_code == 422
    assert people["ann"].patch(path, json={"content": sealed(), "vector": [0, 1]}).status_code == 200
    with database.admin() as admin:
        held = admin.execute("select vault_vector from memwarden.memory where id = %s", [made]).fetchone()[0]
    assert held == [0, 1]


def test_what_waits_keeps_its_envelope_when_its_owner_confirms_it(people):
    answer = people["for ann"].post("/v1/memories", json=vault(confidence=0.1))
    assert answer.status_code == 202, answer.text
    path = f"/v1/candidates/{answer.json()['id']}"
    assert people["boss"].get(path).status_code == 404
    assert people["ann"].post(f"{path}/edit", json={"content": "In the clear."}).status_code == 422
    assert people["ann"].post(f"{path}/confirm").status_code == 200
    assert listed(people["ann"], local=True)[answer.json()["id"]]["envelope"]["security_mode"] == "vault"


def test_a_policy_may_ask_for_it(people):
    refused = people["ann"].post("/v1/memories", json=stack.proposal("Has asthma.", domain="health/x", private=True))
    assert refused.status_code == 403
    assert "Seal it" in refused.text
    assert kept(people["ann"], domain="health/x", confidence=0.1)


def test_where_a_reference_is_kept_no_vault_is(people):
    body = vault(domain="linked/x", source_uri="https://example.org/1")
    answer = people["ann"].post("/v1/memories", json=body)
    assert answer.status_code == 403, answer.text
    assert "builtin/reference" in answer.json()["rules"]


def test_an_agent_for_nobody_has_no_vault(people):
    answer = people["agent"].post("/v1/memories", json=vault())
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["reason"] == "NoPrincipal"


def test_two_at_once_are_one(people):
    body = json.dumps(vault()).encode()
    post = lambda _: people["ann"].post(  # noqa: E731
        "/v1/memories", content=body, headers={"Content-Type": "application/json"}
    )
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(8)))
    assert {each.status_code for each in answers} == {201}
    assert len({each.json()["id"] for each in answers}) == 1


def near(client, vector, status=200, **more):
    body = {"vector": vector, "embedder": "e-near", **more}
    answer = client.post("/v1/vault/nearest", json=body)
    assert answer.status_code == status, answer.text
    return (
        [(each["memory"]["id"], each["score"]) for each in answer.json()["memories"]]
        if status == 200
        else answer.json()
    )


def indexed(client, vector, embedder="e-near", **more):
    envelope = {**VAULT, "vault_semantic_index_opt_in": True, "embedder": embedder, "vector": vector}
    return kept(client, envelope=envelope, **more)


def test_what_opted_in_is_found_by_vector_by_its_owner_alone(people):
    east, north = indexed(people["ann"], [1, 0.1]), indexed(people["ann"], [0, 7], domain="diary/north")
    other = indexed(people["ann"], [1, 0], embedder="another")
    longer = indexed(people["ann"], [1, 0, 0])
    silent = kept(people["ann"])
    theirs = indexed(people["bob"], [1, 0])
    found = near(people["for ann"], [5, 0])
    assert [each[0] for each in found] == [east, north]
    assert found[0][1] == pytest.approx(0.995, abs=1e-3)
    assert not {other, longer, silent, theirs} & {each[0] for each in found}
    assert [each[0] for each in near(people["ann"], [5, 0], domain="diary/north")] == [north]
    assert len(near(people["ann"], [5, 0], limit=1)) == 1
    assert [each[0] for each in near(people["bob"], [5, 0])] == [theirs]
    for stranger in ("boss", "agent"):
        assert near(people[stranger], [5, 0]) == []
    assert people["ann"].delete(f"/v1/memories/{east}").status_code == 200
    assert [each[0] for each in near(people["ann"], [5, 0])] == [north]


@pytest.mark.parametrize(
    "more",
    [
        {"vector": []},
        {"vector": [0, 0]},
        {"vector": ["1"]},
        {"vector": [1] * 2049},
        {"vector": None},
        {"embedder": ""},
        {"limit": 0},
        {"limit": 51},
        {"limit": "1"},
        {"domain": "a/*"},
        {"more": 1},
    ],
)
def test_a_question_that_is_none_is_refused(people, more):
    near(people["ann"], **{"vector": [1], "status": 422, **more})


COLUMNS = {
    "security_mode": ["standard", "vault"],
    "encryption_state": ["plaintext", "client_ciphertext", "other"],
    "retrieval_visibility": ["server", "client_local_only", "not_retrievable"],
    "server_embeddings_enabled": [False, True],
    "vault_semantic_index_opt_in": [False, True],
    "content": ["Clear.", sealed()],
}


def test_the_table_itself_takes_whole_envelopes_alone(people, database):
    """Every combination, by hand as the tables' owner: what is not served is private, what is vault is sealed."""
    made = kept(people["ann"])
    taken = []
    with database.admin(autocommit=True) as admin:
        for values in itertools.product(*COLUMNS.values()):
            row = {**dict(zip(COLUMNS, values, strict=True)), "id": str(uuid.uuid4())}
            row["server_content_search_enabled"] = row["server_embeddings_enabled"]
            row |= {"vault_vector": [1], "vault_embedder": "e"} if row["vault_semantic_index_opt_in"] else {}
            try:
                admin.execute(
                    """insert into memwarden.memory select r.* from memwarden.memory m,
                    jsonb_populate_record(m, %s) r where m.id = %s""",
                    [json.dumps(row), made],
                )
                taken.append(row)
            except psycopg.errors.CheckViolation:
                pass
        admin.execute("delete from memwarden.memory where id = any(%s)", [[each["id"] for each in taken]])
    assert taken
    for row in taken:
        is_vault = row["security_mode"] == "vault"
        assert is_vault == (row["encryption_state"] == "client_ciphertext")
        if is_vault:
            assert row["content"].startswith("mwv1.")
            assert row["retrieval_visibility"] != "server"
        if row["retrieval_visibility"] != "server":
            assert not row["server_embeddings_enabled"]
        if row["vault_semantic_index_opt_in"]:
            assert is_vault
    assert len(taken) == 2 * 2 + 2 * 2 + 2 + 1  # Served in the clear, clear and local, vault, vault by vector.
