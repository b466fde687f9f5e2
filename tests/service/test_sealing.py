"""Sensitive memories sealed by the service: whoever may read them does, and no table holds their words."""

import base64
import os
import shutil

import pytest

from memwarden_service import sealed
from serving import stack
from serving.stack import proposal

WORDS = "Is allergic to penicillin, says the chart."
VALUE = {"severity": "life-threatening"}
SECRET = {"is_sensitive": True, "value": VALUE, "domain": "health/x"}
RULES = [
    stack.grant("agents", [stack.account("agent")], access="Write"),
    stack.grant("bosses", [stack.user("boss"), stack.user("chief")], access="Admin"),
    stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
    {
        "kind": "MemoryPolicy",
        "name": "asked",
        "spec": {
            "selector": {"domains": ["asked/**"]},
            "update": [{"name": "ask", "action": "RequireConfirmation"}],
        },
    },
]


class World:
    """A database, and a service on it that is started with keys, with others, or without."""

    def __init__(self, server, cluster):
        self.where = stack.folder("sealing")
        self.keys = self.where / "keys"
        self.keys.mkdir()
        self.cluster = cluster
        self.database = stack.make_database(server, self.where.name)
        self.running, self.clients, self.logs = None, {}, []
        self.agent = self.boss = self.chief = None
        self.secrets = {}

    def new_key(self, name):
        (self.keys / name).write_text(base64.b64encode(os.urandom(32)).decode())

    def start(self, keys=True):
        self.stop()
        more = ("--sealing-keys", str(self.keys)) if keys else ()
        self.running = stack.start_service(self.database, self.cluster, self.where / "service", more=more)
        if not self.secrets:
            admin = self.cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
            with self.running.client(admin) as client:
                operator = stack.Operator(cluster=self.cluster, client=client)
                operator.put("sealing", RULES)
                self.secrets = {name: operator.key("sealing", f"{name}-key", name) for name in ("boss", "chief")}
            self.secrets["agent"] = self.cluster.token("sealing", "agent")
        for name, secret in self.secrets.items():
            setattr(self, name, self.running.client(secret))

    def stop(self):
        if self.running is not None:
            for name in self.secrets:
                getattr(self, name).close()
            self.running.stop()
            self.logs.append(self.running.log.read_text())
            self.running = None

    def rows(self, table="memory"):
        with self.database.admin() as admin:
            found = admin.execute(f"select id::text, content, encryption_state from memwarden.{table}").fetchall()
        return {row[0]: row[1:] for row in found}

    def everything(self):
        with self.database.admin() as admin:
            tables = admin.execute("select table_name from information_schema.tables where table_schema = 'memwarden'")
            return "\n".join(
                str(row)
                for (name,) in tables.fetchall()
                for row in admin.execute(f"select t::text from memwarden.{name} t")
            )

    def kept(self, content=WORDS, **more):
        """Propose, and confirm: what is sensitive waits for a person."""
        answer = self.agent.post("/v1/memories", json=proposal(content, **{"confidence": 0.9, **SECRET, **more}))
        assert answer.status_code in (201, 202), answer.text
        made = answer.json()["id"]
        if answer.status_code == 202:
            assert self.boss.post(f"/v1/candidates/{made}/confirm").status_code == 200
        return made


@pytest.fixture(scope="module")
def world(server, cluster):
    made = World(server, cluster)
    made.new_key("v1")
    made.start()
    yield made
    made.stop()
    stack.remove(made.where)


def test_what_is_sensitive_is_sealed_in_every_table_and_read_as_ever(world):
    made = world.kept()
    got = world.agent.get(f"/v1/memories/{made}").json()
    assert (got["content"], got["value"]) == (WORDS, VALUE)
    assert got["envelope"]["encryption_state"] == "service_ciphertext"
    assert not got["envelope"]["server_content_search_enabled"]
    listed = world.agent.get("/v1/memories").json()["memories"]
    assert WORDS in [each["content"] for each in listed]
    plain = world.kept("Likes tea.", is_sensitive=False, value=None)
    assert world.rows()[plain] == ("Likes tea.", "plaintext")
    waits = world.agent.post("/v1/memories", json=proposal("Has a penicillin pump.", **SECRET)).json()["id"]
    assert world.boss.get(f"/v1/candidates/{waits}").json()["content"] == "Has a penicillin pump."
    dump = world.everything() + world.running.log.read_text() + world.running.metrics()
    for secret in ("penicillin", "life-threatening"):
        for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("=")):
            assert form not in dump


