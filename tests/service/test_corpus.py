"""The corpus of the core, through rows and through HTTP: the same answers as the core gives."""

import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from memwarden_policy import casefiles, corpus
from memwarden_policy.model import ActorKind, Known
from memwarden_service.picture import domain_id
from memwarden_service.rulesets import READ_RULESET, Rows, compiled
from serving import stack

FOLDER = Path(__file__).parents[1] / "corpus"
# These ask about moments that are not now: rows answer for them, HTTP has only the present.
NOT_NOW = {"moments"}


def suites():
    for path in sorted(FOLDER.glob("*.yaml")):
        text = path.read_text()
        files = {name: (path.parent / name).read_text() for name in casefiles.files_of(text)}
        yield path.stem, casefiles.read(text, files)


KNOWN = (
    "insert into memwarden.domain values (%(w)s, %(d)s, %(name)s)",
    """insert into memwarden.decision
        (workspace_id, id, domain_id, actor, action, rules, reason, revision, content_key, at)
      values (%(w)s, %(decision)s, %(d)s, 'x', 'Accept', '[]', '', 1, sha256('x'), now()) on conflict do nothing""",
    """insert into memwarden.memory (workspace_id, id, domain_id, topic, memory_type, category, content, source,
        confidence, is_sensitive, tags, observed_at, proposed_by, proposed_by_person, proposed_at, decision_id, version,
        in_force_from)
      values (%(w)s, %(i)s, %(d)s, '', 'semantic', '', 'x', 'imported', 0.5, false, '{}', now(), 'x', false, now(),
        %(decision)s, 1, now())""",
)
CASES = [
    pytest.param(stem, suite, case, id=f"{stem}: {case.name}")
    for stem, suite in suites()
    if isinstance(suite, corpus.Suite)
    for case in suite.cases
]


class World:
    """A service and a database of the corpus' own, since it names its workspaces itself."""

    def __init__(self, database, cluster, running, operator):
        self.database, self.cluster, self.running, self.operator = database, cluster, running, operator
        self.engine = create_engine(make_url(database.admin_url).set(drivername="postgresql+psycopg"))

    def put(self, suite, case) -> None:
        """Bring the resources of a case into force in a new, empty workspace."""
        self.operator.uids[suite.workspace] = str(uuid.uuid4())
        body = self.operator.body(suite.workspace)
        body["store"] |= {"admission_default": suite.store.admission_default, "reads": suite.store.reads}
        body["objects"] = [
            {
                "kind": each.kind,
                "namespace": each.namespace,
                "name": each.name,
                "uid": f"uid-{index}",
                "generation": 1,
                "spec": each.spec,
            }
            for index, each in enumerate(case.resources)
        ]
        answer = self.operator.client.put(f"/admin/v1/workspaces/{suite.workspace}/ruleset", json=body)
        assert answer.status_code == 200, answer.text
        assert all(each["accepted"] for each in answer.json()["objects"]), answer.text

    def rows(self, suite):
        with self.engine.connect() as connection:
            row = connection.execute(READ_RULESET, {"workspace": self.operator.uids[suite.workspace]}).one()
        return Rows(
            workspace=row.name,
            revision=row.revision,
            moved_in=row.moved_in,
            digest=row.digest,
            store=row.store,
            objects=row.objects,
        )

    def client(self, suite, caller):
        """Return a client that is the caller of a case."""
        if caller.actor_kind is ActorKind.API_KEY:
            user = caller.principal if caller.is_person else None
            return self.running.client(self.operator.key(suite.workspace, caller.actor_name, user))
        headers = {"Memwarden-Workspace": suite.workspace}
        if caller.principal:
            headers["Memwarden-On-Behalf-Of"] = caller.principal
        return self.running.client(self.cluster.token(*caller.actor_name.split("/")), **headers)

    def know(self, suite, domains) -> None:
        """Put a memory into domains, so that whoami speaks of them to those who see it."""
        workspace, decision = uuid.UUID(self.operator.uids[suite.workspace]), uuid.uuid4()
        with self.database.admin(autocommit=True) as admin:
            for domain in domains:
                values = {"w": workspace, "d": domain_id(workspace, domain), "name": domain, "i": uuid.uuid4()}
                for statement in KNOWN:
                    admin.execute(statement, {**values, "decision": decision})


@pytest.fixture(scope="module")
def world(server, cluster):
    where = stack.folder("corpus")
    database = stack.make_database(server, "corpus")
    running = stack.start_service(database, cluster, where)
    token = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
    with running.client(token) as client:
        made = World(database, cluster, running, stack.Operator(cluster=cluster, client=client))
        yield made
        made.engine.dispose()
    running.stop()
    stack.remove(where)


@pytest.mark.parametrize(("stem", "suite", "case"), CASES)
def test_rows_and_http_agree_with_the_core(world, stem, suite, case):
    world.put(suite, case)
    ruleset = compiled(world.rows(suite)).ruleset
    differences, _ = corpus.ask(ruleset, case, suite.now)
    assert differences == ()
    # What the service would have found out, HTTP cannot be told.
    if stem not in NOT_NOW and case.known == Known() and case.memory is None:
        http_agrees(world, suite, case)


def http_agrees(world, suite, case):
    expect = case.expect
    world.know(suite, expect.access)
    with world.client(suite, case.caller) as client:
        if case.proposal and expect.action is not None:
            proposed(client, suite, case)
        who = client.get("/v1/whoami")
    if who.status_code != 200:
        assert all(access == "None" for access in expect.access.values())
        assert not expect.roles
        assert not expect.may_claim
        return
    body = who.json()
    assert {domain: body["access"].get(domain, "None") for domain in expect.access} == dict(expect.access)
    assert expect.roles is None or body["roles"] == sorted(expect.roles)
    assert expect.may_claim is None or body["may_claim"] == sorted(expect.may_claim)


def proposed(client, suite, case):
    wanted = dict(case.proposal)
    for name in ("observed_at", "valid_until"):
        # The case counts from its own now, HTTP from the present.
        if "now()" in str(wanted.get(name)):
            moment = getattr(case.candidate, name)
            wanted[name] = (datetime.now(UTC) + (moment - suite.now)).isoformat()
    if mode := wanted.pop("security_mode", None):
        wanted["envelope"] = {"security_mode": mode}
    answer = client.post("/v1/memories", json=wanted)
    kind = answer.json().get("type", "")
    said = {201: "Accept", 202: "held"}.get(answer.status_code)
    if answer.status_code in (403, 404):
        said = "Reject" if kind.endswith("policy-refused") else "Forbidden"
    held = {"RequireConfirmation": "held", "Quarantine": "held"}
    assert said == held.get(case.expect.action, case.expect.action), answer.text
    if said == "Reject" and case.expect.rules is not None:
        assert sorted(answer.json()["rules"]) == sorted(case.expect.rules)
