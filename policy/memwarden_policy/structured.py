"""The structured form of a condition (`where`): attribute, operator, value; several of them are joined by and."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from memwarden_policy import attributes, bounds
from memwarden_policy.attributes import Attribute, Facts, Matter, Table, Type
from memwarden_policy.expressions import Failure
from memwarden_policy.model import Problem
from memwarden_policy.nearest import nearest
from memwarden_policy.shapes import UNITS, described, shown

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gte": operator.ge,
    "gt": operator.gt,
    "lte": operator.le,
    "lt": operator.lt,
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda value, choices: value in choices,
}
_ORDER = ("gte", "gt", "lte", "lt")
OPERATORS_OF: Final[Mapping[Type, tuple[str, ...]]] = {
    Type.STRING: ("eq", "ne", "in"),
    Type.BOOL: ("eq", "ne"),
    Type.INT: (*_ORDER, "eq", "ne"),
    Type.DOUBLE: (*_ORDER, "eq", "ne", "in"),
    Type.TIMESTAMP: _ORDER,
    Type.STRINGS: (),
}
_UNIT_NAMES: Final = {name: unit for short, unit in UNITS.items() for name in (short, unit, unit.removesuffix("s"))}
INT_MAX = 2**31 - 1
_RELATIVE = re.compile(r"\s*now\(\)\s*(?:([+-])\s*(\d{1,6})\s*([a-z]+)\s*)?")
# A century: nothing that is remembered is older.
OFFSET_MAX = timedelta(days=366 * 100)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, fixed or counted from the moment of the decision."""

    fixed: datetime | None  # None: counted from now.
    offset: timedelta = timedelta()

    def at(self, now: datetime) -> datetime:
        return self.fixed or now + self.offset


@dataclass(frozen=True, slots=True)
class Comparison:
    """One attribute beside one value."""

    attribute: Attribute
    operator: str
    operand: Any

    def holds(self, facts: Facts) -> bool:
        operand = self.operand.at(facts.now) if isinstance(self.operand, Moment) else self.operand
        return self.compare(self.attribute.read(facts), operand)

    def compare(self, value: Any, operand: Any) -> bool:
        """Compare a value of the attribute with an operand."""
        return COMPARISONS[self.operator](value, operand)

    @property
    def is_relative(self) -> bool:
        """Whether the operand moves with the moment of the decision."""
        return isinstance(self.operand, Moment) and self.operand.fixed is None

    @property
    def shown(self) -> str:
        """The comparison as a reader of policies writes it."""
        return f"{self.attribute.short_name} {self.operator} {_operand_shown(self.operand)}"


def _operand_shown(operand: Any) -> str:
    match operand:
        case Moment(fixed=None, offset=offset):
            sign = "-" if offset < timedelta() else "+"
            return f"now() {sign} {shown(abs(offset))}" if offset else "now()"
        case Moment(fixed=datetime() as fixed):
            return fixed.isoformat().replace("+00:00", "Z")
        case bool():
            return str(operand).lower()
        case frozenset():
            return f"[{', '.join(sorted(str(each) for each in operand))}]"
    return str(operand) if operand != "" else '""'


@dataclass(frozen=True, slots=True)
class Where:
    """Comparisons that must all hold."""

    comparisons: tuple[Comparison, ...]

    @property
    def shown(self) -> str:
        """The comparisons in one line."""
        return " and ".join(each.shown for each in self.comparisons)

    def holds(self, facts: Facts) -> bool | Failure:
        """Evaluate. What cannot be compared is a failure, never an exception."""
        try:
            return all(each.holds(facts) for each in self.comparisons)
        except OverflowError:
            return Failure("a moment lies outside of the calendar")
        except TypeError:
            return Failure("a moment without a zone cannot be compared")


def compiled(document: Any, path: str, matter: Matter = Matter.CANDIDATE) -> Where | tuple[Problem, ...]:
    """Compile the structured form found at `path`, or return every problem in it."""
    if not isinstance(document, Mapping) or not document:
        return (Problem(path=path, reason="InvalidType", message="`where` maps attributes to comparisons"),)
    if len(document) > bounds.WHERE_ATTRIBUTES_MAX:
        message = f"at most {bounds.WHERE_ATTRIBUTES_MAX} attributes, found {len(document)}"
        return (Problem(path=path, reason="TooMany", message=message),)
    table = attributes.TABLES[matter]
    found = [
        each for name, tests in document.items() for each in _attribute(table, str(name)[:100], tests, f"{path}.{name}")
    ]
    problems = tuple(each for each in found if isinstance(each, Problem))
    return problems or Where(tuple(each for each in found if isinstance(each, Comparison)))


