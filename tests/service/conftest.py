"""The parts that all tests of the service share: started once, each on free ports and in folders of their own."""

import pytest

from local import postgres
from serving import stack


def pytest_configure(config):
    # The parts run on by themselves and are stopped by process id: nobody holds their Popen.
    config.addinivalue_line("filterwarnings", "ignore:subprocess .* is still running:ResourceWarning")


@pytest.fixture(scope="session")
def server():
    where = stack.folder("pg")
    started = postgres.start(where, durable=False)
    yield started
    started.stop(immediately=True)
    stack.remove(where)


@pytest.fixture(scope="session")
def cluster():
    where = stack.folder("api")
    started = stack.start_cluster(where)
    yield started
    started.plane.stop()
    stack.remove(where)


@pytest.fixture(scope="session")
def database(server):
    return stack.make_database(server, "service")


@pytest.fixture(scope="session")
def service(database, cluster):
    where = stack.folder("service")
    running = stack.start_service(database, cluster, where)
    yield running
    running.stop()
    log = running.log.read_text()
    stack.remove(where)
    assert '"level": "error"' not in log, log[-4000:]


@pytest.fixture(scope="session")
def operator(service, cluster):
    token = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
    with service.client(token) as client:
        yield stack.Operator(cluster=cluster, client=client)


@pytest.fixture(scope="session")
def support(service, operator, cluster):
    """A workspace with an agent that writes, and a policy of each kind of answer."""
    operator.put(
        "support",
        [
            stack.grant("agents", [stack.account("agent")], access="Write"),
            stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
            stack.policy("never", "Reject", "candidate.category == 'forbidden'", priority=10),
        ],
    )
    with service.client(cluster.token("support", "agent")) as client:
        yield client
