"""Cancelled requests, killed backends and a full pool: nobody ever finds another's context on a connection."""

import asyncio
import random
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from memwarden_policy.model import Access, ActorKind, Caller
from memwarden_service import database as door
from memwarden_service import spans
from memwarden_service.database import acting_as, acts, at_once, foresee
from memwarden_service.migrate import sqlalchemy_url
from memwarden_service.picture import Subject
from memwarden_service.problems import ProblemError
from serving import inside, stack

REQUESTS = 2_000
CANCELLED, FAILING = 0.6, 0.1
CONTEXT = text("""
  select current_setting('memwarden.workspace', true) as workspace,
    current_setting('memwarden.principal', true) as principal,
    current_setting('memwarden.readable', true) as readable
""")
READ = text("select workspace_id from memwarden.memory")


@pytest.fixture(scope="module")
def two(server, cluster):
    """A database with two workspaces, and in each an agent that reads everything."""
    database = stack.make_database(server, "pool")
    bodies = {}

    async def fill():
        async with inside.running(database.url, cluster.kubeconfig) as (_, client):
            token = cluster.token("memwarden-system", "memwarden-operator", f"memwarden:{stack.STORE_UID}")
            operator = stack.Operator(cluster=cluster, client=None)
            for name in ("pool-a", "pool-b"):
                rules = [stack.grant("g", [stack.account("agent")], access="Write"), stack.policy("p", "Accept")]
                body = bodies[name] = operator.body(name, rules)
                headers = {"Authorization": f"Bearer {token}"}
                answer = await client.put(f"/admin/v1/workspaces/{name}/ruleset", json=body, headers=headers)
                assert answer.status_code == 200
                agent = {"Authorization": f"Bearer {cluster.token(name, 'agent')}"}
                for index in range(3):
                    answer = await client.post("/v1/memories", json=stack.proposal(f"{name} {index}"), headers=agent)
                    assert answer.status_code == 201

    inside.run(fill())
    return database, {name: UUID(body["namespace"]["uid"]) for name, body in bodies.items()}


def subject(workspace: str) -> Subject:
    caller = Caller(actor_kind=ActorKind.SERVICE_ACCOUNT, actor_name=f"{workspace}/agent")
    return Subject(caller=caller, workspace=workspace, is_at_home=True)


async def context_left(database) -> bool:
    """Look at a connection as it comes from the pool: say whether somebody's context is on it."""
    async with database.at_once.connect() as connection:
        row = (await connection.execute(CONTEXT)).one()
    return any(row)


async def request(database, workspaces, name, chooser, stale):
    async with acting_as(database, subject(name), level=Access.READ) as acting:
        found = {row.workspace_id for row in await acting.connection.execute(READ)}
        if found != {workspaces[name]}:
            stale.append((name, found))
        if chooser.random() < FAILING:
            raise ValueError("a failure in the middle")
        await acting.connection.execute(text("select pg_sleep(0.001)"))


async def storm(database, workspaces, admin_url, requests=REQUESTS):
    chooser, stale = random.Random(20261201), []  # noqa: S311 - a seed that comes back
    gate = asyncio.Semaphore(24)

    async def one(index):
        async with gate:
            name = f"pool-{chooser.choice('ab')}"
            task = asyncio.create_task(request(database, workspaces, name, chooser, stale))
            if chooser.random() < CANCELLED:
                await asyncio.sleep(chooser.random() * 0.012)
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if index % 50 == 0 and await context_left(database):
                stale.append("context on a connection from the pool")
            if index % 500 == 250:
                await asyncio.to_thread(kill_one, admin_url)

    answers = await asyncio.gather(*(one(index) for index in range(requests)), return_exceptions=True)
    outages = [each for each in answers if each is not None]
    assert all(isinstance(each, SQLAlchemyError | ProblemError) for each in outages), outages[:3]
    return stale


def kill_one(admin_url):
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute("""select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'mw_app' and datname = current_database() limit 1""")