def test_its_past_and_its_changes_are_sealed_too(world):
    made = world.kept("Weighs 80 kilos, in confidence.")
    path = f"/v1/memories/{made}"
    assert world.boss.patch(path, json={"content": "Weighs 75 kilos, in confidence."}).status_code == 200
    confirm = {"feedback_id": "1", "kind": "confirm"}
    assert world.boss.post(f"{path}/feedback", json=confirm).status_code == 200
    versions = world.boss.get(f"{path}/history").json()["versions"]
    assert [each["content"][7:9] for each in versions] == ["75", "75", "80"]
    assert versions[0]["value"] == VALUE
    assert world.boss.delete(path).status_code == 200
    assert "kilos" not in world.everything()
    assert len({content for content, _ in world.rows("memory_version").values()}) > 0


def test_what_waits_comes_into_force_sealed(world):
    made = world.kept("Lives at the mill.", domain="asked/x")
    answer = world.agent.patch(f"/v1/memories/{made}", json={"content": "Lives at the lake."})
    assert answer.status_code == 202, answer.text
    candidate = answer.json()["candidate"]
    assert world.chief.post(f"/v1/candidates/{candidate}/confirm").status_code == 200
    assert world.agent.get(f"/v1/memories/{made}").json()["content"] == "Lives at the lake."
    waits = world.agent.post("/v1/memories", json=proposal("Owes the bank.", **SECRET)).json()["id"]
    assert world.boss.post(f"/v1/candidates/{waits}/edit", json={"content": "Owes the baker."}).status_code == 200
    assert world.agent.get(f"/v1/memories/{waits}").json()["content"] == "Owes the baker."
    dump = world.everything()
    assert not [each for each in ("the mill", "the lake", "the bank", "the baker") if each in dump]


def test_the_same_is_still_the_same_and_a_place_is_still_taken(world):
    first = world.kept("Was born in Split.", topic="birthplace", subject="x")
    again = world.agent.post(
        "/v1/memories", json=proposal("Was born in Split.", topic="birthplace", subject="x", **SECRET)
    )
    assert again.json()["id"] == first
    second = world.kept("Was born in Zadar.", topic="birthplace", subject="x")
    assert world.agent.get(f"/v1/memories/{first}").status_code == 404
    assert world.agent.get(f"/v1/memories/{second}").json()["content"] == "Was born in Zadar."


def test_rules_read_the_words(world):
    objects = [stack.policy("no-penicillin", "Reject", "candidate.content.contains('penicillin')", priority=50)]
    answer = world.boss.post("/v1/policies/plan", json={"objects": objects})
    assert answer.status_code == 200, answer.text
    assert answer.json()["counts"]["wouldReject"] >= 1


@pytest.mark.parametrize("content", ["\x7f".join("ab"), "x" * 16_384, "\N{GRINNING FACE}" * 16_384, '"\\\n' * 5_000])
def test_any_text_that_is_taken_is_sealed(world, content):
    answer = world.agent.post("/v1/memories", json=proposal(content, **SECRET))
    assert answer.status_code in (202, 422), answer.text
    if answer.status_code == 202:
        made = answer.json()["id"]
        assert world.boss.get(f"/v1/candidates/{made}").json()["content"] == content


def test_what_looks_sealed_is_but_a_text(world):
    (sealed, *_) = [content for content, state in world.rows().values() if state == "service_ciphertext"]
    copied = world.kept(sealed, is_sensitive=False, value=None)
    assert world.agent.get(f"/v1/memories/{copied}").json()["content"] == sealed
    assert world.rows()[copied][1] == "plaintext"


def test_a_new_version_of_the_key_seals_and_the_old_one_opens(world):
    old = world.kept("Old secret.")
    world.new_key("v2")
    world.start()
    new = world.kept("New secret.")
    rows = world.rows()
    assert rows[old][0].startswith("mws1.1.")
    assert rows[new][0].startswith("mws1.2.")
    for made, content in ((old, "Old secret."), (new, "New secret.")):
        assert world.agent.get(f"/v1/memories/{made}").json()["content"] == content
    assert world.boss.patch(f"/v1/memories/{old}", json={"content": "Older secret."}).status_code == 200
    assert world.rows()[old][0].startswith("mws1.2.")


