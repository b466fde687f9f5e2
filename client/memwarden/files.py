"""Finds and reads the files a command is given."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memwarden_policy import bounds

STDIN = Path("-")
SUFFIXES = (".yaml", ".yml", ".json")
FILES_MAX = 10_000


class NothingToReadError(Exception):
    """A name that is no file, or a folder without YAML files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One text and where it is from."""

    name: str
    folder: Path  # Names inside the text are relative to it.
    text: str
    fault: str = ""  # Why it could not be read; the text is then empty.
    is_found: bool = False  # True: found in a folder, not named by the person who asked.


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and whether a folder led to it."""

    path: Path
    is_in_folder: bool


def find(names: Iterable[Path]) -> list[Found]:
    """Return the files named, folders walked in order of name.

    Raises:
        NothingToReadError: a name is not there, a folder holds no YAML, or there are too many files.
    """
    found = [Found(path, is_in_folder=path != name) for name in names for path in _expand(name)]
    if len(found) > FILES_MAX:
        raise NothingToReadError(f"At most {FILES_MAX} files at once, found {len(found)}")
    return found


def _expand(name: Path) -> list[Path]:
    if name == STDIN:
        return [name]
    if name.is_dir():
        below = sorted(path for path in name.rglob("*") if path.suffix in SUFFIXES and path.is_file())
        if not below:
            raise NothingToReadError(f"There is no YAML file in {name}")
        return below
    if not name.exists():
        raise NothingToReadError(f"There is no file {name}")
    return [name]


def read_sources(found: Iterable[Found]) -> Iterator[Source]:
    """Read each file; one that cannot be read is a source with a fault."""
    for each in found:
        if each.path == STDIN:
            yield Source(name="standard input", folder=Path.cwd(), text=sys.stdin.read(bounds.TEXT_LENGTH_MAX + 1))
        else:
            yield replace(read_source(each.path), is_found=each.is_in_folder)


def read_source(path: Path) -> Source:
    """Read one file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(bounds.TEXT_LENGTH_MAX + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        return Source(name=str(path), folder=path.parent, text="", fault=f"cannot be read: {reason}")
    return Source(name=str(path), folder=path.parent, text=text)
