"""The journal: whatever is changed in it is found."""

import psycopg
import pytest

from serving import stack

FLIP = "set {column} = overlay({column} placing '\\x00'::bytea from 5)"
TAMPERINGS = {
    "a word of an entry": "update memwarden.journal set entry = replace(entry, 'Accept', 'Reject') {three}",
    "a space in an entry": "update memwarden.journal set entry = entry || ' ' {three}",
    "no JSON any more": "update memwarden.journal set entry = 'x' {three}",
    "a previous hash": "update memwarden.journal " + FLIP.format(column="prev") + " {three}",
    "a hash": "update memwarden.journal " + FLIP.format(column="hash") + " {three}",
    "the first is gone": "delete from memwarden.journal where seq = 1 and workspace_id = '{w}'",
    "one in the middle is gone": "delete from memwarden.journal {three}",
    "the last is gone": "delete from memwarden.journal where seq = 8 and workspace_id = '{w}'",
    "the tail is gone": "delete from memwarden.journal where seq > 4 and workspace_id = '{w}'",
    "everything is gone": "delete from memwarden.journal where workspace_id = '{w}'",
    "everything and its head are gone": "delete from memwarden.journal where workspace_id = '{w}'; "
    "delete from memwarden.journal_head where workspace_id = '{w}'",
    "everything is gone and its head is at the start": "delete from memwarden.journal where workspace_id = '{w}'; "
    "update memwarden.journal_head set seq = 0 where workspace_id = '{w}'",
    "two have changed places": "update memwarden.journal set seq = case seq when 3 then 104 else 103 end "
    "where seq in (3, 4) and workspace_id = '{w}'",
    "one is put in between": "insert into memwarden.journal select workspace_id, 99, entry, prev, hash from "
    "memwarden.journal {three}",
    "one of another workspace": "update memwarden.journal t set entry = o.entry, hash = o.hash "
    "from memwarden.journal o where t.seq = 3 and t.workspace_id = '{w}' and o.seq = 3 and o.workspace_id = '{other}'",
    "the head": "update memwarden.journal_head set seq = seq - 1 where workspace_id = '{w}'",
}


@pytest.fixture(scope="module")
def books(service, operator, cluster):
    """Two workspaces with eight entries each, and who may read the journal of the first."""
    for name in ("books", "other-books"):
        rules = [
            stack.grant("agents", [stack.account("agent")], access="Write"),
            stack.grant("auditors", [stack.user("auditor")], access="Admin"),
            stack.policy("p", "Accept"),
        ]
        operator.put(name, rules)
        key = operator.key(name, "auditor", "auditor")
        with service.client(cluster.token(name, "agent")) as agent:
            for index in range(6):
                assert agent.post("/v1/memories", json=stack.proposal(f"{name} {index}")).status_code == 201
        if name == "books":
            auditor = service.client(key)
    yield auditor
    auditor.close()


def test_an_untouched_journal_verifies(books):
    assert books.get("/v1/journal/verification").json() == {
        "ok": True,
        "entries": 8,
        "first_bad_seq": None,
        "head_matches": True,
    }
    entries = books.get("/v1/journal").json()["entries"]
    assert [entry["seq"] for entry in entries] == list(range(8, 0, -1))
    assert {entry["action"] for entry in entries} == {"ruleset.put", "api_key.made", "proposal.decided"}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_found(books, operator, database, name):
    workspace, other = operator.uid("books"), operator.uid("other-books")
    where = f"where seq = 3 and workspace_id = '{workspace}'"
    with database.admin(autocommit=True) as admin:
        admin.execute("create temporary table kept_journal as select * from memwarden.journal")
        admin.execute("create temporary table kept_head as select * from memwarden.journal_head")
        changed = admin.execute(TAMPERINGS[name].format(three=where, w=workspace, other=other)).rowcount
        answer = books.get("/v1/journal/verification")
        for table, kept in (("journal", "kept_journal"), ("journal_head", "kept_head")):
            admin.execute(f"delete from memwarden.{table} where workspace_id = '{workspace}'")
            admin.execute(f"insert into memwarden.{table} select * from {kept} where workspace_id = '{workspace}'")
    assert changed > 0
    assert (answer.status_code, answer.json()["ok"]) == (200, False)
    assert books.get("/v1/journal/verification").json()["ok"] is True


@pytest.mark.parametrize(
    "statement",
    [
        "insert into memwarden.journal select * from memwarden.journal",
        "update memwarden.journal set entry = ''",
        "delete from memwarden.journal_head",
        # The workspace that is told must be there.
        "select memwarden.journal_append('{}') from set_config('memwarden.workspace', gen_random_uuid()::text, false)",
    ],
)
def test_the_application_may_only_append(database, statement):
    with database.app(autocommit=True) as app, pytest.raises(psycopg.Error):
        app.execute(statement)
