"""What is due is found workspace by workspace, and all past versions are reckoned."""

from memwarden_service.migrations import steps

revision = "0007"
down_revision = "0006"

AS_ROLE = (("0007_1_indexes.sql", "mw_owner"),)


def upgrade() -> None:
    """Change everything, each file as the role that owns what it changes."""
    steps.run(AS_ROLE)
