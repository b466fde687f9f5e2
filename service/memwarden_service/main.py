"""The command line of the service: migrate, serve, openapi."""

import json
import sys
from pathlib import Path
from typing import Any

import click
import psycopg
import uvloop

from memwarden_service import app, logs, openapi
from memwarden_service.migrate import migrate as run_migrations
from memwarden_service.migrate import print_sql
from memwarden_service.sealed import KeysError
from memwarden_service.serve import serve as run
from memwarden_service.settings import HASH_KEY_BYTES_MIN, Settings

EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(context_settings={"auto_envvar_prefix": "MEMWARDEN"})
def main() -> None:
    """The memory service of Memwarden."""


@main.command()
@click.option(
    "--admin-url-file", type=EXISTING, envvar="MEMWARDEN_ADMIN_URL_FILE", help="URL of a role that makes roles."
)
@click.option("--app-password-file", type=EXISTING, envvar="MEMWARDEN_APP_PASSWORD_FILE", help="Password of mw_app.")
@click.option("--print-sql", "only_print", is_flag=True, help="Print the SQL, change nothing.")
def migrate(admin_url_file: Path | None, app_password_file: Path | None, *, only_print: bool) -> None:
    """Make the database roles and bring the schema up to date."""
    if only_print:
        print_sql()
        return
    if admin_url_file is None or app_password_file is None:
        raise click.UsageError("--admin-url-file and --app-password-file are needed")
    try:
        run_migrations(admin_url_file.read_text(), app_password_file.read_text().strip())
    except psycopg.OperationalError as error:
        raise click.ClickException(f"the database cannot be reached: {type(error).__name__}") from error


@main.command()
@click.option("--database-url-file", type=EXISTING, required=True, envvar="MEMWARDEN_DATABASE_URL_FILE")
@click.option("--hash-key-file", type=EXISTING, required=True, envvar="MEMWARDEN_HASH_KEY_FILE")
@click.option("--store-uid", required=True, envvar="MEMWARDEN_STORE_UID", help="UID of the MemoryStore.")
@click.option(
    "--operator", required=True, envvar="MEMWARDEN_OPERATOR", help="NAMESPACE/NAME of the operator's account."
)
@click.option("--kubeconfig", type=EXISTING, envvar="MEMWARDEN_KUBECONFIG", help="Outside a cluster.")
@click.option("--host", default="127.0.0.1", envvar="MEMWARDEN_HOST", show_default=True)
@click.option("--port", default=8080, envvar="MEMWARDEN_PORT", show_default=True)
@click.option("--metrics-port", default=9090, envvar="MEMWARDEN_METRICS_PORT", show_default=True)
@click.option("--tls-cert", type=EXISTING, envvar="MEMWARDEN_TLS_CERT")
@click.option(
    "--sealing-keys",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="MEMWARDEN_SEALING_KEYS",
    help="Folder of the keys v1, v2, ... that seal sensitive memories.",
)
@click.option("--tls-key", type=EXISTING, envvar="MEMWARDEN_TLS_KEY")
def serve(**options: Any) -> None:
    """Serve the API, and probes and metrics on a port of their own."""
    logs.start()
    hash_key = options.pop("hash_key_file").read_bytes().strip()
    if len(hash_key) < HASH_KEY_BYTES_MIN:
        raise click.UsageError(f"the hash key must have {HASH_KEY_BYTES_MIN} bytes or more")
    database_url = options.pop("database_url_file").read_text().strip()
    settings = Settings(database_url=database_url, hash_key=hash_key, **options)
    try:
        uvloop.run(run(settings))
    except KeysError as error:
        raise click.ClickException(str(error)) from error


@main.command(name="openapi")
def print_openapi() -> None:
    """Print the OpenAPI document."""
    document = openapi.document(app.build(None))
    click.echo(json.dumps(document, indent=2, sort_keys=True))


if __name__ == "__main__":
    sys.exit(main())
