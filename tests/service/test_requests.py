"""Requests that are not as they should be: a problem document with 4xx, never 5xx, and nothing of what was sent."""

import concurrent.futures
import json
import random
import socket
import string

import pytest

from serving import stack
from serving.stack import proposal
from serving.sweep import DOORS, body_of

MARK = "zebra-crossing-7731"


def post(client, content, **headers):
    return client.post("/v1/memories", content=content, headers={"Content-Type": "application/json", **headers})


def is_problem(answer, status):
    body = answer.json()
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == status
    assert body["request_id"] == answer.headers["x-request-id"]
    assert len(answer.content) < 4096
    assert MARK not in answer.text
    return True


BODIES = {
    "nothing": (b"", 400),
    "no JSON": (b"{" + MARK.encode(), 400),
    "a text": (json.dumps(MARK).encode(), 422),
    "a list": (b"[]", 422),
    "null": (b"null", 422),
    "NaN": (b'{"confidence": NaN}', 400),
    "Infinity": (b'{"confidence": -Infinity}', 400),
    "1e999": (b'{"confidence": 1e999}', 400),
    "a million digits": (b'{"confidence": ' + b"1" * 100_000 + b"}", 400),
    "deep": (b"[" * 900 + b"]" * 900, 400),
    "very deep": (b"[" * 100_000 + b"]" * 100_000, 400),
    "deep objects": (b'{"a":' * 900 + b"1" + b"}" * 900, 400),
    "a lone surrogate": (b'{"content": "\\ud800", "domain": "d", "source": "reasoning"}', 422),
    "a lone surrogate as a name": (b'{"\\udfff": 1}', 422),
    "NUL": (b'{"content": "a\\u0000b", "domain": "d", "source": "reasoning"}', 422),
    "NUL as a name": (b'{"\\u0000": 1}', 422),
    "no UTF-8": (b'{"content": "\xff\xfe"}', 400),
    "UTF-16": ('{"content": "x"}'.encode("utf-16"), 400),
    "a name twice": (b'{"content": "a", "content": "b"}', 400),
    "a name twice inside": (b'{"x": {"a": 1, "a": 2}}', 400),
    "too large": (b'{"content": "' + b"a" * 300_000 + b'"}', 413),
    "an unknown field": (json.dumps(proposal(**{MARK: MARK})).encode(), 422),
    "content too long": (json.dumps(proposal(MARK * 1000)).encode(), 422),
    "empty content": (json.dumps(proposal("")).encode(), 422),
    "a domain with a star": (json.dumps(proposal(domain="a/*")).encode(), 422),
    "an empty domain segment": (json.dumps(proposal(domain="a//b")).encode(), 422),
    "a domain with a line end": (json.dumps(proposal(domain="a\nb")).encode(), 422),
    "an unknown source": (json.dumps(proposal(source=MARK)).encode(), 422),
    "confidence over one": (json.dumps(proposal(confidence=1.0001)).encode(), 422),
    "confidence as text": (json.dumps(proposal(confidence=MARK)).encode(), 422),
    "a truth as text": (json.dumps(proposal(is_sensitive=MARK)).encode(), 422),
    "a truth as number": (json.dumps(proposal(is_sensitive=1)).encode(), 422),
    "too many tags": (json.dumps(proposal(tags=[MARK] * 17)).encode(), 422),
    "a time without a zone": (json.dumps(proposal(observed_at="2026-01-01T00:00:00")).encode(), 422),
    "a time as number": (json.dumps(proposal(observed_at=1e300)).encode(), 422),
    "a time out of range": (json.dumps(proposal(observed_at="9999-12-31T23:59:59-14:00")).encode(), 422),
    "a time as digits": (json.dumps(proposal(observed_at="1700000000")).encode(), 422),
    "a time as a date": (json.dumps(proposal(observed_at="2026-01-01")).encode(), 422),
    "a time with a space": (json.dumps(proposal(observed_at="2026-01-01 00:00:00Z")).encode(), 422),
    "confidence as digits": (json.dumps(proposal(confidence="0.5")).encode(), 422),
    "confidence as long digits": (json.dumps(proposal(confidence="0E+99999999")).encode(), 422),
    "confidence as truth": (json.dumps(proposal(confidence=True)).encode(), 422),
    "no source": (json.dumps({"domain": "d", "content": MARK}).encode(), 422),
    "private of nobody": (json.dumps(proposal(private=True)).encode(), 422),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_body_is_refused(support, name):
    content, status = BODIES[name]
    assert is_problem(post(support, content), status)


HEADERS = {
    "another type": ({"Content-Type": "text/plain"}, 415),
    "a compressed body": ({"Content-Encoding": "gzip"}, 415),
    "a workspace that is no name": ({"Memwarden-Workspace": "../x"}, 404),
    "a person that is no name": ({"Memwarden-On-Behalf-Of": "a\u0085b".encode()}, 400),
    "a person in bad UTF-8": ({"Memwarden-On-Behalf-Of": b"\xff"}, 400),
    "a person not granted": ({"Memwarden-On-Behalf-Of": "alice"}, 403),
    "a very long idempotency key": ({"Idempotency-Key": "k" * 129}, 400),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_bad_header_is_refused(support, name):
    headers, status = HEADERS[name]
    assert is_problem(post(support, json.dumps(proposal(MARK)).encode(), **headers), status)


QUERIES = {
    "limit=0": 422,
    "limit=101": 422,
    "limit=x": 422,
    "limit=1&limit=2": 200,
    f"{MARK}=1": 422,
    "domain=%00": 422,
    "domain=%ff": 200,
    f"cursor={MARK}": 422,
    "cursor=%00": 422,
    "memory_type=unknown": 422,
    f"category={'x' * 64}": 422,
    "domain=nowhere": 200,
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_bad_query_is_refused(support, query):
    answer = support.get(f"/v1/memories?{query}")
    assert answer.status_code == QUERIES[query], answer.text
    assert answer.status_code == 200 or is_problem(answer, QUERIES[query])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/memories/not-an-id", 404),
        ("GET", "/v1/memories/%00", 404),
        ("GET", "/v1/nothing", 404),
        ("DELETE", "/v1/memories", 405),
        ("PATCH", "/v1/whoami", 405),
        ("DELETE", "/v1/api-keys/%00", 403),
    ],
)
def test_a_bad_address_is_refused(support, method, path, status):
    assert is_problem(support.request(method, path), status)


ODD_PARTS = ("%00", "%0A", "a%00b", "%F0%9F%92%A9", "%ff", "..", "x" * 5_000, "%2F", "A")


@pytest.mark.parametrize("part", ODD_PARTS)
@pytest.mark.parametrize("door", [door for door in DOORS if door.ids], ids=lambda door: door.name)
def test_a_part_of_an_address_that_is_no_name_names_nothing(operator, people_boss, door, part):
    client = operator.client if door.is_admin else people_boss
    query = "?uid=00000000-0000-0000-0000-000000000000&term=1&counter=1" if door.method == "DELETE" else ""
    path = door.at(**dict.fromkeys(door.ids, part)) + (query if door.is_admin else "")
    answer = client.request(door.method, path, json=body_of(door))
    assert answer.status_code in (404, 405, 422), answer.text


@pytest.fixture(scope="module")
def people_boss(service, operator):
    operator.put("odd", [stack.grant("boss", [stack.user("boss")], access="Admin")])
    with service.client(operator.key("odd", "boss-key", "boss")) as client:
        yield client


def test_a_body_larger_than_it_says_is_cut_off(service, cluster):
    token = cluster.token("support", "agent")
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        answer = b""
        for _ in range(40):
            try:
                connection.sendall(chunk)
            except OSError:
                break
        connection.settimeout(5)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413")


def test_answers_carry_security_headers(support):
    headers = support.get("/v1/whoami").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "server" not in headers


def test_random_bodies_are_never_a_failure_of_ours(support):
    """Values from everywhere in every field, with a seed so that a failure comes back."""
    chooser = random.Random(20261201)  # noqa: S311 - a seed that comes back
    fields = ["domain", "content", "source", "topic", "memory_type", "category", "source_uri", "source_event_id"]
    fields += ["confidence", "is_sensitive", "tags", "private", "about", "observed_at", "other"]
    values = [
        None,
        True,
        0,
        -1,
        2**70,
        0.5,
        1e308,
        "",
        "x",
        "é" * 70,
        "\u202e",
        "\ufffe",
        "\U0001d54f" * 300,
        [],
        ["a", 1],
        {},
        {"a": []},
    ]
    values += ["agent_extracted", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00Z", " x ", "\t", "a/b", "e\u0301" * 100]
    seen = set()
    for _ in range(800):
        chosen = chooser.sample(fields, chooser.randint(0, 6))
        body = {**proposal(f"random {chooser.random()}"), **{name: chooser.choice(values) for name in chosen}}
        answer = post(support, json.dumps(body).encode())
        assert answer.status_code in (201, 202, 400, 403, 404, 422), (body, answer.text)
        seen.add(answer.status_code)
    assert {202, 422} <= seen


def test_random_bytes_are_never_a_failure_of_ours(support):
    chooser = random.Random(7731)  # noqa: S311 - a seed that comes back
    whole = json.dumps(proposal("bytes", confidence=0.5)).encode()
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(chooser.randint(1, 4)):
            content[chooser.randrange(len(content))] = chooser.randrange(256)
        assert post(support, bytes(content)).status_code < 500


def key() -> str:
    return "".join(random.choices(string.ascii_letters, k=20))  # noqa: S311 - a name, no secret


def test_the_same_key_and_body_is_answered_alike(support):
    wanted, headers = proposal("Once.", confidence=0.9), {"Idempotency-Key": key()}
    first, second = (support.post("/v1/memories", json=wanted, headers=headers) for _ in range(2))
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    other = support.post("/v1/memories", json=proposal("Another."), headers=headers)
    assert is_problem(other, 422)
    assert other.json()["type"].endswith("idempotency-key-reused")


def test_a_refusal_is_remembered_too(support):
    wanted, headers = proposal("No.", category="forbidden"), {"Idempotency-Key": key()}
    first, second = (support.post("/v1/memories", json=wanted, headers=headers) for _ in range(2))
    assert first.status_code == second.status_code == 403
    assert first.json()["decision"] == second.json()["decision"]


def test_at_the_same_time_one_of_many_is_recorded(support):
    headers = {"Idempotency-Key": key()}
    wanted = proposal("At the same time.", confidence=0.9)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: support.post("/v1/memories", json=wanted, headers=headers), range(16)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 201}) == 1
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 409)


