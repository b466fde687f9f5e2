"""The security envelope of memories: who can read the words, and what the service may do with them."""

from memwarden_service.migrations import steps

revision = "0003"
down_revision = "0002"

AS_ROLE = (("0003_1_envelope.sql", "mw_owner"),)


def upgrade() -> None:
    """Add everything, each file as the role that owns what it makes."""
    steps.run(AS_ROLE)
