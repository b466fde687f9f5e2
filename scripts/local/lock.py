"""Says whether each dependency that pyproject.toml names is pinned in the lock files, without asking a registry."""

import re
import sys
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from local.folders import REPOSITORY


def main() -> int:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    direct = project["project"]["dependencies"]
    wanted = {"requirements.txt": direct, "requirements-dev.txt": [*direct, *project["dependency-groups"]["dev"]]}
    missing = [f"{lock}: {name}" for lock, names in wanted.items() for name in names if not _is_pinned(lock, name)]
    for line in missing:
        print(f"{line} is not in the lock as asked for; run scripts/lock", file=sys.stderr)
    return 1 if missing else 0


def _is_pinned(lock: str, wanted: str) -> bool:
    requirement = Requirement(wanted)
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", (REPOSITORY / lock).read_text(), re.MULTILINE)
    name = canonicalize_name(requirement.name)
    return any(canonicalize_name(pin) == name and requirement.specifier.contains(version) for pin, version in pins)


if __name__ == "__main__":
    sys.exit(main())
