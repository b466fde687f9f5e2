"""Who may do what, as one table that a person can read: `access.golden`. To accept a change: MEMWARDEN_GOLDEN=write."""

import os
import uuid
from pathlib import Path

import pytest

from serving import stack
from serving.sweep import DOORS

GOLDEN = Path(__file__).parent / "access.golden"
RULES = [
    stack.grant("readers", [stack.account("reader"), stack.user("reader")], access="Read", domains=["open/**"]),
    stack.grant("writers", [stack.account("writer")], access="Write", domains=["open/**"]),
    stack.grant("admins", [stack.account("admin"), stack.user("boss")], access="Admin"),
    stack.grant("leads", [stack.user("lead")], access="Admin", domains=["open/**"]),
    stack.grant("seeders", [stack.account("seeder")], access="Write", onBehalfOf=["**"]),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
]
ACTORS = (
    "nobody",
    "stranger",
    "ungranted",
    "reader",
    "writer",
    "admin",
    "reader-p",
    "about-p",
    "lead-p",
    "boss-p",
    "operator",
)
MEMORIES = ("open/x", "closed/x", "open/x private")


class Stage:
    """The actors, and a seeder who puts something new in place for each question."""

    def __init__(self, service, cluster, operator):
        audience = f"memwarden:{stack.STORE_UID}"
        here = {"Memwarden-Workspace": "stage"}
        self.clients = {
            "nobody": service.client(),
            "stranger": service.client(cluster.token("elsewhere", "agent"), **here),
            "operator": service.client(cluster.token("memwarden-system", "memwarden-operator", audience)),
            **{
                name: service.client(cluster.token("stage", name))
                for name in ("ungranted", "reader", "writer", "admin")
            },
            **{
                f"{name}-p": service.client(operator.key("stage", f"{name}-key", name))
                for name in ("reader", "about", "lead", "boss")
            },
        }
        token = cluster.token("stage", "seeder")
        self.seeder, self.operator = service.client(token), operator
        self.for_owner = service.client(token, **{"Memwarden-On-Behalf-Of": "owner"})

    def seed(self, resource: str, confidence: float, wanted_id: str = "id") -> str:
        domain, _, private = resource.partition(" ")
        wanted = stack.proposal(str(uuid.uuid4()), domain=domain, confidence=confidence, about="about")
        client = self.for_owner if private else self.seeder
        return client.post("/v1/memories", json={**wanted, "private": bool(private)}).json()[wanted_id]

    def close(self):
        for client in (*self.clients.values(), self.seeder, self.for_owner):
            client.close()


@pytest.fixture(scope="module")
def on_stage(service, cluster, operator):
    operator.put("stage", RULES)
    stage = Stage(service, cluster, operator)
    yield stage
    stage.close()


