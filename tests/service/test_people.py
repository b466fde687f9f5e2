"""People and agents in one workspace: what is private, who acts for whom, who reviews what."""

import pytest

from serving import stack
from serving.stack import proposal

RULES = [
    stack.grant(
        "agents", [stack.account("agent"), stack.account("other-agent")], access="Write", onBehalfOf=["al*", "bob"]
    ),
    stack.grant("people", [stack.user("alice"), stack.user("bob")], access="Write", mayClaim=["user_stated"]),
    stack.grant("import", [{"kind": "APIKey", "name": "nightly-import"}], access="Write"),
    stack.grant("leads", [stack.user("lead")], access="Admin", domains=["team/**"]),
    stack.grant("boss", [stack.user("boss")], access="Admin", mayClaim=["user_stated"]),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
    stack.policy("strange", "Quarantine", "candidate.category == 'strange'", priority=5),
]


@pytest.fixture(scope="module")
def people(service, operator, cluster):
    operator.put("people", RULES)
    clients = {
        name: service.client(operator.key("people", f"{name}-laptop", name))
        for name in ("alice", "bob", "lead", "boss")
    }
    clients["alice's phone"] = service.client(operator.key("people", "alice-phone", "alice"))
    token = cluster.token("people", "agent")
    clients["agent"] = service.client(token)
    clients["agent for alice"] = service.client(token, **{"Memwarden-On-Behalf-Of": "alice"})
    clients["agent for bob"] = service.client(token, **{"Memwarden-On-Behalf-Of": "bob"})
    clients["agent for carol"] = service.client(token, **{"Memwarden-On-Behalf-Of": "carol"})
    yield clients
    for client in clients.values():
        client.close()


def held(client, content, **more) -> str:
    answer = client.post("/v1/memories", json=proposal(content, confidence=0.1, **more))
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def test_an_agent_acts_only_for_those_a_grant_names(people):
    assert people["agent for alice"].get("/v1/whoami").json()["principal"] == "alice"
    assert people["agent for carol"].get("/v1/whoami").status_code == 403
    answer = people["alice"].get("/v1/whoami", headers={"Memwarden-On-Behalf-Of": "bob"})
    assert answer.status_code == 403


def test_a_private_memory_is_its_owners_alone(people):
    made = people["agent for alice"].post("/v1/memories", json=proposal("Alice is ill.", private=True, confidence=0.9))
    assert made.status_code == 201
    address = f"/v1/memories/{made.json()['id']}"
    for name, client in people.items():
        if name == "agent for carol":
            continue
        sees = name in ("alice", "alice's phone", "agent for alice")
        assert client.get(address).status_code == (200 if sees else 404), name
        listed = client.get("/v1/memories?limit=100")
        assert ("Alice is ill." in listed.text) == sees, name


def test_the_same_private_words_of_two_people_are_two_memories(people):
    wanted = proposal("My birthday is in May.", private=True, confidence=0.9, source_event_id="same-event")
    ids = {people[f"agent for {name}"].post("/v1/memories", json=wanted).json()["id"] for name in ("alice", "bob")}
    assert len(ids) == 2
    shared = people["agent"].post("/v1/memories", json={**wanted, "private": False}).json()["id"]
    assert shared not in ids


def test_the_journal_does_not_say_whose_private_memory_it_was(people):
    made = people["agent for alice"].post("/v1/memories", json=proposal("Private line.", private=True, confidence=0.9))
    journal = people["boss"].get("/v1/journal?limit=100").text
    assert made.json()["id"] not in journal
    assert made.json()["decision"] not in journal


def test_only_people_review(people):
    candidate = held(people["agent"], "Acme merges.")
    for name in ("agent", "agent for alice"):
        assert people[name].get(f"/v1/candidates/{candidate}").status_code == 404
        answer = people[name].post(f"/v1/candidates/{candidate}/confirm")
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:memwarden:problem:person-required")
        assert people[name].get("/v1/candidates").json()["candidates"] == []


