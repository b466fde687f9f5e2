"""The queue of those who confirm: who may, how many, until when; and what a person's no leaves behind."""

from datetime import UTC, datetime

import pytest

from memwarden_service import expiry
from memwarden_service.database import Database
from memwarden_service.migrate import sqlalchemy_url
from serving import inside, stack
from serving.stack import proposal


def rule(name, action, category, **more):
    return {"name": name, "action": action, "when": f"candidate.category == '{category}'", **more}


CONFIRMATIONS = {
    "kind": "MemoryPolicy",
    "name": "confirmations",
    "spec": {
        "admission": [
            rule("report", "RequireConfirmation", "report", question="Remember that reports go out as XLSX?"),
            rule("price", "RequireConfirmation", "price", confirmation={"by": "Role", "role": "pricing"}),
            rule("pay", "RequireConfirmation", "pay", confirmation={"fourEyes": True, "expiresAfter": "2d"}),
            rule("home", "RequireConfirmation", "home", confirmation={"by": "Owner"}),
            rule("never", "Reject", "never", message="Log it instead."),
        ]
    },
}
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write", onBehalfOf=["**"]),
    stack.grant("bosses", [stack.user("boss"), stack.user("chief")], access="Admin"),
    stack.grant("pricing", [stack.user("pat")], role="pricing"),
    stack.grant("readers", [stack.user("rita"), stack.user("pat")], access="Read"),
    CONFIRMATIONS,
    stack.policy("secret", "Reject", "candidate.content.contains('password')", priority=10),
]


@pytest.fixture(scope="module")
def desk(service, operator, cluster):
    put = operator.put("desk", RULES)
    assert all(each["accepted"] for each in put["objects"]), put
    people = ("boss", "chief", "pat", "rita", "alice", "bob")
    clients = {name: service.client(operator.key("desk", f"{name}-key", name)) for name in people}
    token = cluster.token("desk", "agent")
    clients["agent"] = service.client(token)
    for person in ("alice", "bob"):
        clients[f"for {person}"] = service.client(token, **{"Memwarden-On-Behalf-Of": person})
    yield clients
    for client in clients.values():
        client.close()


def held(client, content, **more) -> str:
    answer = client.post("/v1/memories", json=proposal(content, confidence=0.5, **more))
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def confirm(client, candidate):
    return client.post(f"/v1/candidates/{candidate}/confirm")


def problem(answer) -> str:
    return answer.json()["type"].rpartition(":")[2]


def test_a_candidate_shows_the_question_and_all_that_was_proposed(desk):
    more = {"subject": "acme", "value": {"format": "XLSX", "copies": 2.0}, "reason": "They asked twice."}
    made = held(desk["agent"], "Reports go out as XLSX.", category="report", topic="reports", **more)
    shown = desk["boss"].get(f"/v1/candidates/{made}").json()
    assert shown["asks"] == {"by": [], "people": 1, "questions": ["Remember that reports go out as XLSX?"]}
    assert {name: shown[name] for name in more} == {**more, "value": {"format": "XLSX", "copies": 2}}
    assert confirm(desk["boss"], made).json() == {"id": made, "status": "confirmed", "missing": []}
    memory = desk["agent"].get(f"/v1/memories/{made}").json()
    assert (memory["subject"], memory["value"]["format"]) == ("acme", "XLSX")
    assert memory["last_confirmed_at"] is not None


def test_who_holds_the_role_confirms_and_an_admin_does_not(desk):
    made = held(desk["agent"], "The price is 10.", category="price")
    assert [each["id"] for each in desk["pat"].get("/v1/candidates?category=price").json()["candidates"]] == [made]
    assert desk["rita"].get(f"/v1/candidates/{made}").status_code == 404
    assert confirm(desk["rita"], made).status_code == 404
    refused = confirm(desk["boss"], made)
    assert (refused.status_code, problem(refused)) == (403, "forbidden")
    assert "the role pricing" in refused.json()["detail"]
    assert confirm(desk["pat"], made).status_code == 200
    assert desk["agent"].get(f"/v1/memories/{made}").status_code == 200


def test_four_eyes_are_two_people(desk):
    made = held(desk["agent"], "Acme pays within 14 days.", category="pay")
    first = confirm(desk["boss"], made)
    assert (first.status_code, first.json()["status"]) == (200, "approved")
    assert first.json()["missing"] == ["another person"]
    assert problem(confirm(desk["boss"], made)) == "conflict"
    assert desk["agent"].get(f"/v1/memories/{made}").status_code == 404
    assert desk["chief"].get(f"/v1/candidates/{made}").json()["approved_by"] == ["APIKey:boss-key"]
    assert confirm(desk["chief"], made).json()["status"] == "confirmed"
    entry = desk["boss"].get("/v1/journal?limit=1").json()["entries"][0]
    assert (entry["action"], entry["detail"]) == ("candidate.confirmed", {"approved_by": ["APIKey:boss-key"]})


