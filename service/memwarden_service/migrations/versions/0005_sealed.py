"""Sensitive memories that the service seals at rest; an index of what owners let be found by vector."""

from memwarden_service.migrations import steps

revision = "0005"
down_revision = "0004"

AS_ROLE = (("0005_1_sealed.sql", "mw_owner"),)


def upgrade() -> None:
    """Change the constraints, as the role that owns the tables."""
    steps.run(AS_ROLE)
