"""One policy, one token, one of each answer."""

from serving.stack import proposal


def test_a_sure_memory_is_in_force(support):
    answer = support.post("/v1/memories", json=proposal("Acme pays late.", confidence=0.9))
    assert answer.status_code == 201, answer.text
    memory = support.get(f"/v1/memories/{answer.json()['id']}")
    assert memory.status_code == 200
    assert memory.json()["content"] == "Acme pays late."


def test_an_unsure_memory_waits(support):
    answer = support.post("/v1/memories", json=proposal("Acme may move.", confidence=0.5))
    assert answer.status_code == 202
    assert support.get(f"/v1/memories/{answer.json()['id']}").status_code == 404


def test_a_forbidden_memory_is_refused(support):
    answer = support.post("/v1/memories", json=proposal("Secret.", category="forbidden"))
    assert answer.status_code == 403
    body = answer.json()
    assert body["type"].endswith("policy-refused")
    assert body["rules"] == ["MemoryPolicy/never/rule"]
