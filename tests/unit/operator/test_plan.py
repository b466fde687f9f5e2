"""Which store takes an object, what is offered, and whether it is held already."""

import pytest

from memwarden_operator import plan
from memwarden_operator.answers import Version
from memwarden_operator.assignment import Refusal, assign
from memwarden_operator.plan import is_held
from memwarden_operator.shapes import Expression, StoreKey
from memwarden_operator.work import Workspace
from memwarden_policy.bounds import OBJECTS_PER_WORKSPACE_MAX
from memwarden_policy.model import Action, StoreDefaults

OWN = StoreKey("team", "own")
NO_REF = {"active": False, "storeRef": None}


def chosen(make, each, *stores, home=None):
    verdict = assign(each, home or make.namespace(), {store.key: store for store in stores})
    return verdict.reason if isinstance(verdict, Refusal) else verdict


def test_the_named_store_takes_it_when_it_takes_the_namespace(make):
    assert chosen(make, make.object(), make.store()) == make.main
    assert chosen(make, make.object(), make.store(source="Same")) == "StoreNotAllowed"
    assert chosen(make, make.object()) == "StoreNotFound"


def test_without_a_name_the_only_one_of_the_namespace_takes_it(make):
    each = make.object(**NO_REF)
    own, other = make.store("team", "own", "Same"), make.store("team", "other")
    assert chosen(make, each, make.store()) == "StoreNotFound"
    assert chosen(make, each, own, make.store()) == OWN
    assert chosen(make, each, own, other) == "StoreAmbiguous"


@pytest.mark.parametrize(
    ("labels", "expressions", "taken"),
    [
        ({"a": "1"}, (), True),
        ({"a": "2"}, (), False),
        ({}, (("a", "In", {"1", "2"}),), True),
        ({}, (("a", "NotIn", {"1"}),), False),
        ({}, (("z", "NotIn", {"1"}),), True),
        ({}, (("a", "Exists", ()),), True),
        ({}, (("z", "Exists", ()),), False),
        ({}, (("z", "DoesNotExist", ()), ("a", "Exists", ())), True),
        ({}, (("a", "DoesNotExist", ()),), False),
        ({}, (("a", "Unheard", ()),), False),
    ],
)
def test_a_selector_takes_namespaces_as_kubernetes_does(make, labels, expressions, taken):
    some = tuple(Expression(key=key, operator=word, values=frozenset(values)) for key, word, values in expressions)
    store = make.store(source="Selector", labels=labels, expressions=some)
    assert (chosen(make, make.object(), store, home=make.namespace(a="1")) == make.main) is taken


def test_an_offer_holds_the_floor_and_what_the_store_takes_and_nothing_else(make):
    mine, others = make.object("mine"), make.object("others", **NO_REF)
    picture = make.picture(mine, others, floor=[make.floor()])
    offered = plan.offer(Workspace(make.main, "team"), picture)
    assert [each.name for each in offered.resources] == ["f", "mine"]
    assert [each.name for each in (one.resource for one, _ in plan.refused("team", picture))] == ["others"]
    assert plan.workspaces(picture) == {Workspace(make.main, "team"), Workspace(None, "team")}


def test_there_is_no_offer_without_store_or_namespace(make):
    assert plan.offer(Workspace(make.main, "team"), make.picture(make.object(), stores=[])) is None
    assert plan.offer(Workspace(make.main, "gone"), make.picture()) is None


def test_a_body_names_the_workspace_by_uid_and_carries_the_fence(make):
    body = plan.body(plan.offer(Workspace(make.main, "team"), make.picture(make.object())), 7, 3)
    assert body["namespace"] == {"name": "team", "uid": "uid-team"}
    assert body["fence"] == {"term": 7, "counter": 3}
    assert body["store"]["admission_default"] == "RequireConfirmation"
    assert [each["name"] for each in body["objects"]] == ["p"]


def test_more_objects_than_a_workspace_may_hold_are_told_so_and_the_rest_is_offered(make):
    objects = [make.object(f"p{index:05}") for index in range(OBJECTS_PER_WORKSPACE_MAX + 2)]
    picture = make.picture(*objects, floor=[make.floor()])
    offered = plan.offer(Workspace(make.main, "team"), picture)
    assert len(offered.resources) == OBJECTS_PER_WORKSPACE_MAX
    assert [(each.resource.name[-4:], why.reason) for each, why in plan.refused("team", picture)] == [
        ("1999", "TooManyObjects"),
        ("2000", "TooManyObjects"),
        ("2001", "TooManyObjects"),
    ]


HELD = {
    "the same": (True, {}, {}),
    "another namespace of the same name": (False, {}, {"uid": "uid-old"}),
    "a row edited by hand": (False, {}, {"drifted": True}),
    "other defaults": (False, {}, {"store": StoreDefaults(admission_default=Action.REJECT)}),
    "accepted and not in force": (False, {"in_force": None}, {}),
    "accepted and an older one in force": (False, {"in_force": Version(generation=1, digest="sha256:old")}, {}),
    "not accepted, as offered": (True, {"accepted": False, "in_force": None}, {}),
}


@pytest.mark.parametrize("name", HELD)
def test_what_is_held_as_it_is_offered_need_not_be_sent(make, name):
    expected, said, answer = HELD[name]
    each = make.object()
    offered = plan.offer(Workspace(make.main, "team"), make.picture(each))
    assert is_held(offered, make.answer(make.said(each, **said), **answer)) is expected


def test_another_generation_more_or_fewer_objects_are_sent(make):
    each = make.object()
    offered = plan.offer(Workspace(make.main, "team"), make.picture(each))
    assert not is_held(offered, make.answer())
    assert not is_held(offered, make.answer(make.said(each), make.said(make.object("more"))))
    assert not is_held(offered, make.answer(make.said(make.object(generation=2))))
    assert not is_held(offered, make.answer(make.said(make.object(uid="uid-recreated"))))
