"""What search keeps: the words of a memory, and where each is found."""

from memwarden_service.migrations import steps

revision = "0008"
down_revision = "0007"

AS_ROLE = (
    ("0008_1_tables.sql", "mw_owner"),
    ("0008_2_policies.sql", "mw_owner"),
)


def upgrade() -> None:
    """Add everything, each file as the role that owns what it makes or gives."""
    steps.run(AS_ROLE)