def idle_in_transaction(admin_url) -> int:
    with psycopg.connect(admin_url, autocommit=True) as admin:
        query = (
            "select count(*) from pg_stat_activity where state ~ 'idle in transaction' and datname = current_database()"
        )
        return admin.execute(query).fetchone()[0]


def test_no_context_survives_cancelled_requests(two):
    database, workspaces = two

    async def run():
        pool = door.Database(sqlalchemy_url(database.url), pool_size=4)
        stale = await storm(pool, workspaces, database.admin_url)
        left = (pool.in_use, await asyncio.to_thread(idle_in_transaction, database.admin_url))
        await pool.close()
        return stale, left

    stale, left = inside.run(run())
    assert stale == []
    assert left == (0, 0)


@pytest.mark.parametrize("statement", ["ENTER", "TAKE_UP", "AS_OPERATOR"])
def test_a_context_that_outlives_its_transaction_is_found(two, monkeypatch, statement):
    """The mutation: `set_config(..., true)` becomes `false`."""
    database, workspaces = two
    module = spans if statement == "TAKE_UP" else door
    whole = str(getattr(module, statement))
    assert ", true)" in whole
    monkeypatch.setattr(module, statement, text(whole.replace(", true)", ", false)")))

    async def run():
        pool = door.Database(sqlalchemy_url(database.url), pool_size=4)
        await pool.in_force(workspaces["pool-a"])
        async with acting_as(pool, subject("pool-a")):
            pass
        found = await context_left(pool)
        await pool.close()
        return found

    assert inside.run(run())


@pytest.mark.parametrize("lasting", [False, True])
def test_acting_at_once_leaves_no_context(two, monkeypatch, lasting):
    database, _ = two
    if lasting:
        monkeypatch.setattr(door, "AT_ONCE", door.AT_ONCE.replace(", true)", ", false)"))

    async def run():
        pool = door.Database(sqlalchemy_url(database.url), pool_size=1)
        picture = await foresee(pool, subject("pool-a"), is_fresh=True)
        await at_once(pool, picture, "d", acts("memwarden.journal_append"), '{"action": "test"}')
        found = await context_left(pool)
        await pool.close()
        return found

    assert inside.run(run()) == lasting


def test_a_full_pool_is_a_503_and_recovers(two, cluster, monkeypatch):
    database, _ = two
    monkeypatch.setattr(door, "POOL_WAIT_SECONDS", 0.3)
    headers = {"Authorization": f"Bearer {cluster.token('pool-a', 'agent')}"}

    async def run():
        async with inside.running(database.url, cluster.kubeconfig, pool_size=1) as (service, client):
            assert (await client.get("/v1/whoami", headers=headers)).status_code == 200
            async with service.database.engine.connect():
                full = await client.get("/v1/whoami", headers=headers)
            return full, await client.get("/v1/whoami", headers=headers)

    full, after = inside.run(run())
    assert (full.status_code, full.headers["retry-after"]) == (503, "1")
    assert full.json()["type"].endswith("unavailable")
    assert after.status_code == 200


def test_a_commit_that_fails_is_no_201(two, cluster):
    """A deferred constraint makes COMMIT itself fail: the answer must not have left by then."""
    database, _ = two
    trigger = """
      create function memwarden.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create constraint trigger fail after insert on memwarden.{table} deferrable initially deferred
        for each row when ({condition}) execute function memwarden.fail();
      grant execute on function memwarden.fail() to mw_app;
    """
    headers = {"Authorization": f"Bearer {cluster.token('pool-a', 'agent')}"}

    async def run():
        async with inside.running(database.url, cluster.kubeconfig) as (_, client):
            wanted = stack.proposal("Fails at commit.")
            failed = await client.post("/v1/memories", json=wanted, headers=headers)
            with database.admin(autocommit=True) as admin:
                admin.execute("drop function memwarden.fail() cascade")
            return failed, await client.post("/v1/memories", json=wanted, headers=headers)

    with database.admin(autocommit=True) as admin:
        admin.execute(trigger.format(table="memory", condition="new.content = 'Fails at commit.'"))
    failed, again = inside.run(run())
    assert failed.status_code == 500
    assert again.status_code == 201