def test_a_second_yes_is_told_that_the_first_was_enough(desk):
    made = held(desk["agent"], "They open at nine.")
    assert confirm(desk["boss"], made).status_code == 200
    again = confirm(desk["chief"], made)
    assert (again.status_code, problem(again)) == (409, "conflict")
    assert "in force" in again.json()["detail"]
    assert desk["agent"].post(f"/v1/candidates/{made}/confirm").status_code == 403
    assert confirm(desk["boss"], "0190a000-0000-7000-8000-000000000000").status_code == 404


def test_only_its_owner_confirms_what_is_theirs(desk):
    made = held(desk["agent"], "Alice lives in Bern.", category="home", about="alice")
    assert confirm(desk["boss"], made).status_code == 403
    assert confirm(desk["bob"], made).status_code == 404
    assert confirm(desk["alice"], made).status_code == 200


def test_the_owner_of_a_domain_reviews_in_it_and_no_more(service, operator, cluster):
    domain = {"kind": "MemoryDomain", "name": "acme", "spec": {"domain": "customers/acme", "owner": "olga"}}
    operator.put("owned", [stack.grant("agents", [stack.account("agent")], access="Write"), domain])
    with (
        service.client(cluster.token("owned", "agent")) as agent,
        service.client(operator.key("owned", "olga-key", "olga")) as olga,
    ):
        inside_, outside = held(agent, "Inside."), held(agent, "Outside.", domain="customers/other")
        assert [each["id"] for each in olga.get("/v1/candidates").json()["candidates"]] == [inside_]
        assert confirm(olga, outside).status_code == 404
        assert confirm(olga, inside_).status_code == 200
        assert olga.get(f"/v1/memories/{inside_}").status_code == 404


def test_an_edit_confirms_other_words(desk):
    made = held(desk["agent"], "Acme has 100 people.", value={"people": 100})
    answer = desk["boss"].post(f"/v1/candidates/{made}/edit", json={"content": "Acme has 120 people."})
    assert (answer.status_code, answer.json()["status"]) == (200, "confirmed")
    memory = desk["agent"].get(f"/v1/memories/{made}").json()
    assert (memory["content"], memory["value"]) == ("Acme has 120 people.", {"people": 100})
    assert (memory["source"], memory["confidence"]) == ("user_confirmed", 0.8)
    refused = held(desk["agent"], "Something harmless.")
    answer = desk["boss"].post(f"/v1/candidates/{refused}/edit", json={"content": "The password is 1234."})
    assert (answer.status_code, answer.json()["rules"]) == (403, ["MemoryPolicy/secret/rule"])


def test_other_words_need_every_yes_again(desk):
    made = held(desk["agent"], "Acme pays within 30 days.", category="pay")
    assert confirm(desk["boss"], made).json()["status"] == "approved"
    answer = desk["chief"].post(f"/v1/candidates/{made}/edit", json={"content": "Acme pays within 7 days."})
    assert answer.json() == {"id": made, "status": "approved", "missing": ["another person"]}
    assert confirm(desk["boss"], made).json()["status"] == "confirmed"


def test_filters_narrow_the_queue(desk):
    made = held(desk["for bob"], "Filtered.", category="odd", source="tool_result", domain="filters/a")
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    queue = lambda **wanted: {  # noqa: E731
        each["id"] for each in desk["boss"].get("/v1/candidates", params=wanted).json()["candidates"]
    }
    proposer = "ServiceAccount:desk/agent"
    for wanted in (
        {"domain": "filters/a"},
        {"category": "odd"},
        {"source": "tool_result"},
        {"proposed_by": proposer, "domain": "filters/a"},
        {"proposed_before": now, "category": "odd"},
        {"state": "pending", "category": "odd"},
    ):
        assert queue(**wanted) == {made}, wanted
    for nothing in (
        {"proposed_after": now},
        {"source": "imported"},
        {"proposed_by": "APIKey:x"},
        {"state": "quarantined"},
    ):
        assert made not in queue(**nothing), nothing


def test_several_are_reviewed_at_once_each_with_its_own_answer(desk):
    good, role = held(desk["agent"], "Bulk one."), held(desk["agent"], "Bulk two.", category="price")
    absent = "00000000-0000-7000-8000-000000000000"
    body = {"action": "confirm", "ids": [good, role, absent]}
    results = desk["boss"].post("/v1/candidates/bulk", json=body).json()["results"]
    assert [(each["id"], each["status"]) for each in results] == [
        (good, "confirmed"),
        (role, "problem"),
        (absent, "problem"),
    ]
    assert [each["problem"].rpartition(":")[2] for each in results[1:]] == ["forbidden", "not-found"]
    body = {"action": "reject", "ids": [role], "reason": "Wrong price."}
    assert desk["pat"].post("/v1/candidates/bulk", json=body).json()["results"][0]["status"] == "rejected"
    entry = desk["boss"].get("/v1/journal?limit=1").json()["entries"][0]
    assert (entry["action"], entry["detail"]) == ("candidate.rejected", {"reason": "Wrong price."})
    assert desk["boss"].post("/v1/candidates/bulk", json={"action": "confirm", "ids": [good] * 51}).status_code == 422
    assert problem(desk["agent"].post("/v1/candidates/bulk", json=body)) == "person-required"


