"""What a person wants for the memories that are theirs."""

from memwarden_service.migrations import steps

revision = "0006"
down_revision = "0005"

AS_ROLE = (("0006_1_settings.sql", "mw_owner"),)


def upgrade() -> None:
    """Add the table as the owner of all others."""
    steps.run(AS_ROLE)
