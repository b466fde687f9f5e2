"""What the tests of retention share: a workspace's rules, memories, and time that passes for one of them."""

import asyncio
import time
from datetime import timedelta

from memwarden_service.database import Database
from memwarden_service.migrate import sqlalchemy_url
from serving import stack
from serving.stack import proposal

DAY = timedelta(days=1)
BASE = [
    stack.grant("agents", [stack.account("agent")], access="Write", onBehalfOf=["**"]),
    stack.grant("people", [stack.user("alice")], access="Write"),
    stack.grant("bosses", [stack.user("boss")], access="Admin"),
    stack.policy("all", "Accept"),
]


def keeping(name, domain, **retention):
    spec = {"selector": {"domains": [domain]}, "retention": retention}
    return {"kind": "MemoryPolicy", "name": name, "spec": spec}


def kept(client, domain, **more):
    answer = client.post("/v1/memories", json=proposal(f"Said at {time.monotonic_ns()}.", domain, **more))
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def shift(database, memory, span):
    """Let time pass for one memory: every moment of it moves back."""
    moments = ("in_force_from", "since", "last_confirmed_at", "ends_at", "valid_until", "delete_at")
    with database.admin() as admin:
        for table in ("memory", "memory_version"):
            admin.execute(
                f"""update memwarden.{table} set {", ".join(f"{name} = {name} - %(span)s" for name in moments)},
                falls = (select jsonb_agg(e || jsonb_build_object('until', (e ->> 'until')::timestamptz - %(span)s))
                  from jsonb_array_elements(falls) e) where id = %(id)s""",
                {"span": span, "id": memory},
            )


def run(database, work):
    """Run work on a database of its own in this process."""

    async def inside():
        made = Database(sqlalchemy_url(database.url))
        try:
            return await work(made)
        finally:
            await made.close()

    return asyncio.run(inside())


def rows_of(database, memory):
    """Return how many rows anywhere still speak of a memory."""
    with database.admin() as admin:
        return {
            table: admin.execute(f"select count(*) from memwarden.{table} where {column} = %s", (memory,)).fetchone()[0]
            for table, column in (
                ("memory", "id"),
                ("memory_version", "id"),
                ("intake", "id"),
                ("feedback", "memory_id"),
                ("candidate", "target"),
            )
        }


def journaled(client, memory):
    entries = client.get("/v1/journal?limit=100").json()["entries"]
    return [
        (each["action"], each["detail"].get("by"))
        for each in entries
        if memory in each["detail"].get("memories", ()) or each["object"] == memory
    ]
