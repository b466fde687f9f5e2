"""When a memory ends, who holds it back, and how far that was reckoned."""

from memwarden_service.migrations import steps

revision = "0004"
down_revision = "0003"

AS_ROLE = (
    ("0004_1_tables.sql", "mw_owner"),
    ("0004_2_policies.sql", "mw_owner"),
    ("0004_4_journal.sql", "mw_journal"),
)


def upgrade() -> None:
    """Add everything, each file as the role that owns what it makes or gives."""
    steps.run(AS_ROLE)
