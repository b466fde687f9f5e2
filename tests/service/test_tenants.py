"""What one workspace does cannot be told from what it would see without the other; so for two people in one."""

import os
import random
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from serving import stack

SEQUENCES = int(os.environ.get("MEMWARDEN_SEQUENCES", "10"))  # For each pair; more by night.
STEPS = 14
DOMAINS = ("notes", "customers/acme", "closed")
WORDS = ("tea", "coffee", "water")
RULES = [
    stack.grant(
        "agents", [stack.account("agent")], access="Write", domains=["notes", "customers/**"], onBehalfOf=["**"]
    ),
    stack.grant("boss", [stack.user("boss")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
    stack.policy("never", "Reject", "candidate.category == 'no'", priority=1),
]


class Actor:
    """Plays a sequence of steps, and writes down what it saw with ids and times replaced by their first appearance."""

    def __init__(self, agent, boss, *, private: bool) -> None:
        self.agent, self.boss, self.private = agent, boss, private
        self.ids: list[str] = []
        self.names: dict[str, str] = {}
        self.log: list[str] = []

    def step(self, kind: str, chooser: random.Random) -> None:
        answer = getattr(self, kind)(chooser)
        self.log.append(f"{kind} {answer.status_code} {self.masked(answer)}")

    def masked(self, answer) -> str:
        return str(self._mask(answer.json())) if answer.content else ""

    def _mask(self, value, name=""):
        if isinstance(value, dict):
            kept = {key: each for key, each in value.items() if key not in ("request_id", "hash")}
            return {key: self._mask(each, key) for key, each in kept.items()}
        if isinstance(value, list):
            return [self._mask(each, name) for each in value]
        is_random = name.endswith(("id", "_at", "_by", "from", "decision", "object", "next", "at", "memories"))
        if is_random and isinstance(value, str):
            return self.names.setdefault(value, f"#{len(self.names)}")
        return value

    def propose(self, chooser):
        more = {"private": self.private, "category": chooser.choice(["", "", "no"])}
        wanted = stack.proposal(
            f"{chooser.choice(WORDS)}", domain=chooser.choice(DOMAINS), confidence=chooser.choice([0.1, 0.9]), **more
        )
        answer = self.agent.post("/v1/memories", json=wanted)
        if answer.status_code in (201, 202):
            self.ids.append(answer.json()["id"])
        return answer

    def get(self, chooser):
        return self.agent.get(f"/v1/memories/{chooser.choice(self.ids) if self.ids else uuid.UUID(int=7)}")

    def listing(self, chooser):
        return self.agent.get("/v1/memories", params={"limit": chooser.choice([1, 3, 100])})

    def of_a_domain(self, chooser):
        return self.agent.get("/v1/memories", params={"domain": chooser.choice(DOMAINS)})

    def queue(self, _chooser):
        return self.boss.get("/v1/candidates")

    def review(self, chooser):
        wanted = chooser.choice(self.ids) if self.ids else uuid.UUID(int=7)
        return self.boss.post(f"/v1/candidates/{wanted}/{chooser.choice(['confirm', 'reject'])}")

    def whoami(self, _chooser):
        return self.agent.get("/v1/whoami")


KINDS = ("propose", "propose", "propose", "get", "listing", "of_a_domain", "queue", "review", "whoami")


def played(first: Actor, second: Actor | None, seed: int) -> list[str]:
    """Play the first's steps, with those of the second in between; returns what the first saw."""
    mine, theirs, order = random.Random(seed), random.Random(seed + 1), random.Random(seed + 2)  # noqa: S311
    for _ in range(STEPS):
        while second is not None and order.random() < 0.6:
            second.step(theirs.choice(KINDS), theirs)
        first.step(mine.choice(KINDS), mine)
    return first.log


@pytest.fixture(scope="module")
def open_workspace(service, operator, cluster):
    """Return what opens a new workspace of a fixed name, so that its tokens are made once."""
    clients = []

    def opened(name: str) -> None:
        operator.uids[name] = str(uuid.uuid4())
        operator.put(name, RULES)

    def actor(name: str, person: str | None = None) -> Actor:
        headers = {"Memwarden-On-Behalf-Of": person} if person else {}
        agent = service.client(cluster.token(name, "agent"), **headers)
        who = person or "boss"
        boss = service.client(operator.key(name, f"{who}-{uuid.uuid4().hex[:6]}", who))
        clients.extend((agent, boss))
        return Actor(agent, boss, private=person is not None)

    yield opened, actor
    for client in clients:
        client.close()


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_two_workspaces_do_not_touch(open_workspace, seed):
    opened, actor = open_workspace
    opened("tenant-a")
    alone = played(actor("tenant-a"), None, seed)
    opened("tenant-a")
    opened("tenant-b")
    beside = played(actor("tenant-a"), actor("tenant-b"), seed)
    assert beside == alone
    assert any(" 201 " in line or " 202 " in line for line in alone)


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_private_memories_of_two_people_do_not_touch(open_workspace, seed):
    opened, actor = open_workspace
    opened("tenant-a")
    alone = played(actor("tenant-a", "alice"), None, seed)
    opened("tenant-a")
    beside = played(actor("tenant-a", "alice"), actor("tenant-a", "bob"), seed)
    assert without_domains(beside) == without_domains(alone)


def without_domains(log: list[str]) -> list[str]:
    """Which domains are known is the workspace's knowledge; whose memories are in them is not."""
    return [line.split("'access'")[0] for line in log]


def test_writers_of_one_workspace_at_once_leave_one_chain(open_workspace, database, operator):
    opened, actor = open_workspace
    opened("tenant-a")
    agent = actor("tenant-a")

    def write(index):
        return agent.agent.post("/v1/memories", json=stack.proposal(f"At once {index}.", confidence=0.9)).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write, range(160))) == {201}
    answer = agent.boss.get("/v1/journal/verification").json()
    assert (answer["ok"], answer["entries"]) == (True, 160 + 2)  # And the ruleset, and the key.