def _attribute(table: Table, name: str, tests: Any, path: str) -> Iterator[Comparison | Problem]:
    attribute = table.by_short_name.get(name)
    if attribute is None:
        hint = nearest(name.rpartition(".")[2], table.by_short_name)
        yield Problem(path=path, reason="UnknownAttribute", message=f"unknown attribute `{name}`{hint}")
        return
    if not isinstance(tests, Mapping) or not tests:
        message = f"write an operator and a value, such as {{{_example(attribute)}}}"
        yield Problem(path=path, reason="InvalidType", message=message)
        return
    for word, value in tests.items():
        yield _comparison(attribute, str(word), value, f"{path}.{word}")


def _example(attribute: Attribute) -> str:
    values = {Type.BOOL: "eq: true", Type.INT: "gt: 1", Type.DOUBLE: "gte: 0.8", Type.TIMESTAMP: 'lt: "now() - 30d"'}
    return values.get(attribute.type, "eq: text")


def _comparison(attribute: Attribute, word: str, value: Any, path: str) -> Comparison | Problem:
    allowed = OPERATORS_OF[attribute.type]
    if not allowed:
        message = (
            f"`{attribute.short_name}` is a list: speak of it in `when`, as in {attribute.name}.exists(t, t == 'x')"
        )
        return Problem(path=path, reason="InvalidOperator", message=message)
    if word not in allowed:
        message = f"`{word}` does not apply to a {attribute.type}; use {', '.join(allowed)}"
        return Problem(path=path, reason="InvalidOperator", message=message)
    operand = _choices(attribute, value) if word == "in" else _operand(attribute, value)
    if isinstance(operand, Refused):
        return Problem(path=path, reason="InvalidValue", message=operand.message)
    return Comparison(attribute, word, operand)


@dataclass(frozen=True, slots=True)
class Refused:
    """A value that does not fit its attribute."""

    message: str


def _choices(attribute: Attribute, value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return Refused("`in` takes a list of values")
    if len(value) > attribute.choices_max:
        return Refused(f"`in` takes at most {attribute.choices_max} values here, found {len(value)}")
    operands = [_operand(attribute, each) for each in value]
    refused = [each for each in operands if isinstance(each, Refused)]
    return refused[0] if refused else frozenset(operands)


def _operand(attribute: Attribute, value: Any) -> Any:
    match attribute.type, value:
        case Type.BOOL, bool():
            return value
        case Type.STRING, str():
            return _text(attribute, value)
        case Type.DOUBLE, int() | float() if not isinstance(value, bool):
            return Decimal(str(value)) if 0 <= value <= 1 else Refused("expected a number from 0 to 1")
        case Type.INT, int() if not isinstance(value, bool):
            return value if 0 <= value <= INT_MAX else Refused("expected a whole number from 0")
        case Type.TIMESTAMP, str():
            return moment(value)
    return Refused(f"expected a {attribute.type}, found {described(value)}")


def _text(attribute: Attribute, value: str) -> str | Refused:
    if attribute.words and value not in attribute.words:
        hint = nearest(value, attribute.words)
        return Refused(f"`{value[:100]}` is not one of {', '.join(attribute.words)}{hint}")
    if len(value) > attribute.longest:
        return Refused(f"a text holds at most {attribute.longest} characters here, found {len(value)}")
    return value


def moment(text: str) -> Moment | Refused:
    """Read `now() - 30d`, `now() - 30 days` or an RFC 3339 time with a zone."""
    if len(text) > bounds.TIME_LENGTH_MAX:
        return Refused(f"a time holds at most {bounds.TIME_LENGTH_MAX} characters")
    relative = _RELATIVE.fullmatch(text)
    if relative is None:
        return _fixed(text)
    sign, count, unit = relative.groups()
    if unit is None:
        return Moment(None)
    if unit not in _UNIT_NAMES:
        return Refused(f"unknown unit `{unit}`; use {', '.join(UNITS)}")
    offset = timedelta(**{_UNIT_NAMES[unit]: int(count)})
    if offset > OFFSET_MAX:
        return Refused("an offset is at most 100 years")
    return Moment(None, -offset if sign == "-" else offset)


def _fixed(text: str) -> Moment | Refused:
    message = 'expected a time such as "now() - 30d" or "2026-12-01T12:00:00Z"'
    try:
        fixed = datetime.fromisoformat(text)
        return Moment(fixed.astimezone(UTC)) if fixed.tzinfo else Refused(f"{message}, with its zone")
    except (ValueError, OverflowError):
        return Refused(message)