def test_a_queue_never_shows_what_is_private_to_another(desk):
    made = held(desk["for alice"], "Alice's secret.", private=True)
    for name in ("bob", "boss", "chief", "pat", "for bob", "for alice"):
        assert desk[name].get(f"/v1/candidates/{made}").status_code == 404, name
        assert made not in desk[name].get("/v1/candidates?limit=100").text
        reviewed = desk[name].post("/v1/candidates/bulk", json={"action": "reject", "ids": [made]})
        is_person = not name.startswith("for ")
        assert reviewed.json()["results"][0]["status"] == "problem" if is_person else reviewed.status_code == 403
    assert desk["alice"].get(f"/v1/candidates/{made}").status_code == 200


def test_what_nobody_answered_expires_before_any_sweep(desk, database, cluster):
    made = held(desk["agent"], "Nobody answered.", category="pay")
    private = held(desk["for alice"], "Nobody answered Alice.", private=True)
    shown = desk["boss"].get(f"/v1/candidates/{made}").json()
    wait = datetime.fromisoformat(shown["expires_at"]) - datetime.fromisoformat(shown["proposed_at"])
    assert wait.days == 2
    age(database, made, private)
    assert desk["boss"].get(f"/v1/candidates/{made}").status_code == 404
    assert made not in desk["boss"].get("/v1/candidates?limit=100").text
    assert confirm(desk["boss"], made).status_code == 404
    assert desk["alice"].post(f"/v1/candidates/{private}/reject").status_code == 404
    # The same words are no longer answered as held: they are proposed anew.
    again = held(desk["agent"], "Nobody answered.", category="pay")
    assert again != made
    assert inside.run(swept(database)) >= 1
    assert inside.run(swept(database)) == 0
    with database.admin() as admin:
        left = admin.execute("select count(*) from memwarden.candidate where expires_at <= now()").fetchone()
        intake = admin.execute("select count(*) from memwarden.intake where id = any (%s::uuid[])", ([made, private],))
        assert (left, intake.fetchone()) == ((0,), (0,))
    journal = desk["boss"].get("/v1/journal?limit=10").text
    assert made in journal
    assert private not in journal


def age(database, *ids):
    """Put candidates' end into the past, as time would."""
    with database.admin() as admin:
        for table in ("candidate", "intake"):
            admin.execute(
                f"update memwarden.{table} set expires_at = now() - interval '1 s' where id = any (%s::uuid[])",
                (list(ids),),
            )


async def swept(database) -> int:
    made = Database(sqlalchemy_url(database.url))
    try:
        return await expiry.expire_due(made)
    finally:
        await made.close()


def test_a_refusal_says_why_in_one_sentence_and_is_explained_later(desk):
    answer = desk["agent"].post("/v1/memories", json=proposal("Ran 12 tests.", category="never"))
    assert answer.status_code == 403
    assert "Log it instead." in answer.json()["detail"]
    address = f"/v1/decisions/{answer.json()['decision']}"
    shown = desk["agent"].get(address).json()
    assert (shown["action"], shown["explanation"]) == ("Reject", answer.json()["detail"])
    assert [each["rule"] for each in shown["rules"] if each["action"] == "Reject"] == [
        "MemoryPolicy/confirmations/never"
    ]
    assert desk["boss"].get(address).status_code == 200
    for other in ("rita", "for alice", "alice"):
        assert desk[other].get(address).status_code == 404, other


def test_a_writer_does_not_learn_from_the_decision_how_it_is_held(desk):
    made = desk["agent"].post("/v1/memories", json=proposal("Decided quietly.", confidence=0.5)).json()
    shown = desk["agent"].get(f"/v1/decisions/{made['decision']}").json()
    assert (shown["action"], {each["action"] for each in shown["rules"]}) == ("held", {"held"})
    shown = desk["boss"].get(f"/v1/decisions/{made['decision']}").json()
    assert shown["action"] == "RequireConfirmation"


def test_a_decision_on_something_private_is_its_owners(desk):
    made = desk["for alice"].post("/v1/memories", json=proposal("Alice only.", private=True, confidence=0.5)).json()
    address = f"/v1/decisions/{made['decision']}"
    assert desk["for alice"].get(address).status_code == 200
    for other in ("boss", "agent", "for bob", "bob"):
        assert desk[other].get(address).status_code == 404, other
