"""Runs the service: the API on one port, probes and metrics on another, and ends when it is told to."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from memwarden_service import app as application
from memwarden_service import cluster, expiry, metrics, migrate, terms, wording
from memwarden_service.database import POOL_CONNECTIONS_MAX, schema_version, warm
from memwarden_service.edge import Edge
from memwarden_service.service import Service, assemble
from memwarden_service.settings import Settings
from memwarden_service.wire import BoundedProtocol

SCHEMA = migrate.head()
GRACE_SECONDS = 20
KEEP_ALIVE_SECONDS = 30
BACKLOG_MAX = 512
READY_POLL_SECONDS = 0.05
LOG = logging.getLogger("memwarden.service")


class Server(uvicorn.Server):
    """A server that leaves the signals to us, since there are two of them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests that are under way."""
    api_server = await cluster.connect(settings.kubeconfig)
    service = assemble(settings, api_server)
    app = application.build(service)
    metrics.start(application.routes(app))
    servers = (_api(settings, app), _probes(settings, service))
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, _stop, servers)
    warming = asyncio.create_task(warm(service.database, LOG))
    sweeping = asyncio.create_task(expiry.sweep(service.database, LOG))
    keeping = asyncio.create_task(terms.sweep(service.database, LOG))
    reading = asyncio.create_task(wording.sweep(service.database, LOG))
    ready = asyncio.create_task(_say_ready(settings, service, servers))
    tasks = (warming, sweeping, keeping, reading, ready)
    try:
        await asyncio.gather(*(server.serve() for server in servers))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await service.database.close()
        await api_server.close()
    LOG.info("stopped")


def _api(settings: Settings, app: FastAPI) -> Server:
    return Server(
        uvicorn.Config(
            Edge(app),
            host=settings.host,
            port=settings.port,
            http=BoundedProtocol,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            proxy_headers=False,
            backlog=BACKLOG_MAX,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
        )
    )


def _probes(settings: Settings, service: Service) -> Server:
    async def live(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def ready(_: Request) -> Response:
        problem = await why_not_ready(service)
        return PlainTextResponse(problem or "ok", 503 if problem else 200)

    async def show(_: Request) -> Response:
        metrics.POOL_MAX.set(POOL_CONNECTIONS_MAX)
        metrics.POOL_IN_USE.set(service.database.in_use)
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    app = Starlette(routes=[Route("/livez", live), Route("/readyz", ready), Route("/metrics", show)])
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.metrics_port,
        loop="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Server(config)


async def why_not_ready(service: Service) -> str | None:
    """Say what is missing; None: nothing."""
    try:
        version = await schema_version(service.database)
    except SQLAlchemyError:
        return "the database cannot be reached, or was not migrated"
    return None if version == SCHEMA else "the database has another schema"


async def _say_ready(settings: Settings, service: Service, servers: tuple[Server, ...]) -> None:
    while not all(server.started for server in servers) or await why_not_ready(service):  # noqa: ASYNC110 - a database sends no event
        await asyncio.sleep(READY_POLL_SECONDS)
    LOG.info("ready", extra={"port": settings.port, "metrics_port": settings.metrics_port})


def _stop(servers: tuple[Server, ...]) -> None:
    for server in servers:
        server.should_exit = True
