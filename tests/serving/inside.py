"""A service inside the test's own process, so that its statements can be counted and its tasks cancelled."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx2
from sqlalchemy import event

from memwarden_service import app as application
from memwarden_service import cluster, service
from memwarden_service.database import Database
from memwarden_service.edge import Edge
from memwarden_service.migrate import sqlalchemy_url
from memwarden_service.settings import Settings
from serving import stack


@contextlib.asynccontextmanager
async def running(
    url: str, kubeconfig, pool_size: int = 10
) -> AsyncIterator[tuple[service.Service, httpx2.AsyncClient]]:
    """Run a service on the database; its API server is the real one."""
    settings = Settings(
        database_url=url,
        hash_key=stack.HASH_KEY.encode(),
        store_uid=stack.STORE_UID,
        operator=stack.OPERATOR,
        kubeconfig=kubeconfig,
    )
    api = await cluster.connect(kubeconfig)
    made = service.assemble(settings, api)
    if pool_size != 10:
        small = Database(sqlalchemy_url(url), pool_size=pool_size)
        for part in (made, made.authenticator, made.writing):
            object.__setattr__(part, "database", small)
    transport = httpx2.ASGITransport(app=Edge(application.build(made)), raise_app_exceptions=False)
    try:
        async with httpx2.AsyncClient(transport=transport, base_url="http://inside", timeout=30) as client:
            yield made, client
    finally:
        await made.database.close()
        await api.close()


class Statements:
    """The statements that go to the database, one line each."""

    def __init__(self, database: Database) -> None:
        self.seen: list[str] = []
        event.listen(database.engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, _connection, _cursor, statement, *_rest) -> None:
        self.seen.append(" ".join(statement.split()))

    def take(self) -> list[str]:
        taken, self.seen = self.seen, []
        return taken


def run(coroutine):
    """Run a test's coroutine on a loop of its own."""
    return asyncio.run(coroutine)