def test_an_admin_of_the_domain_confirms(people):
    inside, outside = held(people["agent"], "In the team.", domain="team/a"), held(people["agent"], "Outside.")
    assert people["lead"].get(f"/v1/candidates/{outside}").status_code == 404
    assert people["lead"].post(f"/v1/candidates/{outside}/confirm").status_code == 404
    assert people["alice"].post(f"/v1/candidates/{inside}/confirm").status_code == 404
    assert [each["id"] for each in people["lead"].get("/v1/candidates").json()["candidates"]] == [inside]
    answer = people["lead"].post(f"/v1/candidates/{inside}/confirm")
    assert (answer.status_code, answer.json()) == (200, {"id": inside, "status": "confirmed", "missing": []})
    memory = people["agent"].get(f"/v1/memories/{inside}").json()
    assert (memory["content"], memory["confirmed_by"], memory["version"]) == ("In the team.", "APIKey:lead-laptop", 2)
    assert people["lead"].post(f"/v1/candidates/{inside}/confirm").status_code == 409


def test_the_person_it_is_about_confirms(people):
    candidate = held(people["agent"], "Alice leads Acme.", about="alice")
    assert people["bob"].post(f"/v1/candidates/{candidate}/confirm").status_code == 404
    assert people["alice"].post(f"/v1/candidates/{candidate}/confirm").status_code == 200


def test_a_person_confirms_what_an_agent_proposed_for_them(people):
    candidate = held(people["agent for alice"], "Alice prefers trains.", private=True)
    assert people["boss"].get(f"/v1/candidates/{candidate}").status_code == 404
    assert people["alice"].post(f"/v1/candidates/{candidate}/confirm").status_code == 200
    assert people["agent for alice"].get(f"/v1/memories/{candidate}").status_code == 200


def test_nobody_confirms_their_own_word(people):
    own = held(people["boss"], "I am the boss.", source="user_stated")
    answer = people["boss"].post(f"/v1/candidates/{own}/confirm")
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:memwarden:problem:own-proposal")
    about = held(people["alice"], "Alice said so.", about="alice", source="user_stated")
    assert people["alice's phone"].post(f"/v1/candidates/{about}/confirm").status_code == 403
    assert people["alice's phone"].post(f"/v1/candidates/{about}/reject").status_code == 200  # It may be taken back.
    assert people["boss"].post(f"/v1/candidates/{own}/reject").status_code == 200


def test_who_made_a_key_does_not_confirm_what_is_proposed_with_it(people, service):
    """Whoever administers everything can make any agent's key again, and keep it."""
    for name in ("nightly-import", "again"):
        made = people["boss"].post("/v1/api-keys", json={"name": "nightly-import"}).json()
        with service.client(made["key"]) as importer:
            candidate = held(importer, f"Imported {name}.", domain="team/a")
        answer = people["boss"].post(f"/v1/candidates/{candidate}/confirm")
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:memwarden:problem:own-proposal")
        assert people["boss"].delete(f"/v1/api-keys/{made['id']}").status_code == 204
        assert people["boss"].post(f"/v1/candidates/{candidate}/confirm").status_code == 403
        assert people["lead"].post(f"/v1/candidates/{candidate}/confirm").status_code == 200


def test_what_is_rejected_is_gone_and_does_not_come_back(people, database):
    candidate = held(people["agent"], "A rumour about Acme.", source_event_id="rumour")
    assert people["boss"].post(f"/v1/candidates/{candidate}/reject").status_code == 200
    with database.admin() as admin:
        for table in ("memory", "candidate"):
            found = admin.execute(f"select count(*) from memwarden.{table} where content = 'A rumour about Acme.'")
            assert found.fetchone() == (0,)
    for words in ("A rumour about Acme.", "a  RUMOUR about acme. "):
        again = people["agent"].post("/v1/memories", json=proposal(words, confidence=0.99))
        assert (again.status_code, again.json()["rules"]) == (403, ["builtin/rejected-before"])
    # A person may say it again: another person looks at it, and with their yes it is no longer rejected.
    again = held(people["alice"], "A rumour about Acme.", source="user_stated")
    assert people["boss"].post(f"/v1/candidates/{again}/confirm").status_code == 200
    assert (
        people["agent"].post("/v1/memories", json=proposal("A RUMOUR about Acme.", confidence=0.9)).status_code == 201
    )


def test_what_its_author_takes_back_may_come_again(people):
    own = held(people["boss"], "Said too early.", source="user_stated")
    assert people["boss"].post(f"/v1/candidates/{own}/reject").status_code == 200
    assert people["agent"].post("/v1/memories", json=proposal("Said too early.", confidence=0.9)).status_code == 201


