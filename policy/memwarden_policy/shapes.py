"""Reads the fields of a spec one by one, with its bounds; every misfit is a problem with the path of its field."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from memwarden_policy import bounds
from memwarden_policy.model import Problem
from memwarden_policy.nearest import nearest

Word = TypeVar("Word", bound=StrEnum)
Item = TypeVar("Item")


# Of a name that makes no sense, only the beginning is shown.
NAME_SHOWN_MAX = 100


@dataclass(slots=True)
class Findings:
    """The problems found so far in one object; more than a person reads are dropped."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, path: str, reason: str, message: str) -> None:
        if len(self.problems) < bounds.PROBLEMS_PER_OBJECT_MAX:
            self.problems.append(Problem(path=path, reason=reason, message=" ".join(message.split())))


@dataclass(frozen=True, slots=True)
class Node:
    """A mapping inside a spec, its path, and where its problems go. A missing mapping reads as an empty one."""

    path: str
    values: Mapping[str, Any]
    findings: Findings

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def problem(self, name: str, reason: str, message: str) -> None:
        self.findings.add(self.at(name) if name else self.path, reason, message)

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def knows(self, *names: str) -> None:
        """Report each field that is not one of these."""
        unknown = (str(name)[:NAME_SHOWN_MAX] for name in self.values if name not in names)
        for name in islice(unknown, bounds.PROBLEMS_PER_OBJECT_MAX):
            self.problem(name, "UnknownField", f"unknown field `{name}`{nearest(name, names)}")

    def node(self, name: str) -> "Node":
        value = self.values.get(name)
        if value is not None and not isinstance(value, Mapping):
            self.problem(name, "InvalidType", f"expected a mapping, found {described(value)}")
        return Node(self.at(name), value if isinstance(value, Mapping) else {}, self.findings)

    def items(self, name: str, most: int) -> Sequence[Any]:
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.problem(name, "InvalidType", f"expected a list, found {described(value)}")
            return ()
        if len(value) > most:
            self.problem(name, "TooMany", f"at most {most} items, found {len(value)}")
            return ()
        return value

    def nodes(self, name: str, most: int) -> list["Node"]:
        found = []
        for index, value in enumerate(self.items(name, most)):
            path = f"{self.at(name)}[{index}]"
            if isinstance(value, Mapping):
                found.append(Node(path, value, self.findings))
            else:
                self.findings.add(path, "InvalidType", f"expected a mapping, found {described(value)}")
        return found

    def filled(self, name: str) -> None:
        """Report a list that is there and empty."""
        if self.values.get(name) == []:
            self.problem(name, "Empty", f"`{name}` must hold at least one item, or be left out")

    def matching(self, name: str, pattern: "Pattern", longest: int) -> str | None:
        """Return a text of the pattern; None where it is missing or does not fit."""
        value = self.text(name, longest)
        if value is not None and pattern.expression.fullmatch(value) is None:
            self.problem(name, "InvalidName", f"`{value[:NAME_SHOWN_MAX]}` must be {pattern.meaning}")
        return value

    def texts(self, name: str, most: int, longest: int) -> tuple[str, ...]:
        read = [
            self._text(f"{self.at(name)}[{index}]", value, longest)
            for index, value in enumerate(self.items(name, most))
        ]
        return tuple(each for each in read if each is not None)

    def words(self, name: str, kind: type[Word], most: int) -> tuple[Word, ...]:
        read = [
            self._word(f"{self.at(name)}[{index}]", value, kind) for index, value in enumerate(self.items(name, most))
        ]
        for index in duplicates(read, lambda word: word):
            self.findings.add(f"{self.at(name)}[{index}]", "Duplicate", "this word is named before")
        return tuple(each for each in read if each is not None)

    def text(self, name: str, longest: int) -> str | None:
        """Return a text that is not empty; None where it is missing or does not fit."""
        return self._text(self.at(name), self.values[name], longest) if self.has(name) else None

    def word(self, name: str, kind: type[Word]) -> Word | None:
        """Return a word of the enumeration; None where it is missing or unknown."""
        return self._word(self.at(name), self.values[name], kind) if self.has(name) else None

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.problem(name, "InvalidType", f"expected true or false, found {described(value)}")
        return default

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a whole number; 0 where it is missing or does not fit."""
        value = self.values.get(name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int):
            self.problem(name, "InvalidType", f"expected a whole number, found {described(value)}")
        elif not least <= value <= most:
            self.problem(name, "OutOfRange", f"expected {least} to {most}, found {value}")
        else:
            return value
        return 0

    def number(self, name: str, least: int, most: int) -> Decimal | None:
        """Return a number by its shortest decimal form; None where it is missing or does not fit."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.problem(name, "InvalidType", f"expected a number, found {described(value)}")
        elif not least <= value <= most:
            self.problem(name, "OutOfRange", f"expected {least} to {most}, found {value}")
        else:
            return Decimal(str(value))
        return None

    def duration(self, name: str) -> timedelta | None:
        """Return a time such as 30d; None where it is missing or does not fit."""
        text = self.text(name, bounds.DURATION_LENGTH_MAX)
        if text is None:
            return None
        found = duration(text)
        if found is None:
            days = bounds.DURATION_DAYS_MAX
            self.problem(name, "InvalidDuration", f"expected a time such as 30d, 12h or 45m, of at most {days} days")
        return found

    def moment(self, name: str) -> datetime | None:
        """Return an RFC 3339 time; None where it is missing or does not fit."""
        value = self.values.get(name)
        if value is None:
            return None
        found = moment(value)
        if found is None:
            self.problem(name, "InvalidTime", "expected a time with its zone, such as 2026-12-01T12:00:00Z")
        return found

    def require(self, name: str) -> None:
        if not self.has(name):
            self.problem(name, "Required", f"`{name}` is required")

    def _text(self, path: str, value: Any, longest: int) -> str | None:
        if not isinstance(value, str):
            hint = "; put it in quotes" if isinstance(value, bool | int | float) else ""
            self.findings.add(path, "InvalidType", f"expected a text, found {described(value)}{hint}")
        elif not value:
            self.findings.add(path, "Empty", "expected a text that is not empty")
        elif len(value) > longest:
            self.findings.add(path, "TooLong", f"at most {longest} characters, found {len(value)}")
        else:
            return value
        return None

    def _word(self, path: str, value: Any, kind: type[Word]) -> Word | None:
        known = [each.value for each in kind]
        if isinstance(value, str) and value in known:
            return kind(value)
        shown = f"`{value}`" if isinstance(value, str) else described(value)
        hint = nearest(value, known) if isinstance(value, str) else ""
        self.findings.add(path, "UnknownValue", f"{shown[:NAME_SHOWN_MAX]} is not one of {', '.join(known)}{hint}")
        return None


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a name may look like, for machines and for people."""

    expression: re.Pattern[str]
    meaning: str


_EDGES = "small letters, digits and dashes{}, beginning and ending with a letter or digit"
LABEL = Pattern(re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"), _EDGES.format(""))
DOTTED_NAME = Pattern(re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"), _EDGES.format(" and dots"))


DURATION = re.compile(r"([1-9][0-9]{0,8})([wdhms])")
UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def duration(text: str) -> timedelta | None:
    """Read a time such as 30d; None for anything else."""
    found = DURATION.fullmatch(text)
    if found is None:
        return None
    try:
        read = timedelta(**{UNITS[found.group(2)]: int(found.group(1))})
    except OverflowError:
        return None
    return read if read <= timedelta(days=bounds.DURATION_DAYS_MAX) else None


def shown(span: timedelta) -> str:
    """Return a time in its largest whole unit, such as 30d."""
    seconds = int(span.total_seconds())
    sizes = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
    return next(f"{seconds // size}{unit}" for unit, size in sizes.items() if seconds % size == 0)


def moment(value: Any) -> datetime | None:
    """Read an RFC 3339 time with its zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        return read.astimezone(UTC) if read.tzinfo else None
    except (ValueError, OverflowError):
        return None


def described(value: Any) -> str:
    """Name the type of a value in the words of YAML."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a bool"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "a mapping"
        case _:
            return "a list"


def duplicates(values: Iterable[Item], key: Callable[[Item], Any]) -> list[int]:
    """Return the positions of the values whose key was seen before."""
    seen: set[Any] = set()
    found = []
    for index, value in enumerate(values):
        if key(value) in seen:
            found.append(index)
        seen.add(key(value))
    return found
