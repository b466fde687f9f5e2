"""The running process: probes, metrics from the first moment, logs without content, a graceful end."""

import json
import re
import threading

import httpx2
import pytest

from serving import stack
from serving.sweep import DOORS

SECRET = "The launch code is 0451."


@pytest.fixture
def own(server, cluster):
    where = stack.folder("own")
    running = stack.start_service(stack.make_database(server, f"own-{where.name[-6:]}"), cluster, where)
    yield running
    running.kill()
    stack.remove(where)


def test_every_label_set_is_there_at_zero(own):
    text = own.metrics()
    for door in DOORS:
        assert f'memwarden_requests_total{{route="{door.name}",status="5xx"}} 0.0' in text
    for action in ("Accept", "RequireConfirmation", "Quarantine", "Reject"):
        assert f'memwarden_decisions_total{{action="{action}"}} 0.0' in text
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE memwarden_")}
    assert {
        "memwarden_request_seconds",
        "memwarden_pool_connections_in_use",
        "memwarden_ruleset_compile_seconds",
    } <= names


def test_probes_are_on_the_second_port_and_nothing_else(own):
    second = f"http://127.0.0.1:{own.metrics_port}"
    assert [httpx2.get(f"{second}/{path}").status_code for path in ("livez", "readyz")] == [200, 200]
    assert httpx2.get(f"{second}/v1/memories").status_code == 404


def test_it_finishes_what_is_under_way_and_logs_no_content(own, cluster):
    admin = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
    agent = cluster.token("own", "agent")
    with own.client(admin) as client:
        operator = stack.Operator(cluster=cluster, client=client)
        operator.put("own", [stack.grant("g", [stack.account("agent")], access="Write"), stack.policy("p", "Accept")])
    statuses = []

    def write():
        with own.client(agent) as client:
            for index in range(400):
                try:
                    answer = client.post("/v1/memories", json=stack.proposal(f"{SECRET} {index}"))
                except httpx2.ConnectError:
                    return
                statuses.append(answer.status_code)

    writer = threading.Thread(target=write)
    writer.start()
    while len(statuses) < 20:
        pass
    own.process.terminate()
    writer.join()
    assert own.process.wait(timeout=30) == 0
    assert set(statuses) == {201}
    log = own.log.read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert lines[-1]["message"] == "stopped"
    assert {"time", "level", "logger", "message"} <= set(lines[0])
    for secret in (SECRET, agent, admin, stack.APP_PASSWORD, stack.HASH_KEY, "customers/acme"):
        assert secret not in log
    assert not re.search(r"eyJ[A-Za-z0-9_-]{10}", log)
