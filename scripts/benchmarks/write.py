"""A governed write over HTTP against a bare FastAPI and psycopg insert of the same row.

Both run as processes of their own on one durable PostgreSQL, and take turns; the figures are ratios of medians.
"""

import asyncio
import json
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import Figure
from local import postgres, processes

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))  # The parts that the tests of the service stand on.
from serving import stack  # noqa: E402

ROUNDS = 7
WRITES_PER_ROUND = 240
WARM_UP_WRITES = 200
CLIENTS = {1: 4.0, 8: 6.0}  # At most so many times the bare insert.
BARE_TABLE = """
create table bare (workspace_id uuid, id uuid, domain text, content text, source text, confidence numeric(4, 3),
  at timestamptz not null default now(), primary key (workspace_id, id));
grant select, insert on bare to mw_app;
"""
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write"),
    *(stack.policy(f"other-{index}", "Quarantine", selector={"domains": [f"else-{index}/*"]}) for index in range(20)),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
    stack.policy("never", "Reject", "candidate.category == 'forbidden'", priority=10),
]


@dataclass(frozen=True)
class Target:
    """Where to write, and how."""

    name: str
    port: int
    path: str
    token: str


def run() -> list[Figure]:
    """Return the ratios at one and at eight clients, and the medians behind them in milliseconds."""
    figures: list[Figure] = []
    with _running() as (governed, bare):
        for clients, goal in CLIENTS.items():
            taken = asyncio.run(_measure([governed, bare], clients))
            medians = {name: statistics.median(seconds) * 1000 for name, seconds in taken.items()}
            ratio = medians["governed"] / medians["bare"]
            name = f"governed write / bare insert, {clients} client{'s' if clients > 1 else ''}"
            figures.append({"name": name, "value": ratio, "unit": "times", "better": "lower", "goal": goal})
            for each, value in medians.items():
                label = f"{each}, time per write, {clients} client{'s' if clients > 1 else ''}"
                figures.append({"name": label, "value": value, "unit": "ms", "better": "lower", "goal": None})
    return figures


@contextmanager
def _running() -> Iterator[tuple[Target, Target]]:
    where = stack.folder("bench")
    server = postgres.start(where / "pg")
    cluster = stack.start_cluster(where / "api")
    started: list[int] = []
    try:
        database = stack.make_database(server, "bench")
        with database.admin(autocommit=True) as connection:
            connection.execute(BARE_TABLE)
        service = stack.start_service(database, cluster, where / "service")
        started.append(service.process.pid)
        token = cluster.token("support", "agent")
        admin = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
        with service.client(admin) as client:
            stack.Operator(cluster=cluster, client=client).put("support", RULES)
        bare = _start_bare(database.url, where)
        started.append(bare.pid)
        yield Target("governed", service.port, "/v1/memories", token), Target("bare", bare.port, "/", token)
    finally:
        for pid in started:
            processes.stop(pid)
        cluster.plane.stop()
        server.stop(immediately=True)
        stack.remove(where)


@dataclass(frozen=True)
class _Bare:
    pid: int
    port: int


def _start_bare(url: str, where: Path) -> _Bare:
    (where / "bare-url").write_text(url)
    port = processes.free_port()
    program = Path(__file__).parent / "_bare_insert.py"
    process = processes.start([sys.executable, program, where / "bare-url", str(port)], where / "bare.log")
    processes.wait_for(lambda: _listens(port), "The bare service", 20, where / "bare.log")
    return _Bare(pid=process.pid, port=port)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _measure(targets: list[Target], clients: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {target.name: [] for target in targets}
    for target in targets:
        await _round(target, clients, WARM_UP_WRITES)
    for _ in range(ROUNDS):
        for target in targets:
            taken[target.name].append(await _round(target, clients, WRITES_PER_ROUND))
    return taken


async def _round(target: Target, clients: int, writes: int) -> float:
    """Write so many times and return the seconds per write."""
    began = time.perf_counter()
    await asyncio.gather(*(_client(target, writes // clients, f"{began}-{each}") for each in range(clients)))
    return (time.perf_counter() - began) / (writes // clients * clients)


async def _client(target: Target, writes: int, mark: str) -> None:
    """Speak HTTP by hand on one connection: a client library would cost more than what is measured."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    for index in range(writes):
        body = json.dumps(
            {
                "domain": "customers/acme",
                "content": f"Acme prefers invoices by mail ({mark}, {index}).",
                "source": "agent_extracted",
                "confidence": 0.9,
            }
        )
        writer.write(
            f"POST {target.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {target.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        answer = await _answer(reader)
        if answer != 201:
            raise RuntimeError(f"{target.name} answered {answer}")
    writer.close()
    await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    lines: list[Any] = head.decode().lower().split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length"))
    await reader.readexactly(length)
    return int(lines[0].split()[1])
