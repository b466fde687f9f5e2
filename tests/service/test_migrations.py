"""The schema moves on under rows that are there."""

from alembic import command
from sqlalchemy import NullPool, create_engine

from memwarden_service import migrate
from serving import stack

WORKSPACE = "00000000-0000-0000-0000-00000000000a"
ROWS = """
insert into memwarden.workspace (id, name) values ('{w}', 'old');
insert into memwarden.domain (workspace_id, id, name) values ('{w}', '{w}', 'open/x');
insert into memwarden.decision values ('{w}', '{w}', '{w}', null, 'x', null, 'Accept', '[]', '', 1, sha256('x'), now());
insert into memwarden.memory values ('{w}', '{w}', '{w}', null, null, '', 'semantic', '', 'Old.', 'imported', null, 0.5,
  false, '{{}}', now(), 'x', null, false, now(), '{w}', 1, null, now());
insert into memwarden.candidate values ('{w}', '{w}', '{w}', null, null, '', 'semantic', '', 'Older.', 'imported', null,
  0.5, false, '{{}}', now(), 'x', null, false, now(), '{w}', 1, 'pending');
"""


def upgrade(url: str, revision: str) -> None:
    engine = create_engine(migrate.sqlalchemy_url(url), poolclass=NullPool)
    with engine.connect().execution_options(no_parameters=True) as connection:
        connection.exec_driver_sql("set role mw_owner")
        connection.commit()
        config = migrate._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()
    engine.dispose()


def test_what_was_there_is_served_and_waits_on(server):
    database = stack.make_database(server, "moving")  # Makes the roles; then everything begins again, at the start.
    with database.admin() as admin:
        admin.execute("drop schema memwarden cascade")
        admin.execute("create schema memwarden authorization mw_owner")
    upgrade(database.admin_url, "0001")
    with database.admin() as admin:
        admin.execute(ROWS.format(w=WORKSPACE))
    upgrade(database.admin_url, "head")
    with database.admin() as admin:
        served = admin.execute("""select m.content, m.status, m.security_mode, m.server_content_search_enabled
          from memwarden.memory m where memwarden.is_standing(m)""")
        assert served.fetchall() == [("Old.", "confirmed", "standard", True)]
        waits = admin.execute("select content, expires_at > now() + interval '29 days' from memwarden.candidate")
        assert waits.fetchall() == [("Older.", True)]
