"""How the files of a migration are run: each as the role that will own what it makes."""

from collections.abc import Iterable
from pathlib import Path

from alembic import op

SQL = Path(__file__).parent / "sql"
FUNCTIONS = Path(__file__).parent / "functions"
OWNER = "mw_owner"
MAKERS = "mw_journal, mw_registry"  # Roles beside the owner that own functions.


def run(files: Iterable[tuple[str, str]]) -> None:
    """Run files of `sql/`, each as the role named beside it."""
    op.execute(f"set local role {OWNER}")
    op.execute(f"grant create on schema memwarden to {MAKERS}")
    for name, role in files:
        op.execute(f"set local role {role}")
        op.execute((SQL / name).read_text())
    op.execute(f"set local role {OWNER}")
    op.execute(f"revoke create on schema memwarden from {MAKERS}")


def functions() -> tuple[str, ...]:
    """Return the statements that put the functions of the newest schema in place, whatever was there.

    A function that several migrations touch lives in one file in its newest form: none of them has to repeat it whole.
    """
    bodies = [each.read_text() for each in sorted(FUNCTIONS.glob("*.sql"))]
    return (f"set local role {OWNER}", *bodies)