def questions(stage):
    """Yield (route, resource, what to call, with which body) for each route."""
    for resource in MEMORIES:
        domain, _, private = resource.partition(" ")
        body = lambda d=domain, p=private: stack.proposal(str(uuid.uuid4()), domain=d, confidence=0.9, private=bool(p))  # noqa: E731
        yield "POST /v1/memories", resource, lambda: "/v1/memories", body
        yield "GET /v1/memories/{memory_id}", resource, lambda r=resource: f"/v1/memories/{stage.seed(r, 0.9)}", None
        held = lambda r=resource: f"/v1/candidates/{stage.seed(r, 0.1)}"  # noqa: E731
        yield "GET /v1/candidates/{candidate_id}", resource, held, None
        for verb in ("confirm", "reject"):
            route = f"POST /v1/candidates/{{candidate_id}}/{verb}"
            yield route, resource, lambda h=held, v=verb: f"{h()}/{v}", None
        other = lambda: {"content": str(uuid.uuid4())}  # noqa: E731
        yield "POST /v1/candidates/{candidate_id}/edit", resource, lambda h=held: f"{h()}/edit", other
        there = lambda r=resource: f"/v1/memories/{stage.seed(r, 0.9)}"  # noqa: E731
        yield "PATCH /v1/memories/{memory_id}", resource, there, other
        yield "DELETE /v1/memories/{memory_id}", resource, there, None
        yield "GET /v1/memories/{memory_id}/history", resource, lambda t=there: f"{t()}/history", None
        word = lambda: {"feedback_id": "f", "kind": "confirm"}  # noqa: E731
        yield "POST /v1/memories/{memory_id}/feedback", resource, lambda t=there: f"{t()}/feedback", word
        hold = lambda: {"reason": "a case"}  # noqa: E731
        yield "PUT /v1/memories/{memory_id}/hold", resource, lambda t=there: f"{t()}/hold", hold
        yield "DELETE /v1/memories/{memory_id}/hold", resource, lambda t=there: f"{t()}/hold", None
        why = lambda r=resource: f"/v1/decisions/{stage.seed(r, 0.9, 'decision')}"  # noqa: E731
        yield "GET /v1/decisions/{decision_id}", resource, why, None
    asked = lambda: {"query": "anything"}  # noqa: E731
    yield "POST /v1/search", "", lambda: "/v1/search", asked
    several = lambda: {"action": "confirm", "ids": [str(uuid.uuid4())]}  # noqa: E731
    yield "POST /v1/candidates/bulk", "", lambda: "/v1/candidates/bulk", several
    offered = lambda: {"objects": [stack.policy("offered", "Reject")]}  # noqa: E731
    asked = lambda: {"vector": [1], "embedder": "e"}  # noqa: E731
    yield "POST /v1/vault/nearest", "", lambda: "/v1/vault/nearest", asked
    yield "POST /v1/policies/plan", "", lambda: "/v1/policies/plan", offered
    yield "GET /v1/policies/effective", "another", lambda: "/v1/policies/effective?subject=user:boss", None
    for path in (
        "policies",
        "policies/effective",
        "memories",
        "candidates",
        "journal",
        "journal/verification",
        "api-keys",
        "whoami",
        "settings",
    ):
        yield f"GET /v1/{path}", "", lambda p=path: f"/v1/{p}", None
    wanted = lambda: {"auto_redact_pii": False}  # noqa: E731
    yield "PUT /v1/settings", "", lambda: "/v1/settings", wanted
    new_key = lambda: {"name": f"k-{uuid.uuid4()}"}  # noqa: E731
    yield "POST /v1/api-keys", "", lambda: "/v1/api-keys", new_key
    boss = stage.clients["boss-p"]
    made = lambda: boss.post("/v1/api-keys", json=new_key()).json()["id"]  # noqa: E731
    yield "DELETE /v1/api-keys/{key_id}", "", lambda: f"/v1/api-keys/{made()}", None
    yield from admin_questions(stage, new_key)


def admin_questions(stage, new_key):
    admin = "/admin/v1/workspaces"
    yield f"GET {admin}", "", lambda: f"{admin}?limit=1", None
    about = "kind=MemoryPolicy&name=sure"
    yield f"GET {admin}/{{namespace}}/impact", "", lambda: f"{admin}/stage/impact?{about}", None
    yield f"GET {admin}/{{namespace}}/ruleset", "", lambda: f"{admin}/stage/ruleset", None
    body = lambda: stage.operator.body("stage", RULES)  # noqa: E731
    yield f"PUT {admin}/{{namespace}}/ruleset", "", lambda: f"{admin}/stage/ruleset", body
    yield f"POST {admin}/{{namespace}}/api-keys", "", lambda: f"{admin}/stage/api-keys", new_key
    query = "uid=00000000-0000-0000-0000-000000000000&term=1&counter=1"
    yield f"DELETE {admin}/{{namespace}}", "no such uid", lambda: f"{admin}/stage?{query}", None


def table(stage) -> str:
    lines = [f"{'route':<50} {'resource':<16}" + "".join(f"{actor:>10}" for actor in ACTORS)]
    for route, resource, address, body in questions(stage):
        cells = []
        for actor in ACTORS:
            answer = stage.clients[actor].request(route.split()[0], address(), json=body() if body else None)
            cells.append(answer.status_code)
        lines.append(f"{route:<50} {resource:<16}" + "".join(f"{cell:>10}" for cell in cells))
    return "\n".join([lines[0], *sorted(lines[1:])]) + "\n"


def test_the_table_is_as_it_was_reviewed(on_stage):
    made = table(on_stage)
    if os.environ.get("MEMWARDEN_GOLDEN") == "write":
        GOLDEN.write_text(made)
    assert made == GOLDEN.read_text()


def test_every_route_is_in_the_table():
    lines = GOLDEN.read_text().splitlines()[1:]
    assert {" ".join(line.split()[:2]) for line in lines} == {door.name for door in DOORS}
