"""The first schema: workspaces, rules, memories, decisions, journal, and who may see which row."""

from memwarden_service.migrations import steps

revision = "0001"
down_revision = None

AS_ROLE = (
    ("0001_1_tables.sql", "mw_owner"),
    ("0001_2_policies.sql", "mw_owner"),
    ("0001_3_functions.sql", "mw_owner"),
    ("0001_4_journal.sql", "mw_journal"),
    ("0001_5_registry.sql", "mw_registry"),
)


def upgrade() -> None:
    """Create everything, each file as the role that owns what it makes."""
    steps.run(AS_ROLE)
