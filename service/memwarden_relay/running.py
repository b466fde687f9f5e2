"""Puts the parts together and runs them until a signal says stop."""

import asyncio
import json
import logging
import signal
import socket
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import uvicorn
from starlette.applications import Starlette

from memwarden_relay import health, ledger, metrics
from memwarden_relay.alertmanager import Alertmanager
from memwarden_relay.clockwork import Clockwork
from memwarden_relay.handle import Handler
from memwarden_relay.intake import Intake
from memwarden_relay.listener import Listener
from memwarden_relay.matrix import Matrix
from memwarden_relay.queue import Queue
from memwarden_relay.rooms import Rooms
from memwarden_relay.sender import Sender
from memwarden_relay.settings import Settings

CONNECTIONS_MAX = 256
STOP_SECONDS = 35  # For what is being sent: the homeserver has 30.
log = logging.getLogger("memwarden_relay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where to listen."""

    host: str
    port: int
    metrics_port: int
    tls_cert: str | None = None  # None: plain HTTP.
    tls_key: str | None = None


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # Signals stop the whole relay, not one of its servers.


async def serve(settings: Settings, address: Address) -> None:
    """Run the relay until SIGTERM or SIGINT.

    Raises:
        queue.BusyError: another relay has the queue.
        sqlite3.Error: the queue cannot be opened.
        OSError: a port is taken.
    """
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    metrics.start(settings.rooms)
    queue = Queue(settings.queue_file, is_sender=True)
    matrix = Matrix(settings.homeserver, settings.token_file, settings.homeserver_ca_file)
    told = settings.alertmanager
    alertmanager = Alertmanager(told.urls if told else (), told.token_file if told else None)
    try:
        await _run(settings, address, queue, matrix, alertmanager, stop)
    finally:
        await matrix.close()
        await alertmanager.close()
        queue.close()


async def _run(
    settings: Settings, address: Address, queue: Queue, matrix: Matrix, alertmanager: Alertmanager, stop: asyncio.Event
) -> None:
    taken = [_listening(address.host, port) for port in (address.port, address.metrics_port)]
    rooms = Rooms(settings, queue, matrix)
    await rooms.load()
    await queue.run(partial(ledger.remember_once, name="listening_since", value=str(time.time())))
    sender = Sender(queue, matrix, rooms)
    handler = Handler(settings, queue, rooms, alertmanager)
    handler.sender = sender
    listener = Listener(queue, matrix, rooms, handler)
    clockwork = Clockwork(settings, queue, rooms, alertmanager, sender.news)

    def picture(now: float) -> health.Picture:
        return health.Picture(
            is_token_valid=rooms.is_token_valid,
            troubles=rooms.troubles(),
            oldest_at={name: one.oldest_at for name, one in clockwork.standing.items()},
            age_limit_seconds=settings.times.queue_age_ready_seconds,
            heard_at=listener.heard_at,
            now=now,
        )

    intake = Intake(settings, queue, sender.news)
    tls = {"ssl_certfile": address.tls_cert, "ssl_keyfile": address.tls_key} if address.tls_cert else {}
    doors, probes = _server(intake.app(), tls), _server(health.app(picture), {})
    parts: list[Awaitable[None]] = [
        clockwork.check_rooms(stop),
        clockwork.run(stop),
        sender.run(stop),
        listener.run(stop),
        doors.serve([taken[0]]),
        probes.serve([taken[1]]),
    ]
    await _together(parts, (doors, probes), stop)


async def _together(parts: list[Awaitable[None]], servers: tuple[_Server, ...], stop: asyncio.Event) -> None:
    """Run the parts; when one fails or a signal comes, all end."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    ended = asyncio.ensure_future(stop.wait())
    log.info(json.dumps({"event": "started"}))
    await asyncio.wait({*tasks, ended}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    for server in servers:
        server.should_exit = True
    _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
    for task in late:
        task.cancel()
    await asyncio.gather(*(task for task in tasks if task not in late))
    log.info(json.dumps({"event": "stopped"}))


def _listening(host: str, port: int) -> socket.socket:
    """Take a port here: the server's own way to say that it is taken is to end the process."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=CONNECTIONS_MAX)


def _server(app: Starlette, tls: dict[str, str | None]) -> _Server:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=5,
        lifespan="off",
        ssl_certfile=tls.get("ssl_certfile"),
        ssl_keyfile=tls.get("ssl_keyfile"),
    )
    return _Server(config)
