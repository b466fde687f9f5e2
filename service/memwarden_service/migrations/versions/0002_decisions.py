"""What a confirmation needs, what a person rejected, feedback, versions of memories, and domains as resources."""

from memwarden_service.migrations import steps

revision = "0002"
down_revision = "0001"

AS_ROLE = (
    ("0002_1_tables.sql", "mw_owner"),
    ("0002_2_policies.sql", "mw_owner"),
    ("0002_5_registry.sql", "mw_registry"),
)


def upgrade() -> None:
    """Add everything, each file as the role that owns what it makes."""
    steps.run(AS_ROLE)
