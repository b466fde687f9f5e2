"""Isolation by the database itself, under the role of the application; and the proof that these checks can fail."""

import psycopg
import pytest

from serving import isolation, stack

MUTATIONS = {
    "no force": "alter table memwarden.memory no force row level security",
    "no row-level security": "alter table memwarden.memory disable row level security",
    "no with check": "alter policy tenant on memwarden.memory with check (true)",
    "policy is true": "alter policy tenant on memwarden.memory using (true)",
    "journal for everybody": "alter policy tenant on memwarden.journal using (true)",
    "no owner policy on memory": "drop policy owner on memwarden.memory",
    "no owner policy on candidate": "drop policy owner on memwarden.candidate",
    "no owner policy on decision": "drop policy owner on memwarden.decision",
    "no owner policy on intake": "drop policy owner on memwarden.intake",
    "no domain policy to read": "drop policy domain_read on memwarden.memory",
    "no domain policy to write": "drop policy domain_insert on memwarden.memory",
    "candidates for readers": "drop policy review_read on memwarden.candidate",
    "no owner policy on past versions": "drop policy owner on memwarden.memory_version",
    "no owner policy on feedback": "drop policy owner on memwarden.feedback",
    "no owner policy on tombstones": "drop policy owner on memwarden.tombstone",
    "past versions of every domain": "drop policy domain_read on memwarden.memory_version",
    "approvals for everybody": "drop policy review on memwarden.approval",
    "tombstones for everybody": "drop policy domain on memwarden.tombstone",
    "deletion by readers": "drop policy domain_delete on memwarden.memory",
    "rules by anybody": "drop policy operator_updates on memwarden.ruleset",
    "a permissive policy more": "create policy more on memwarden.memory using (true)",
    "a view": "create view memwarden.everything as select * from memwarden.memory",
    "a unique key across workspaces": "create unique index across on memwarden.memory (id)",
    "a foreign key of all": "alter table memwarden.domain add foreign key (id) references memwarden.far not valid",
    "a definer without a path": "alter function memwarden.journal_lock() reset search_path",
    "a function of everybody": "grant execute on function memwarden.find_key(text) to public",
    "truncate": "grant truncate on memwarden.memory to mw_app",
    "update of memory": "grant update on memwarden.memory to mw_app",
    "an enum": "create type memwarden.mood as enum ('x')",
    "a table without policies": "create table memwarden.more (workspace_id uuid)",
}
BEFORE_MUTATION = {
    "a foreign key of all": "create table memwarden.far (id uuid primary key)",
}
# These are seen in rows, not only in the catalogue.
VISIBLE = {
    "no row-level security",
    "no with check",
    "policy is true",
    "journal for everybody",
    "no owner policy on memory",
    "no owner policy on candidate",
    "no owner policy on decision",
    "no owner policy on intake",
    "no domain policy to read",
    "no domain policy to write",
    "candidates for readers",
    "no owner policy on past versions",
    "no owner policy on feedback",
    "no owner policy on tombstones",
    "past versions of every domain",
    "approvals for everybody",
    "tombstones for everybody",
    "deletion by readers",
    "rules by anybody",
    "a permissive policy more",
    "truncate",
    "update of memory",
}


@pytest.fixture(scope="module")
def seeded(server):
    database = stack.make_database(server, "isolation")
    with database.admin() as admin:
        isolation.seed(admin)
    return "isolation"


def connections(server, name):
    return psycopg.connect(server.url(name), autocommit=True), psycopg.connect(
        stack.app_url(server, name), autocommit=True
    )


def test_the_catalogue_keeps_the_rules(server, seeded):
    admin, app = connections(server, seeded)
    with admin, app:
        assert isolation.catalogue(admin) == []


def test_rows_stay_with_those_they_belong_to(server, seeded):
    admin, app = connections(server, seeded)
    with admin, app:
        assert isolation.behaviour(app) == []


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_hole_is_found(server, seeded, mutation):
    name = f"mutant-{abs(hash(mutation))}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'create database "{name}" template "{seeded}"')
    admin, app = connections(server, name)
    with admin, app:
        admin.execute(BEFORE_MUTATION.get(mutation, "select 1"))
        admin.execute(MUTATIONS[mutation])
        assert isolation.catalogue(admin) != []
        assert (isolation.behaviour(app) != []) == (mutation in VISIBLE)
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'drop database "{name}" with (force)')
