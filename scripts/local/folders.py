"""Where things live on this machine: what was built once, and what a running quickstart keeps."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def cache() -> Path:
    """Return the folder of what was built or unpacked once, for every checkout of this user."""
    chosen = os.environ.get("MEMWARDEN_CACHE")
    folder = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memwarden"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def state() -> Path:
    """Return the folder of the running quickstart.

    PostgreSQL refuses to be root, and the home of root is closed to others: as root it lies in /var/lib.
    """
    chosen = os.environ.get("MEMWARDEN_STATE")
    if chosen:
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/lib/memwarden-quickstart")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "memwarden"
