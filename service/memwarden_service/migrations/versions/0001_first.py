"""The first schema: workspaces, rules, memories, decisions, journal, and who may see which row."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

SQL = Path(__file__).parents[1] / "sql"
AS_ROLE = (
    ("0001_1_tables.sql", "mw_owner"),
    ("0001_2_policies.sql", "mw_owner"),
    ("0001_3_functions.sql", "mw_owner"),
    ("0001_4_journal.sql", "mw_journal"),
    ("0001_5_registry.sql", "mw_registry"),
)
MAKERS = "mw_journal, mw_registry"


def upgrade() -> None:
    """Create everything, each file as the role that owns what it makes."""
    op.execute(f"grant create on schema memwarden to {MAKERS}")
    for name, role in AS_ROLE:
        op.execute(f"set local role {role}")
        op.execute((SQL / name).read_text())
    op.execute("set local role mw_owner")
    op.execute(f"revoke create on schema memwarden from {MAKERS}")