def test_the_job_of_retention_sees_no_words_sealed_or_not(world):
    world.kept("Kept for a while.")
    with world.database.admin() as admin:
        admin.execute("select set_config('memwarden.workspace', id::text, false) from memwarden.workspace")
        found = admin.execute(
            """select distinct r ->> 'content', r ->> 'encryption_state', r ->> 'value'
            from memwarden.retention_rows('00000000-0000-0000-0000-000000000000', 1000) r"""
        ).fetchall()
    assert found == [("", "plaintext", None)]


def test_without_the_key_it_is_not_to_be_had_and_what_is_not_sealed_is(world):
    sealed = world.kept("Sealed for good.")
    plain = world.kept("Anybody may know.", is_sensitive=False, value=None)
    away = world.where / "away"
    shutil.move(world.keys / "v2", away)
    world.start()
    assert world.agent.get(f"/v1/memories/{sealed}").status_code == 503
    world.start(keys=False)
    answer = world.agent.get(f"/v1/memories/{sealed}")
    assert answer.status_code == 503
    assert "mws1" not in answer.text
    assert world.agent.get(f"/v1/memories/{plain}").status_code == 200
    unsealed = world.kept("Told while there were no keys.")
    assert world.rows()[unsealed][1] == "plaintext"
    shutil.move(away, world.keys / "v2")
    world.start()
    assert world.agent.get(f"/v1/memories/{sealed}").json()["content"] == "Sealed for good."
    # What was there stays as it is until its words change.
    assert world.rows()[unsealed][1] == "plaintext"
    assert world.boss.patch(f"/v1/memories/{unsealed}", json={"content": "Told again."}).status_code == 200
    assert world.rows()[unsealed][1] == "service_ciphertext"


def test_a_text_that_was_moved_to_another_domain_does_not_open(world):
    one, other = world.kept("Mine, in one."), world.kept("Mine, in two.", domain="health/y")
    with world.database.admin() as admin:
        admin.execute(
            "update memwarden.memory set content = (select content from memwarden.memory where id = %s) where id = %s",
            [one, other],
        )
    assert world.agent.get(f"/v1/memories/{other}").status_code == 503
    assert world.agent.get(f"/v1/memories/{one}").status_code == 200
    with world.database.admin() as admin:
        admin.execute("delete from memwarden.memory where id = %s", [other])


@pytest.mark.parametrize("files", [{}, {"v1": "short"}, {"v1": "!"}, {"key": "A" * 43 + "="}])
def test_keys_that_are_none_stop_the_start(world, files, tmp_path):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(Exception, match="key"):
        stack.start_service(world.database, world.cluster, tmp_path / "s", more=("--sealing-keys", str(tmp_path)))


def test_a_data_key_is_asked_for_once_and_every_text_is_sealed_apart(world):
    class Counted(sealed.FileKeys):
        asked = 0

        def unwrap(self, version, wrapped):
            Counted.asked += 1
            return super().unwrap(version, wrapped)

    texts = [f"Text {number}." for number in range(50)]
    port = Counted(world.keys)
    made = [sealed.Sealer(port).seal(text, "d") for text in texts[:2]]
    made += [(one := sealed.Sealer(port)).seal(text, "d") for text in texts[2:3]]
    made += [one.seal(text, "d") for text in texts[3:]]
    assert len(set(made)) == len(texts)
    reader = sealed.Sealer(port)
    assert [reader.open(text, "d") for text in made] == texts
    assert Counted.asked == 3
    for damaged in (made[0][:-4] + "AAAA", made[0].replace("mws1", "mws2"), made[0][5:], "", "....", made[0] + "\n!"):
        with pytest.raises(sealed.KeysError):
            reader.open(damaged, "d")
    with pytest.raises(sealed.KeysError):
        reader.open(made[0], "e")


def test_no_log_holds_a_word_or_a_key(world):
    world.start()
    logs = "".join(world.logs)
    keys = [path.read_text() for path in world.keys.iterdir()]
    assert "a sealed memory cannot be opened" in logs
    assert not [each for each in (WORDS, "penicillin", "secret.", *keys) if each in logs]
