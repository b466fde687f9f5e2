"""What a watch tells becomes keys, and our own echo does not."""

import asyncio

import pytest

from memwarden_operator.inbox import Inbox
from memwarden_operator.shapes import StoreKey
from memwarden_operator.state import State, mark
from memwarden_operator.work import Floor, Queue, Workspace
from memwarden_policy.model import Kind

MAIN = StoreKey("system", "main")


@pytest.fixture
def inbox():
    return Inbox(state=State(), queue=Queue(), sweep_wanted=asyncio.Event())


def document(name="p", namespace="team", generation=1, status=None, **spec):
    metadata = {"name": name, "namespace": namespace, "uid": "u", "generation": generation, "labels": {}}
    return {"metadata": metadata, "spec": spec, "status": status or {}}


def taken(inbox):
    keys = inbox.queue.take(100)
    for key in keys:
        inbox.queue.done(key)
    return set(keys)


def test_a_new_object_asks_for_the_store_it_names_and_those_that_hold_its_namespace(inbox):
    other = Workspace(StoreKey("x", "y"), "team")
    inbox.state.of(other)
    inbox.policy(Kind.MEMORY_POLICY, "ADDED", document(storeRef={"namespace": "system", "name": "main"}))
    assert taken(inbox) == {Workspace(MAIN, "team"), other}


def test_an_object_that_no_store_could_take_is_told_so(inbox):
    inbox.policy(Kind.MEMORY_POLICY, "ADDED", document())
    assert taken(inbox) == {Workspace(None, "team")}


def test_our_own_write_is_no_news_and_a_strangers_is(inbox):
    status = {"conditions": [], "observedGeneration": 1}
    inbox.state.written["MemoryPolicy", "team", "p"] = mark("u", 1, status)
    inbox.policy(Kind.MEMORY_POLICY, "MODIFIED", document(status=status))
    assert taken(inbox) == set()
    inbox.policy(Kind.MEMORY_POLICY, "MODIFIED", document(status={"conditions": ["meddled"]}))
    assert taken(inbox)
    inbox.policy(Kind.MEMORY_POLICY, "MODIFIED", document(status=status, generation=2))
    assert taken(inbox)
    inbox.policy(Kind.MEMORY_POLICY, "DELETED", document(status=status))
    assert taken(inbox)


def test_the_floor_concerns_every_workspace(inbox):
    keys = {Workspace(MAIN, "a"), Workspace(MAIN, "b")}
    for key in keys:
        inbox.state.of(key)
    inbox.floor("MODIFIED", document(namespace=""))
    assert taken(inbox) == keys | {Floor()}


def test_a_store_that_changed_asks_for_a_sweep_and_its_status_does_not(inbox):
    inbox.state.store_versions[MAIN] = ("u", 1)
    inbox.store("MODIFIED", document("main", "system"))
    assert not inbox.sweep_wanted.is_set()
    inbox.store("MODIFIED", document("main", "system", generation=2))
    assert inbox.sweep_wanted.is_set()


def test_a_namespace_matters_when_it_is_new_relabelled_or_gone(inbox):
    home = document("team")
    inbox.namespace(None, home)
    assert taken(inbox) == set()
    inbox.namespace("MODIFIED", home)
    assert taken(inbox) == set()
    labelled = document("team")
    labelled["metadata"]["labels"] = {"a": "b"}
    inbox.namespace("MODIFIED", labelled)
    assert taken(inbox)
    inbox.namespace("DELETED", labelled)
    assert taken(inbox)
