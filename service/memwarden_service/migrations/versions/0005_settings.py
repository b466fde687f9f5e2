"""What a person wants for the memories that are theirs."""

from memwarden_service.migrations import steps

revision = "0005"
down_revision = "0004"

AS_ROLE = (("0005_1_settings.sql", "mw_owner"),)


def upgrade() -> None:
    """Add the table as the owner of all others."""
    steps.run(AS_ROLE)
