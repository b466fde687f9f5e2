"""The command line of the relay: run, look at what could not be delivered, read the journal, judge settings."""

import json
import logging
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import uvloop

from memwarden_relay import ledger, running
from memwarden_relay.queue import BusyError, Queue
from memwarden_relay.settings import Settings, SettingsError, load

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


class _SettingsFile(click.ParamType[Settings]):
    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Settings:
        if isinstance(value, Settings):
            return value
        try:
            return load(Path(value))
        except SettingsError as error:
            self.fail(str(error), param, ctx)


CONFIG = click.option(
    "--config", "settings", type=_SettingsFile(), required=True, envvar="MEMWARDEN_RELAY_CONFIG", help="Settings file."
)


@click.group()
def main() -> None:
    """Brings Alertmanager's notifications to Matrix rooms, and answers back."""


@main.command()
@CONFIG
@click.option("--host", default="127.0.0.1", envvar="MEMWARDEN_RELAY_HOST", show_default=True)
@click.option("--port", default=8080, envvar="MEMWARDEN_RELAY_PORT", show_default=True)
@click.option("--metrics-port", default=9092, envvar="MEMWARDEN_RELAY_METRICS_PORT", show_default=True)
@click.option("--tls-cert", type=EXISTING, envvar="MEMWARDEN_RELAY_TLS_CERT")
@click.option("--tls-key", type=EXISTING, envvar="MEMWARDEN_RELAY_TLS_KEY")
def run(settings: Settings, **address: Any) -> None:
    """Take webhooks, send, listen, until a signal says stop."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stdout, format='{"at":"%(asctime)s","level":"%(levelname)s","log":%(message)s}'
    )
    for chatty in ("httpx2", "httpcore2", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    try:
        uvloop.run(running.serve(settings, running.Address(**address)))
    except (BusyError, sqlite3.Error, OSError) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@CONFIG
def check(settings: Settings) -> None:
    """Judge the settings file, start nothing."""
    click.echo(f"{len(settings.rooms)} rooms, {len(settings.routes)} routes: well formed")


@main.command("dead-letters")
@CONFIG
@click.option("--retry", metavar="ID", help="Send this one again.")
@click.option("--drop", metavar="ID", help="Give this one up for good.")
def dead_letters(settings: Settings, retry: str | None, drop: str | None) -> None:
    """List what could not be delivered, one JSON line each; the relay may run meanwhile."""
    for identity, change in ((retry, ledger.requeue), (drop, ledger.drop)):
        if identity and not _with(settings, partial(change, delivery_id=identity)):
            raise click.ClickException(f"there is no dead letter {identity}")
    if not retry and not drop:
        for row in _with(settings, ledger.dead_letters):
            click.echo(json.dumps(row))


@main.command()
@CONFIG
def journal(settings: Settings) -> None:
    """Print what people did from the rooms, newest first, one JSON line each."""
    for row in _with(settings, ledger.journal):
        click.echo(json.dumps(row))


def _with(settings: Settings, work: Callable[[sqlite3.Connection], Any]) -> Any:
    queue = Queue(settings.queue_file, is_sender=False)
    try:
        return queue.call(work)
    finally:
        queue.close()


if __name__ == "__main__":
    main()