def test_the_writer_does_not_learn_which_way_it_is_held(people):
    pending = people["agent"].post("/v1/memories", json=proposal("Pending.", confidence=0.1))
    strange = people["agent"].post("/v1/memories", json=proposal("Strange.", category="strange"))
    assert pending.status_code == strange.status_code == 202
    assert set(pending.json()) == set(strange.json())
    assert pending.json()["status"] == strange.json()["status"] == "held"
    states = {each["id"]: each["state"] for each in people["boss"].get("/v1/candidates").json()["candidates"]}
    assert (states[pending.json()["id"]], states[strange.json()["id"]]) == ("pending", "quarantined")


def test_after_the_review_the_same_words_are_answered_as_confirmed(people):
    candidate = held(people["agent"], "Repeated after review.")
    people["boss"].post(f"/v1/candidates/{candidate}/confirm")
    again = people["agent"].post("/v1/memories", json=proposal("Repeated after review.", confidence=0.1))
    assert (again.status_code, again.json()["id"]) == (201, candidate)


def test_a_review_of_another_version_is_refused(people):
    candidate = held(people["agent"], "Versioned.")
    answer = people["boss"].post(f"/v1/candidates/{candidate}/confirm", headers={"If-Match": '"another"'})
    assert answer.status_code == 412
    tag = people["boss"].get(f"/v1/candidates/{candidate}").headers["etag"]
    assert people["boss"].post(f"/v1/candidates/{candidate}/confirm", headers={"If-Match": tag}).status_code == 200


def test_a_source_nobody_granted_is_refused(people):
    for source in ("user_stated", "user_confirmed", "system_rule", "imported"):
        answer = people["agent"].post("/v1/memories", json=proposal(f"I say {source}.", source=source))
        assert answer.status_code == 403
        assert answer.json()["rules"] == ["builtin/may-claim"]


def test_refused_words_are_stored_nowhere(people, database):
    people["agent"].post("/v1/memories", json=proposal("Never to be kept.", source="imported", domain="never/kept"))
    with database.admin() as admin:
        tables = [row[0] for row in admin.execute("select tablename from pg_tables where schemaname = 'memwarden'")]
        for table in tables:
            rows = admin.execute(
                f"select count(*) from memwarden.{table} t where t::text ~ 'never/kept|Never to be kept'"
            )
            assert rows.fetchone() == (0,), table


def test_a_sensitive_memory_is_held_and_reading_it_is_written_down(people):
    candidate = people["agent"].post("/v1/memories", json=proposal("Diagnosis.", is_sensitive=True, confidence=0.99))
    assert candidate.status_code == 202
    people["boss"].post(f"/v1/candidates/{candidate.json()['id']}/confirm")
    assert people["agent"].get(f"/v1/memories/{candidate.json()['id']}").status_code == 200
    entry = people["boss"].get("/v1/journal?limit=1").json()["entries"][0]
    assert (entry["action"], entry["actor"]) == ("memory.read", "ServiceAccount:people/agent")
    assert entry["detail"] == {"memories": [candidate.json()["id"]]}


def test_the_journal_verifies_and_is_for_those_who_administer_everything(people):
    assert people["boss"].get("/v1/journal/verification").json()["ok"] is True
    for name in ("agent", "alice", "lead"):
        for path in ("/v1/journal", "/v1/journal/verification", "/v1/api-keys"):
            assert people[name].get(path).status_code == 403, (name, path)


def test_a_key_is_shown_once_and_refused_once_it_is_deleted(people, service):
    made = people["boss"].post("/v1/api-keys", json={"name": "nightly"}).json()
    assert made["key"] not in people["boss"].get("/v1/api-keys").text
    with service.client(made["key"]) as nightly:
        assert nightly.get("/v1/whoami").json()["actor"] == "APIKey:nightly"
        assert people["boss"].delete(f"/v1/api-keys/{made['id']}").status_code == 204
        assert nightly.get("/v1/whoami").status_code == 401
    assert people["boss"].post("/v1/api-keys", json={"name": "alice-phone"}).status_code == 409


def test_a_key_ends_when_it_says(people, service):
    made = people["boss"].post("/v1/api-keys", json={"name": "old", "expires_at": "2020-01-01T00:00:00Z"}).json()
    with service.client(made["key"]) as client:
        assert client.get("/v1/whoami").status_code == 401
