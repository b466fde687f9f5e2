"""Domains by the ten thousand, and domains that nobody else is to know of."""

import uuid

import pytest

from serving import stack
from serving.stack import proposal

DOMAINS = 20_000
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", domains=["customers/**"], onBehalfOf=["alice"]),
    stack.grant("few", [stack.account("few")], access="Read", domains=["*/few/**"]),
    stack.grant("leads", [stack.user("lead")], access="Admin", domains=["customers/**"]),
    stack.grant("boss", [stack.user("boss")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
]


@pytest.fixture(scope="module")
def crowd(service, operator, cluster, database):
    """A workspace of 20,000 domains, and those who cover all, most, few and none of them."""
    operator.put("crowd", RULES)
    clients = {name: service.client(cluster.token("crowd", name)) for name in ("agent", "few", "stranger")}
    clients["agent for alice"] = service.client(cluster.token("crowd", "agent"), **{"Memwarden-On-Behalf-Of": "alice"})
    clients |= {name: service.client(operator.key("crowd", f"{name}-key", name)) for name in ("lead", "boss", "alice")}
    with database.admin(autocommit=True) as admin:
        admin.execute(
            """insert into memwarden.domain (workspace_id, id, name)
              select %s, gen_random_uuid(), 'customers/n' || n from generate_series(1, %s) n""",
            (operator.uid("crowd"), DOMAINS),
        )
    yield clients
    for client in clients.values():
        client.close()


def made(client, domain, confidence=0.9, **more) -> str:
    answer = client.post("/v1/memories", json=proposal(str(uuid.uuid4()), domain=domain, confidence=confidence, **more))
    assert answer.status_code in (201, 202), answer.text
    return answer.json()["id"]


def test_every_route_that_names_an_id_works_among_20000_domains(crowd):
    memory = made(crowd["agent"], "customers/acme")
    first, second = made(crowd["agent"], "customers/acme", 0.1), made(crowd["agent"], "customers/acme", 0.1)
    about = made(crowd["agent"], "customers/acme", 0.1, about="alice")
    for client in (crowd["agent"], crowd["lead"], crowd["boss"]):
        assert client.get(f"/v1/memories/{memory}").status_code == 200
        assert client.get(f"/v1/memories/{uuid.uuid4()}").status_code == 404
        assert client.get("/v1/memories?domain=customers/acme").status_code == 200
        assert client.get("/v1/whoami").status_code == 200
    for candidate, reviewer, verb in (
        (first, "lead", "confirm"),
        (second, "lead", "reject"),
        (about, "alice", "confirm"),
    ):
        assert crowd[reviewer].get(f"/v1/candidates/{candidate}").status_code == 200
        assert crowd[reviewer].post(f"/v1/candidates/{candidate}/{verb}").status_code == 200
    assert crowd["lead"].get("/v1/candidates?domain=customers/acme").status_code == 200
    assert crowd["few"].get(f"/v1/memories/{memory}").status_code == 404
    for path in ("/v1/journal", "/v1/journal/verification", "/v1/api-keys"):
        assert crowd["agent"].get(path).status_code == 403
        assert crowd["boss"].get(path).status_code == 200


def test_a_list_of_too_many_domains_asks_for_one(crowd):
    for client, path in ((crowd["agent"], "/v1/memories"), (crowd["lead"], "/v1/candidates")):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["errors"][0]["reason"]) == (422, "TooManyDomains")
    assert crowd["boss"].get("/v1/memories").status_code == 200


def test_how_many_domains_others_have_changes_no_answer(crowd):
    boss_only = made(crowd["boss"], "team/few/notes")
    for name in ("few", "stranger"):
        for path in ("/v1/memories", "/v1/candidates", "/v1/whoami"):
            assert crowd[name].get(path).status_code == 200, (name, path)
    assert [each["id"] for each in crowd["few"].get("/v1/memories").json()["memories"]] == [boss_only]


def test_only_domains_of_a_memory_that_the_caller_sees_are_named(crowd):
    """A private or an unconfirmed item tells nobody that its domain exists."""
    made(crowd["agent"], "customers/shared")
    made(crowd["agent for alice"], "customers/alice-secret-target", private=True)
    made(crowd["agent"], "customers/unconfirmed-target", 0.1)
    named = {name: client.get("/v1/whoami").json()["access"] for name, client in crowd.items()}
    assert all("customers/unconfirmed-target" not in access for access in named.values())
    assert {name for name, access in named.items() if "customers/shared" in access} == {
        "agent",
        "agent for alice",
        "lead",
        "boss",
    }
    assert {name for name, access in named.items() if "customers/alice-secret-target" in access} == {"agent for alice"}
