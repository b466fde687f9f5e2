"""What Alembic runs: our migrations, on a connection that the caller made, or as SQL text."""

from alembic import context

from memwarden_service.migrations import steps

VERSION_SCHEMA = "memwarden"


def run() -> None:
    """Run the migrations in one transaction, or print them when Alembic is offline."""
    connection = context.config.attributes.get("connection")  # None: offline, print the SQL.
    context.configure(
        connection=connection,
        dialect_name=None if connection else "postgresql",
        version_table_schema=VERSION_SCHEMA,
        transactional_ddl=True,
        literal_binds=connection is None,
    )
    with context.begin_transaction():
        context.run_migrations()
        if context.get_revision_argument() == context.get_head_revision():
            for statement in steps.functions():
                context.execute(statement)


run()
