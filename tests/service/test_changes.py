"""Changes of what is in force: edits, feedback, revocation and history; rules on updates, deletions and reading."""

import pytest

from serving import stack
from serving.stack import proposal

FIXED = {
    "kind": "MemoryPolicy",
    "name": "fixed",
    "spec": {
        "selector": {"domains": ["fixed/**"]},
        "update": [{"name": "never", "action": "Reject", "message": "This stays as it is."}],
        "delete": [{"name": "never", "action": "Reject"}],
    },
}
ASKED = {
    "kind": "MemoryPolicy",
    "name": "asked",
    "spec": {
        "selector": {"domains": ["asked/**"]},
        "update": [{"name": "ask", "action": "RequireConfirmation", "confirmation": {"fourEyes": True}}],
        "delete": [{"name": "ask", "action": "RequireConfirmation"}],
    },
}
READING = {
    "kind": "MemoryPolicy",
    "name": "reading",
    "spec": {
        "selector": {"domains": ["pages/**"]},
        "recall": [
            {"name": "guesses", "when": "memory.confidence < 0.75", "action": "Hide"},
            {"name": "careful", "when": "'careful' in memory.tags", "action": "Flag"},
        ],
        "provenance": {"blockedSources": ["web:*"]},
    },
}
FEEDBACK = {
    "kind": "MemoryPolicy",
    "name": "feedback",
    "spec": {"selector": {"domains": ["strict/**"]}, "feedback": {"confirm": 0.05, "onReject": "Delete"}},
}
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", onBehalfOf=["**"]),
    stack.grant("people", [stack.user("alice"), stack.user("bob")], access="Write"),
    stack.grant("readers", [stack.user("rita"), stack.account("reader")], access="Read"),
    stack.grant("bosses", [stack.user("boss"), stack.user("chief")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7 || candidate.source == 'user_stated'"),
    stack.policy("secret", "Reject", "candidate.content.contains('password')", priority=10),
    FIXED,
    ASKED,
    READING,
    FEEDBACK,
]


@pytest.fixture(scope="module")
def shop(service, operator, cluster):
    put = operator.put("shop", RULES)
    assert all(each["accepted"] for each in put["objects"]), put
    clients = {
        name: service.client(operator.key("shop", f"{name}-key", name))
        for name in ("alice", "bob", "rita", "boss", "chief")
    }
    token = cluster.token("shop", "agent")
    clients["agent"] = service.client(token)
    clients["reader"] = service.client(cluster.token("shop", "reader"))
    for person in ("alice", "bob"):
        clients[f"for {person}"] = service.client(token, **{"Memwarden-On-Behalf-Of": person})
    yield clients
    for client in clients.values():
        client.close()


def kept(client, content, **more) -> str:
    answer = client.post("/v1/memories", json=proposal(content, **{"confidence": 0.9, **more}))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def feed(client, memory, feedback_id, kind, **more):
    body = {"feedback_id": feedback_id, "kind": kind, **more}
    return client.post(f"/v1/memories/{memory}/feedback", json=body)


def problem(answer) -> str:
    return answer.json()["type"].rpartition(":")[2]


def last_entry(shop):
    return shop["boss"].get("/v1/journal?limit=1").json()["entries"][0]


def test_feedback_moves_the_confidence_and_counts_once(shop):
    made = kept(shop["agent"], "Feedback moves me.", confidence=0.75)
    first = feed(shop["alice"], made, "f1", "confirm", reason="I saw it.")
    assert (first.status_code, first.json()["confidence"], first.json()["version"]) == (200, 0.85, 2)
    entry = last_entry(shop)
    assert (entry["action"], entry["actor"], entry["detail"]) == (
        "memory.feedback.confirm",
        "APIKey:alice-key",
        {"reason": "I saw it."},
    )
    assert feed(shop["alice"], made, "f1", "confirm", reason="I saw it.").json() == first.json()
    assert problem(feed(shop["alice"], made, "f1", "reject")) == "idempotency-key-reused"
    # Another person's feedback of the same id is another feedback.
    assert feed(shop["bob"], made, "f1", "reject").json()["confidence"] == 0.55
    for index in range(3):
        answer = feed(shop["alice"], made, f"down-{index}", "reject")
    assert answer.json()["confidence"] == 0.0
    memory = shop["agent"].get(f"/v1/memories/{made}").json()
    assert (memory["confidence"], memory["version"]) == (0.0, 6)
    assert memory["last_confirmed_at"] is not None


def test_feedback_by_the_policys_numbers_may_delete_and_does_not_come_back(shop):
    made = kept(shop["agent"], "Strict fact.", domain="strict/a", confidence=0.9)
    assert feed(shop["alice"], made, "c", "confirm").json()["confidence"] == 0.95
    gone = feed(shop["alice"], made, "r", "reject")
    assert (gone.status_code, gone.json()["status"]) == (200, "revoked")
    assert shop["agent"].get(f"/v1/memories/{made}").status_code == 404
    assert feed(shop["alice"], made, "r", "reject").json() == gone.json()
    again = shop["agent"].post("/v1/memories", json=proposal("Strict fact.", domain="strict/a", confidence=0.99))
    assert (again.status_code, again.json()["rules"]) == (403, ["builtin/rejected-before"])


def test_feedback_takes_a_person_who_may_write(shop):
    made = kept(shop["agent"], "Who may say so?")
    assert problem(feed(shop["agent"], made, "a", "confirm")) == "person-required"
    assert problem(feed(shop["for alice"], made, "a", "confirm")) == "person-required"
    assert problem(feed(shop["rita"], made, "a", "confirm")) == "forbidden"
    assert feed(shop["alice"], made, "a", "edit").status_code == 422
    assert feed(shop["alice"], made, "a", "confirm", content="x").status_code == 422


def test_an_edit_is_a_new_version_and_the_old_one_stays_readable(shop):
    made = kept(shop["agent"], "Acme has one office.", value={"offices": 1})
    tag = shop["alice"].get(f"/v1/memories/{made}").headers["etag"]
    edited = feed(shop["alice"], made, "e", "edit", content="Acme has two offices.", reason="Counted.")
    assert (edited.status_code, edited.json()["confidence"]) == (200, 0.8)
    stale = shop["alice"].patch(f"/v1/memories/{made}", json={"content": "x"}, headers={"If-Match": tag})
    assert problem(stale) == "stale-version"
    patched = shop["alice"].patch(f"/v1/memories/{made}", json={"value": {"offices": 2}})
    assert (patched.status_code, patched.json()["version"]) == (200, 3)
    history = shop["reader"].get(f"/v1/memories/{made}/history").json()["versions"]
    assert [(each["version"], each["content"], each["status"]) for each in history] == [
        (3, "Acme has two offices.", "confirmed"),
        (2, "Acme has two offices.", "superseded"),
        (1, "Acme has one office.", "superseded"),
    ]
    assert [each["value"]["offices"] for each in history] == [2, 1, 1]
    assert (history[2]["ended_by"], history[2]["ended_reason"]) == ("APIKey:alice-key", "Counted.")
    page = shop["reader"].get(f"/v1/memories/{made}/history?limit=2").json()
    rest = shop["reader"].get(f"/v1/memories/{made}/history", params={"limit": 2, "cursor": page["next"]}).json()
    assert [each["version"] for each in (*page["versions"], *rest["versions"])] == [3, 2, 1]
    # What the agent says again is answered with what stands now.
    again = shop["agent"].post(
        "/v1/memories", json=proposal("Acme has two offices.", value={"offices": 2}, confidence=0.9)
    )
    assert (again.status_code, again.json()["id"]) == (201, made)


def test_rules_on_writing_hold_for_edits_too(shop, database):
    made = kept(shop["agent"], "Harmless.")
    for client in (shop["alice"], shop["agent"], shop["boss"]):
        answer = client.patch(f"/v1/memories/{made}", json={"content": "The password is 4711."})
        assert (problem(answer), answer.json()["rules"]) == ("policy-refused", ["MemoryPolicy/secret/rule"])
    assert shop["boss"].get(f"/v1/decisions/{answer.json()['decision']}").json()["point"] == "update"
    with database.admin() as admin:
        for table in ("memory", "candidate", "memory_version", "decision", "journal", "feedback"):
            found = admin.execute(
                f"select count(*) from memwarden.{table} t where t::text ~ 'password is 4711'"
            ).fetchone()
            assert found == (0,), table


def test_an_agent_does_not_change_on_a_word_it_may_not_claim(shop):
    made = kept(shop["agent"], "Claimed.")
    answer = shop["agent"].patch(f"/v1/memories/{made}", json={"content": "Other.", "source": "user_stated"})
    assert (problem(answer), answer.json()["rules"]) == ("policy-refused", ["builtin/may-claim"])
    held = shop["agent"].patch(f"/v1/memories/{made}", json={"content": "A guess.", "source": "reasoning"})
    assert (held.status_code, held.json()["status"]) == (202, "held")


def test_what_is_fixed_is_neither_changed_nor_deleted(shop):
    made = kept(shop["agent"], "Fixed.", domain="fixed/a")
    for answer in (
        shop["boss"].patch(f"/v1/memories/{made}", json={"content": "Loose."}),
        feed(shop["alice"], made, "e", "edit", content="Loose."),
    ):
        assert (problem(answer), answer.json()["rules"]) == ("policy-refused", ["MemoryPolicy/fixed/never"])
    assert "This stays as it is." in answer.json()["detail"]
    assert problem(shop["boss"].delete(f"/v1/memories/{made}")) == "policy-refused"
    assert problem(feed(shop["alice"], made, "d", "delete")) == "policy-refused"
    assert shop["agent"].get(f"/v1/memories/{made}").json()["version"] == 1


def test_a_change_that_needs_a_person_waits_like_a_candidate(shop):
    made = kept(shop["agent"], "Asked.", domain="asked/a")
    held = shop["agent"].patch(f"/v1/memories/{made}", json={"content": "Changed.", "reason": "It moved."})
    assert (held.status_code, held.json()["status"], held.json()["version"]) == (202, "held", 1)
    candidate = held.json()["candidate"]
    shown = shop["boss"].get(f"/v1/candidates/{candidate}").json()
    assert (shown["content"], shown["change"]) == ("Changed.", {"kind": "edit", "memory": made, "version": 1})
    assert shop["boss"].post(f"/v1/candidates/{candidate}/confirm").json()["status"] == "approved"
    assert shop["agent"].get(f"/v1/memories/{made}").json()["content"] == "Asked."
    assert shop["chief"].post(f"/v1/candidates/{candidate}/confirm").json()["status"] == "confirmed"
    assert shop["agent"].get(f"/v1/memories/{made}").json()["content"] == "Changed."
    deletion = shop["agent"].delete(f"/v1/memories/{made}", params={"reason": "Old."})
    late = shop["agent"].delete(f"/v1/memories/{made}").json()["candidate"]
    assert deletion.status_code == 202
    candidate = deletion.json()["candidate"]
    assert shop["boss"].post(f"/v1/candidates/{candidate}/confirm").json()["status"] == "confirmed"
    assert shop["agent"].get(f"/v1/memories/{made}").status_code == 404
    assert problem(shop["boss"].post(f"/v1/candidates/{late}/confirm")) == "conflict"
    assert shop["boss"].post(f"/v1/candidates/{late}/reject").status_code == 200


def test_a_person_whose_yes_would_do_changes_at_once(shop):
    made = kept(shop["agent"], "Deleted by the boss.", domain="asked/a")
    assert shop["alice"].delete(f"/v1/memories/{made}").status_code == 202
    assert shop["boss"].delete(f"/v1/memories/{made}").json()["status"] == "revoked"


def test_what_is_revoked_is_served_to_nobody_and_its_history_says_what_it_was(shop):
    made = kept(shop["agent"], "Revoked.")
    assert problem(shop["reader"].delete(f"/v1/memories/{made}")) == "forbidden"
    assert shop["alice"].delete(f"/v1/memories/{made}", params={"reason": "Not so."}).status_code == 200
    assert shop["agent"].get(f"/v1/memories/{made}").status_code == 404
    assert made not in shop["agent"].get("/v1/memories?limit=100").text
    version = shop["agent"].get(f"/v1/memories/{made}/history").json()["versions"][0]
    assert (version["status"], version["ended_by"], version["ended_reason"]) == (
        "revoked",
        "APIKey:alice-key",
        "Not so.",
    )
    assert kept(shop["agent"], "Revoked.") != made


def test_what_comes_to_a_place_supersedes_what_was_there(shop):
    place = {"topic": "phone", "subject": "acme"}
    old = kept(shop["agent"], "Call 1.", **place)
    other = kept(shop["agent"], "Call them.", topic="phone")
    new = kept(shop["agent"], "Call 2.", **place)
    assert shop["agent"].get(f"/v1/memories/{old}").status_code == 404
    version = shop["agent"].get(f"/v1/memories/{old}/history").json()["versions"][0]
    assert (version["status"], version["successor"]) == ("superseded", new)
    assert shop["agent"].get(f"/v1/memories/{other}").status_code == 200
    mine = kept(shop["for alice"], "My own number.", private=True, **place)
    assert shop["agent"].get(f"/v1/memories/{new}").status_code == 200
    assert shop["for alice"].get(f"/v1/memories/{mine}").status_code == 200


def test_a_place_that_is_protected_is_not_taken(shop):
    place = {"topic": "phone", "subject": "acme", "domain": "fixed/b"}
    old = kept(shop["agent"], "Call 1.", **place)
    answer = shop["agent"].post("/v1/memories", json=proposal("Call 2.", confidence=0.9, **place))
    assert (problem(answer), answer.json()["rules"]) == ("policy-refused", ["MemoryPolicy/fixed/never"])
    assert shop["agent"].get(f"/v1/memories/{old}").status_code == 200


def test_a_procedure_changes_only_by_a_persons_leave(shop):
    how = {"memory_type": "procedural", "topic": "deploy"}
    old = kept(shop["agent"], "Deploy by hand.", **how)
    answer = shop["agent"].post("/v1/memories", json=proposal("Deploy by robot.", confidence=0.99, **how))
    assert answer.status_code == 202
    assert shop["agent"].get(f"/v1/memories/{old}").status_code == 200
    assert shop["boss"].post(f"/v1/candidates/{answer.json()['id']}/confirm").status_code == 200
    assert shop["agent"].get(f"/v1/memories/{old}").status_code == 404


def test_a_term_ends_at_its_moment(shop, database):
    made = kept(shop["agent"], "Holds for now.", valid_until="2999-01-01T00:00:00Z")
    with database.admin() as admin:
        admin.execute("update memwarden.memory set valid_until = now() where id = %s", (made,))
    assert shop["agent"].get(f"/v1/memories/{made}").status_code == 404
    assert made not in shop["agent"].get("/v1/memories?limit=100").text
    assert feed(shop["alice"], made, "x", "confirm").status_code == 404
    assert shop["agent"].get(f"/v1/memories/{made}/history").json()["versions"][0]["status"] == "expired"
    assert kept(shop["agent"], "Holds for now.") != made
    past = proposal("Past.", valid_until="2020-01-01T00:00:00Z")
    assert shop["agent"].post("/v1/memories", json=past).status_code == 422


def test_hidden_memories_are_not_there_and_pages_stay_whole(shop):
    agent, domain = shop["agent"], "pages/a"
    shown = []
    for index in range(12):
        made = kept(agent, f"Page {index}.", domain=domain, confidence=0.9 if index % 3 == 0 else 0.72)
        shown += [made] if index % 3 == 0 else []
    hidden = kept(agent, "Hidden.", domain=domain, confidence=0.72)
    assert agent.get(f"/v1/memories/{hidden}").status_code == 404
    assert agent.get(f"/v1/memories/{hidden}/history").status_code == 404
    assert feed(shop["alice"], hidden, "h", "confirm").status_code == 404
    listed, cursor, pages = [], None, []
    while True:
        params = {"domain": domain, "limit": 3, **({"cursor": cursor} if cursor else {})}
        page = agent.get("/v1/memories", params=params).json()
        pages.append(len(page["memories"]))
        listed += [each["id"] for each in page["memories"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert (listed, pages) == (shown[::-1], [3, 1])


def test_a_flag_goes_with_the_memory_and_names_the_rule(shop):
    made = kept(shop["agent"], "Take care.", domain="pages/b", tags=["careful"])
    flag = {"rules": ["MemoryPolicy/reading/careful"]}
    assert shop["reader"].get(f"/v1/memories/{made}").json()["flag"] == flag
    assert shop["reader"].get("/v1/memories?domain=pages/b").json()["memories"][0]["flag"] == flag
    assert shop["reader"].get(f"/v1/memories/{made}/history").json()["versions"][0]["flag"] == flag


def test_a_source_that_is_blocked_now_is_not_read_either(shop, operator):
    made = kept(shop["agent"], "From the web.", domain="blocked/a", source_uri="web:x")
    assert shop["reader"].get(f"/v1/memories/{made}").status_code == 200
    blocked = {"selector": {"domains": ["blocked/**"]}, "provenance": {"blockedSources": ["web:*"]}}
    operator.put("shop", [*RULES, {"kind": "MemoryPolicy", "name": "blocked", "spec": blocked}])
    assert shop["reader"].get(f"/v1/memories/{made}").status_code == 404
    assert (
        shop["agent"]
        .post("/v1/memories", json=proposal("More of it.", domain="blocked/a", source_uri="web:y", confidence=0.9))
        .status_code
        == 403
    )
    operator.put("shop", RULES)


def test_history_and_feedback_of_a_private_memory_are_its_owners(shop):
    made = kept(shop["for alice"], "Alice's own.", private=True)
    for name in ("for bob", "bob", "agent", "boss", "chief", "rita", "reader"):
        client = shop[name]
        assert client.get(f"/v1/memories/{made}/history").status_code == 404, name
        assert client.patch(f"/v1/memories/{made}", json={"content": "x"}).status_code == 404, name
        assert client.delete(f"/v1/memories/{made}").status_code == 404, name
        assert feed(client, made, "p", "confirm").status_code in (403, 404), name
    assert feed(shop["bob"], made, "p", "confirm").status_code == 404
    assert feed(shop["alice"], made, "p", "edit", content="Alice's own, mended.", reason="Mine.").status_code == 200
    versions = shop["for alice"].get(f"/v1/memories/{made}/history").json()["versions"]
    assert [each["version"] for each in versions] == [2, 1]
    assert "Mine." not in shop["boss"].get("/v1/journal?limit=20").text
    assert shop["alice"].delete(f"/v1/memories/{made}").status_code == 200
    assert shop["bob"].get(f"/v1/memories/{made}/history").status_code == 404