def test_the_same_content_or_event_is_one_memory(support):
    wanted = proposal("Said twice.", confidence=0.9, source_event_id="event-1")
    first = support.post("/v1/memories", json=wanted)
    again = support.post("/v1/memories", json=wanted)
    same_event = support.post("/v1/memories", json={**wanted, "content": "Said otherwise."})
    same_content = support.post("/v1/memories", json=proposal("Said twice.", confidence=0.9, source_event_id="event-2"))
    assert {answer.status_code for answer in (first, again, same_event, same_content)} == {201}
    assert len({answer.json()["id"] for answer in (first, again, same_event, same_content)}) == 1


def test_two_spellings_are_one_text(support):
    first = support.post("/v1/memories", json=proposal("Cafe\u0301", confidence=0.9)).json()
    second = support.post("/v1/memories", json=proposal("Caf\u00e9", confidence=0.9)).json()
    assert first["id"] == second["id"]
    assert support.get(f"/v1/memories/{first['id']}").json()["content"] == "Caf\u00e9"


def test_pages_follow_each_other_and_a_cursor_is_bound_to_its_list(support):
    for index in range(7):
        support.post("/v1/memories", json=proposal(f"Page {index}.", domain="pages/one", confidence=0.9))
    seen, cursor = [], None
    while True:
        answer = support.get(
            "/v1/memories", params={"domain": "pages/one", "limit": 3, **({"cursor": cursor} if cursor else {})}
        )
        seen += [memory["content"] for memory in answer.json()["memories"]]
        if not answer.json()["next"]:
            break
        cursor = answer.json()["next"]
    assert seen == [f"Page {index}." for index in reversed(range(7))]
    assert support.get("/v1/memories", params={"domain": "pages/two", "cursor": cursor}).status_code == 422


def test_an_unchanged_memory_is_not_sent_again(support):
    made = support.post("/v1/memories", json=proposal("Tagged.", confidence=0.9)).json()
    first = support.get(f"/v1/memories/{made['id']}")
    again = support.get(f"/v1/memories/{made['id']}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_an_unknown_field_is_answered_with_those_that_are_known_and_never_repeated(support):
    answer = support.post("/v1/memories", json=proposal(sekret="x"))
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["message"].startswith("holds a field that is not known; it takes domain, content, source")
    assert "sekret" not in answer.text


def test_who_is_not_known_is_told_what_to_send(service):
    with service.client() as nobody:
        answer = nobody.get("/v1/whoami")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="memwarden"')
    assert "audience memwarden" in answer.json()["detail"]
