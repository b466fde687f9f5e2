"""How much arrives from each source, and how much of it is alike."""

from memwarden_service.migrations import steps

revision = "0009"
down_revision = "0008"

AS_ROLE = (("0009_1_arrivals.sql", "mw_owner"),)


def upgrade() -> None:
    """Add the table as the owner of all others."""
    steps.run(AS_ROLE)
