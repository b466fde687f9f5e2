"""The system of record: asked where a policy needs its word, outside any transaction, and never trusted to answer."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from serving import stack
from serving.stack import proposal


class Record(BaseHTTPRequestHandler):
    """Answers by what the statement says."""

    asked: list = []  # noqa: RUF012 - shared by all requests on purpose

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append((self.path, question))
        match question["content"]:
            case "10":
                self._answer(200, b'{"agrees": true}')
            case "slow":
                time.sleep(2.5)
                self._answer(200, b'{"agrees": true}')
            case "moved":
                self.send_response(307)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
            case "large":
                self._answer(200, b'{"agrees": true, "x": "' + b"x" * 100_000 + b'"}')
            case "broken":
                self._answer(500, b'{"agrees": true}')
            case _:
                self._answer(200, b'{"agrees": false, "reason": "the list says 10"}')

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # Whoever asked has gone.
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def record():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Record)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/prices"
    server.shutdown()
    server.server_close()


def domain(name, glob, system) -> dict:
    return {"kind": "MemoryDomain", "name": name, "spec": {"domain": glob, "systemOfRecord": system}}


@pytest.fixture(scope="module")
def ledger(service, operator, cluster, record):
    truth = {"categories": ["price"], "detect": [{"category": "price", "when": "candidate.content.contains('EUR')"}]}
    rules = [
        stack.grant("agents", [stack.account("agent")], access="Write"),
        stack.grant("bosses", [stack.user("boss")], access="Admin"),
        {
            "kind": "MemoryPolicy",
            "name": "truth",
            "spec": {
                "admission": [
                    {"name": "all", "action": "Accept"},
                    {
                        "name": "by-reference",
                        "when": "candidate.category == 'document'",
                        "action": "Accept",
                        "reference": True,
                    },
                ],
                "sourceOfTruth": truth,
            },
        },
        domain("asked", "asked/**", {"webhook": {"url": record, "timeoutSeconds": 1}}),
        domain("closed", "closed/**", {"webhook": {"url": "http://127.0.0.1:1/", "timeoutSeconds": 1}}),
        domain("table", "table/**", {"table": {"rows": [{"subject": "tea", "value": "10"}]}}),
    ]
    put = operator.put("ledger", rules)
    if not all(each["accepted"] for each in put["objects"]):
        pytest.fail(json.dumps([each["problems"] for each in put["objects"]]))
    with (
        service.client(cluster.token("ledger", "agent")) as agent,
        service.client(operator.key("ledger", "boss-key", "boss")) as boss,
    ):
        yield agent, boss


def propose(agent, content, domain="asked/a", **more):
    return agent.post("/v1/memories", json=proposal(content, domain=domain, **{"category": "price", **more}))


def test_what_the_record_confirms_needs_nobody(ledger):
    agent, _ = ledger
    assert propose(agent, "10", subject="tea", value={"eur": 10}).status_code == 201
    path, question = Record.asked[-1]
    assert (path, question["subject"], question["value"]) == ("/prices", "tea", {"eur": 10})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("12", "the system of record says otherwise: the list says 10"),
        ("slow", "did not answer"),
        ("moved", "did not answer"),
        ("large", "did not answer"),
        ("broken", "did not answer"),
    ],
)
def test_when_it_says_otherwise_or_nothing_a_person_is_asked(ledger, content, why):
    agent, boss = ledger
    answer = propose(agent, content)
    assert answer.status_code == 202
    decision = boss.get(f"/v1/decisions/{answer.json()['decision']}").json()
    assert why in decision["explanation"]
    assert not any(path == "/elsewhere" for path, _ in Record.asked)


def test_one_that_cannot_be_reached_holds_no_write_up(ledger):
    agent, _ = ledger
    assert propose(agent, "10", domain="closed/a").status_code == 202
    assert propose(agent, "Tea is nice.", domain="closed/a", category="taste").status_code == 201


def test_the_category_is_detected_as_well_as_claimed(ledger):
    agent, boss = ledger
    answer = propose(agent, "Tea is 12 EUR.", category="")
    assert answer.status_code == 202
    assert boss.get(f"/v1/decisions/{answer.json()['decision']}").json()["detected"] == ["price"]


def test_a_table_is_a_record_too(ledger):
    agent, _ = ledger
    assert propose(agent, "10", domain="table/a", subject="tea").status_code == 201
    assert propose(agent, "11", domain="table/a", subject="tea").status_code == 202


def test_a_slow_record_keeps_no_other_write_waiting(ledger, service, cluster):
    agent, _ = ledger
    slow = threading.Thread(target=propose, args=(agent, "slow"), kwargs={"topic": "again"})
    slow.start()
    with service.client(cluster.token("ledger", "agent")) as other:
        began = time.perf_counter()
        assert propose(other, "Quick.", domain="else/a", category="taste").status_code == 201
        assert time.perf_counter() - began < 0.8
    slow.join()


def test_a_reference_is_kept_and_not_the_content(ledger, database):
    agent, _ = ledger
    answer = propose(agent, "A very long document.", category="document", source_uri="doc:4711")
    assert answer.status_code == 201
    assert agent.get(f"/v1/memories/{answer.json()['id']}").json()["content"] == "doc:4711"
    assert propose(agent, "Without an address.", category="document").status_code == 403
    with database.admin() as admin:
        found = admin.execute("select count(*) from memwarden.memory t where t::text ~ 'very long document'")
        assert found.fetchone() == (0,)
