"""The vault of the SDK against a running service: what the service holds, and what it never sees."""

import base64
import re
from urllib.parse import quote

import pytest

from memwarden.vault import ServiceError, Vault
from memwarden.vault_keys import KeyRing
from memwarden.vault_text import VaultError
from serving import stack

WORDS = "Takes sertraline since the spring of 2024."
VALUE = {"dose": "fifty milligrams"}
RULES = [
    stack.grant("people", [stack.user("vera"), stack.user("otto")], access="Write", mayClaim=["user_stated"]),
    stack.policy("all", "Accept"),
]


@pytest.fixture(scope="module")
def clients(service, operator):
    operator.put("sdk-vault", RULES)
    made = {name: service.client(operator.key("sdk-vault", f"{name}-key", name)) for name in ("vera", "otto")}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture(scope="module")
def keys():
    return KeyRing.generate()


@pytest.fixture(scope="module")
def vault(clients, keys):
    return Vault(clients["vera"], keys)


def test_what_is_remembered_is_recalled_here_and_read_nowhere_else(vault, keys, database, service):
    kept = vault.remember("health/vera", WORDS, value=VALUE, topic="medicine")
    vault.remember("health/vera", "Plays the cello.")
    assert kept.status == "confirmed"
    (first, *_) = vault.recall("Which medicine, sertraline?")
    assert (first.memory.id, first.memory.content, first.memory.value) == (kept.id, WORDS, VALUE)
    dump = everything(database) + service.log.read_text() + service.metrics()
    for secret in (WORDS, "sertraline", "fifty milligrams", *(key.hex() for key in keys.keys.values())):
        for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("="), quote(secret)):
            assert form not in dump
    assert all(base64.b64encode(key).decode() not in dump for key in keys.keys.values())


def everything(database) -> str:
    with database.admin() as admin:
        tables = admin.execute("select table_name from information_schema.tables where table_schema = 'memwarden'")
        return "\n".join(
            str(row)
            for (name,) in tables.fetchall()
            for row in admin.execute(f"select t::text from memwarden.{name} t")
        )


def test_another_person_has_nothing_to_recall(vault, clients, keys):
    vault.remember("health/vera", WORDS)
    other = Vault(clients["otto"], keys)
    assert other.recall("sertraline") == []


def test_without_its_key_a_memory_is_named_not_opened(vault, clients):
    kept = vault.remember("lost", "Sealed with the first key.")
    other = Vault(clients["vera"], KeyRing.generate("other"))
    assert all("first key" not in each.memory.content for each in other.recall("the first key"))
    assert "not on this ring" in other.unopened[kept.id]


def test_keys_are_rotated_and_old_memories_stay_readable(clients, keys):
    before = Vault(clients["vera"], keys)
    old = before.remember("rotated", "Told before the change of keys.")
    after = Vault(clients["vera"], keys.rotated("k2"))
    new = after.remember("rotated", "Told after the change of keys.")
    after.edit(old.id, "Told before, sealed anew.")
    after.sync()
    contents = {each.memory.id: each.memory.content for each in after.recall("told keys sealed", limit=100)}
    assert contents[old.id] == "Told before, sealed anew."
    assert contents[new.id] == "Told after the change of keys."
    assert not set(after.unopened) & {old.id, new.id}


def test_an_edit_hands_over_the_new_words_and_their_vector(vault, clients, database):
    kept = vault.remember("indexed", "Collects stamps of Portugal.", semantic_index=True)
    before = vector_of(database, kept.id)
    vault.edit(kept.id, "Sells motorcycles in Finland.")
    after = vector_of(database, kept.id)
    assert len(before) == len(after) == 256
    assert before != after
    plain = (
        clients["vera"]
        .post("/v1/memories", json=stack.proposal("Plain.", domain="x", source="user_stated"))
        .json()["id"]
    )
    with pytest.raises(VaultError, match="no vault"):
        vault.edit(plain, "Sealed?")


def test_what_opted_in_is_found_without_fetching_everything(clients, keys):
    vault = Vault(clients["otto"], keys)
    cello = vault.remember("music", "Practises the cello on Sundays.", semantic_index=True)
    vault.remember("music", "Sold the bicycle.", semantic_index=True)
    vault.remember("music", "Practises the cello in secret.")
    found = vault.nearest("cello practice")
    assert found[0].memory.id == cello.id
    assert len(found) == 2
    assert Vault(clients["otto"], KeyRing.generate("other")).nearest("cello practice") == []


def vector_of(database, memory):
    with database.admin() as admin:
        return admin.execute("select vault_vector from memwarden.memory where id = %s", [memory]).fetchone()[0]


def test_what_the_service_refuses_is_said(vault, clients):
    with pytest.raises(ServiceError, match=r"422 urn:memwarden:problem:invalid"):
        vault.remember("bad/**", "Words.")
    with pytest.raises(ServiceError, match="404"):
        vault.edit("00000000-0000-7000-8000-000000000000", "Words.")
    with pytest.raises(VaultError, match="longer"):
        vault.remember("health/vera", "x" * 20_000)


def test_many_are_fetched_page_by_page(vault):
    ids = {vault.remember("pages", f"Sheet {number}.").id for number in range(105)}
    vault.sync()
    assert ids <= {each["id"] for each in vault.memories()}
    assert len(vault.recall("sheet", limit=1000)) >= 105


def test_what_the_page_shows_runs(clients, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (stack.ROOT / "docs/vault.md").read_text()
    (shown,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(shown, {"client": clients["vera"]})  # noqa: S102 - our own page
    assert "Takes sertraline since spring." in capsys.readouterr().out
