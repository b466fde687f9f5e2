"""What a confirmation needs, what a person rejected, feedback, versions of memories, and domains as resources."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"

SQL = Path(__file__).parents[1] / "sql"
AS_ROLE = (
    ("0002_1_tables.sql", "mw_owner"),
    ("0002_2_policies.sql", "mw_owner"),
    ("0002_3_changes.sql", "mw_owner"),
    ("0002_4_record.sql", "mw_owner"),
    ("0002_5_registry.sql", "mw_registry"),
)


def upgrade() -> None:
    """Add everything, each file as the role that owns what it makes."""
    op.execute("set local role mw_owner")
    op.execute("grant create on schema memwarden to mw_registry")
    for name, role in AS_ROLE:
        op.execute(f"set local role {role}")
        op.execute((SQL / name).read_text())
    op.execute("set local role mw_owner")
    op.execute("revoke create on schema memwarden from mw_registry")
