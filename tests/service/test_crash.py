"""kill -9 under writes: every acknowledged write is there once, nothing is there by half, and the journal verifies."""

import random
import threading
import time
import uuid

import httpx2
import pytest

from serving import stack

KILLS = 4
WRITERS = 4
SECONDS_BETWEEN_KILLS = (0.3, 0.9)


class Writer(threading.Thread):
    """Writes one thing after another with an idempotency key each, and again until it is acknowledged."""

    def __init__(self, url: str, token: str, mark: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.url, self.token, self.mark, self.stop_event = url, token, mark, stop
        self.acknowledged: dict[str, str] = {}
        self.failures: list[str] = []

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx2.Client(base_url=self.url, headers=headers, timeout=5) as client:
            while not self.stop_event.is_set():
                content = f"Writer {self.mark} says {uuid.uuid4()}."
                self.write(client, content)

    def write(self, client: httpx2.Client, content: str) -> None:
        key = {"Idempotency-Key": str(uuid.uuid4())}
        while not self.stop_event.is_set():
            try:
                answer = client.post("/v1/memories", json=stack.proposal(content), headers=key)
            except httpx2.HTTPError:
                time.sleep(0.05)
                continue
            if answer.status_code in (409, 503):
                time.sleep(0.05)
                continue
            if answer.status_code == 201:
                self.acknowledged[content] = answer.json()["id"]
            else:
                self.failures.append(answer.text)
            return


@pytest.fixture
def crashing(server, cluster):
    where = stack.folder("crash")
    database = stack.make_database(server, f"crash-{uuid.uuid4().hex[:8]}")
    running = stack.start_service(database, cluster, where)
    yield database, running, where
    running.kill()
    stack.remove(where)


def test_no_acknowledged_write_is_lost_or_doubled(crashing, cluster):
    database, running, where = crashing
    admin_token = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
    with running.client(admin_token) as client:
        operator = stack.Operator(cluster=cluster, client=client)
        operator.put("crash", [stack.grant("g", [stack.account("agent")], access="Write"), stack.policy("p", "Accept")])
    stop, chooser = threading.Event(), random.Random(7)  # noqa: S311 - a seed that comes back
    writers = [Writer(running.url, cluster.token("crash", "agent"), mark, stop) for mark in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(KILLS):
            time.sleep(chooser.uniform(*SECONDS_BETWEEN_KILLS))
            running.kill()
            again = stack.start_service(database, cluster, where, port=running.port)
            running.process, running.log = again.process, again.log
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert [failure for writer in writers for failure in writer.failures] == []
    acknowledged = {content: each for writer in writers for content, each in writer.acknowledged.items()}
    assert len(acknowledged) > KILLS * WRITERS
    check(database, acknowledged)


def check(database, acknowledged: dict[str, str]) -> None:
    with database.admin() as admin:
        stored = admin.execute("select content, id::text from memwarden.memory").fetchall()
        assert dict(stored) == acknowledged  # The last of each writer was acknowledged too: nothing more is there.
        assert len(stored) == len(acknowledged)
        counts = "select count(*) from memwarden.{}"
        for table in ("decision", "intake"):
            assert admin.execute(counts.format(table)).fetchone() == (len(stored),)
        admin.execute("select set_config('memwarden.workspace', (select id::text from memwarden.workspace), true)")
        entries, bad, matches = admin.execute("select * from memwarden.journal_verification()").fetchone()
        assert (entries, bad, matches) == (len(stored) + 1, None, True)
