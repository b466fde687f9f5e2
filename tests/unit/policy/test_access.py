"""Rights: what the corpus does not ask of them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memwarden_policy.access import rights
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.grants import Grant, Grants
from memwarden_policy.model import Access, ActorKind, Caller, Reads, Resource, SourceKind, StoreDefaults, SubjectKind

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
AGENT = Caller.service_account("support", "agent")


def held(*specs, caller=AGENT, reads=Reads.GRANTED):
    grants = [
        Resource(
            kind="MemoryAccessGrant",
            namespace="support",
            name=f"g{number}",
            spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}]} | spec,
        )
        for number, spec in enumerate(specs)
    ]
    compiled = compile_ruleset(grants, StoreDefaults(reads=reads), workspace="support")
    assert all(verdict.accepted for verdict in compiled.verdicts.values())
    return rights(compiled.ruleset, caller, NOW)


ALL_READ = {"domains": ["**"], "access": "Read"}
ALL_ADMIN = {"domains": ["**"], "access": "Admin"}
NONE_SOMEWHERE = {"domains": ["a"], "access": "None"}
NONE_ENDED = NONE_SOMEWHERE | {"expiresAt": "2026-12-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("specs", "at_least", "is_everything"),
    [
        ([], Access.READ, False),
        ([ALL_READ], Access.READ, True),
        ([ALL_READ], Access.WRITE, False),
        ([ALL_ADMIN], Access.WRITE, True),
        ([{"domains": ["*"], "access": "Read"}], Access.READ, False),
        ([{"domains": ["a/**"], "access": "Read"}], Access.READ, False),
        ([ALL_READ, NONE_SOMEWHERE], Access.READ, False),
        ([ALL_READ, NONE_ENDED], Access.READ, True),
        ([ALL_READ, {"domains": ["a"], "access": "Write"}], Access.WRITE, False),
    ],
)
def test_everything_is_held_where_all_is_granted_and_nothing_taken(specs, at_least, is_everything):
    assert held(*specs).everything(at_least) is is_everything


def test_open_reads_are_everything_to_read_and_nothing_to_write():
    found = held(reads=Reads.OPEN)
    assert found.everything(Access.READ)
    assert not found.everything(Access.WRITE)
    assert not held(NONE_SOMEWHERE, reads=Reads.OPEN).everything(Access.READ)


@pytest.mark.parametrize(
    ("specs", "is_stranger"),
    [
        ([], True),
        ([NONE_SOMEWHERE], True),
        ([{"onBehalfOf": ["*"]}], True),
        ([{"mayClaim": ["user_stated"]}], True),
        ([{"role": "guest"}], False),
        ([ALL_READ], False),
    ],
)
def test_a_stranger_is_one_to_whom_nothing_is_granted(specs, is_stranger):
    assert held(*specs).has_any is not is_stranger


def test_a_role_of_a_role_is_never_followed():
    agent = Resource(
        kind="MemoryAccessGrant",
        namespace="support",
        name="a",
        spec={"subjects": [{"kind": "ServiceAccount", "name": "agent"}], "role": "one"},
    )
    chain = Resource(
        kind="MemoryAccessGrant",
        namespace="support",
        name="b",
        spec={"subjects": [{"kind": "Role", "name": "one"}], "role": "two"},
    )
    compiled = compile_ruleset([agent, chain], StoreDefaults(), workspace="support")
    assert rights(compiled.ruleset, AGENT, NOW).roles == {"one"}


def test_a_grant_that_came_in_some_other_way_still_lets_nobody_claim_a_confirmation():
    smuggled = Grant(
        name="g",
        subjects=((SubjectKind.SERVICE_ACCOUNT, "support/agent"),),
        may_claim=frozenset({SourceKind.USER_CONFIRMED, SourceKind.SYSTEM_RULE, SourceKind.IMPORTED}),
    )
    empty = compile_ruleset([], StoreDefaults(), workspace="support").ruleset
    assert rights(replace(empty, grants=Grants([smuggled])), AGENT, NOW).may_claim == {SourceKind.IMPORTED}


def test_a_key_with_a_slash_in_its_name_is_no_account():
    key = Caller(actor_kind=ActorKind.API_KEY, actor_name="support/agent")
    assert held(ALL_READ, caller=key).access("a") is Access.NONE


def test_words_of_access_and_action_are_in_order_of_strength():
    assert Access.NONE < Access.READ < Access.WRITE < Access.ADMIN
    assert max(Access.ADMIN, Access.READ) is Access.ADMIN
    assert sorted(Access, reverse=True) == [Access.ADMIN, Access.WRITE, Access.READ, Access.NONE]
    with pytest.raises(ValueError, match="Everything"):
        _ = Access.READ < "Everything"
