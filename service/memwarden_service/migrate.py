"""Makes the database roles and runs the migrations, as an administrator who is no part of a running service."""

from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.engine import URL

MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 7_223_001_147  # Two migrations at once: one waits for the other.
APP_ROLE = "mw_app"
ROLES_SQL = """
do $$
declare
  role_name text;
begin
  foreach role_name in array array['mw_owner', 'mw_app', 'mw_journal', 'mw_registry', 'mw_retention'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      execute 'create role ' || role_name || ' nologin nosuperuser nocreatedb nocreaterole nobypassrls noinherit';
    end if;
    if role_name <> 'mw_app' then
      execute 'grant ' || role_name || ' to current_user with inherit false, set true';
    end if;
  end loop;
end $$;
alter role mw_app login nosuperuser nocreatedb nocreaterole nobypassrls;
alter role mw_app set search_path = '';
alter role mw_app set statement_timeout = '10s';
alter role mw_app set lock_timeout = '5s';
alter role mw_app set idle_in_transaction_session_timeout = '15s';
create schema if not exists memwarden authorization mw_owner;
revoke all on schema memwarden from public;
"""


def migrate(admin_url: str, app_password: str) -> None:
    """Make the roles, set the application's password and run what is missing of the migrations.

    Args:
        admin_url: of a role that may create roles and the schema.
        app_password: of the role `mw_app`.

    Raises:
        psycopg.Error: the database refused, or could not be reached.
    """
    url = sqlalchemy_url(admin_url)
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(hide_password=False)) as connection:
        connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(ROLES_SQL.encode())
        # The verifier is computed here: the password itself is in no statement that a log could hold.
        verifier = connection.pgconn.encrypt_password(app_password.encode(), APP_ROLE.encode(), b"scram-sha-256")
        literal = psycopg.sql.Literal(verifier.decode())
        connection.execute(psycopg.sql.SQL("alter role mw_app password {}").format(literal))
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect().execution_options(no_parameters=True) as connection_:
        connection_.exec_driver_sql(f"select pg_advisory_lock({LOCK})")
        connection_.exec_driver_sql("set role mw_owner")
        connection_.commit()
        config = _config()
        config.attributes["connection"] = connection_
        command.upgrade(config, "head")
        connection_.commit()
    engine.dispose()


def print_sql() -> None:
    """Print what `migrate` would run, for an administrator who runs it by hand; the password is theirs to set."""
    print(ROLES_SQL)  # noqa: T201 - this command's answer
    print("set role mw_owner;")  # noqa: T201
    command.upgrade(_config(), "head", sql=True)


def head() -> str | None:
    """Return the newest version of the schema: the one that this service works with."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def sqlalchemy_url(url: str) -> URL:
    """Return the URL with the driver that we use, whichever `postgresql` form it came in."""
    return make_url(url.strip()).set(drivername="postgresql+psycopg")


def _config() -> Config:
    options: dict[str, Any] = {"script_location": str(MIGRATIONS)}
    config = Config()
    for name, value in options.items():
        config.set_main_option(name, value)
    return config
