"""The only door to the CEL engine: compiles an expression against the table of attributes, and evaluates it."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from cel_expr_python import cel

from memwarden_policy import attributes, bounds
from memwarden_policy.attributes import Facts, Type
from memwarden_policy.nearest import nearest

EXPRESSIONS_CACHED_MAX = 20_000

# What the engine raises for a text or a value it does not take.
ENGINE_ERRORS: Final = (RuntimeError, TypeError, ValueError, OverflowError)

_TYPES: Final = {
    Type.STRING: cel.Type.STRING,
    Type.BOOL: cel.Type.BOOL,
    Type.DOUBLE: cel.Type.DOUBLE,
    Type.TIMESTAMP: cel.Type.TIMESTAMP,
    Type.STRINGS: cel.Type.List(cel.Type.STRING),
}
_ENVIRONMENT: Final = cel.NewEnv(variables={each.name: _TYPES[each.type] for each in attributes.ATTRIBUTES})
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")


class Failure(str):
    """Why a condition could not be evaluated, in one line."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the text of a condition."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A CEL expression that compiles and gives a bool."""

    text: str
    _program: cel.Expression = field(compare=False, repr=False)

    def holds(self, activation: "Activation") -> bool | Failure:
        """Evaluate. An error is a value, never an exception, and never true."""
        prepared = activation.prepared
        if isinstance(prepared, Failure):
            return prepared
        try:
            value = self._program.eval(prepared)
            answer = value.value()
        except ENGINE_ERRORS as error:
            return Failure(_one_line(str(error)))
        if answer is True or answer is False:
            return answer
        return Failure(_one_line(str(answer)))


class Activation:
    """The facts of one decision in the engine's own form, prepared once and only if an expression asks."""

    __slots__ = ("_facts", "_prepared")

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._prepared: cel.Activation | Failure | None = None  # None: not asked for yet.

    @property
    def prepared(self) -> cel.Activation | Failure:
        if self._prepared is None:
            self._prepared = _prepare(self._facts)
        return self._prepared


def _prepare(facts: Facts) -> cel.Activation | Failure:
    values = {each.name: _engine_value(each.type, each.read(facts)) for each in attributes.ATTRIBUTES}
    try:
        return _ENVIRONMENT.Activation(values)
    except ENGINE_ERRORS as error:
        return Failure(_one_line(str(error)))


def _engine_value(kind: Type, value: attributes.Value) -> object:
    if kind is Type.DOUBLE:
        return float(value)  # type: ignore[arg-type]  # the table types confidence as a decimal
    if kind is Type.STRINGS:
        return list(value)  # type: ignore[arg-type]  # the table types lists as tuples
    return value


@lru_cache(maxsize=EXPRESSIONS_CACHED_MAX)
def compiled(text: str) -> Expression | Fault:
    """Compile an expression, or say what is wrong with it, with line, column and the nearest known name."""
    if len(text) > bounds.EXPRESSION_LENGTH_MAX:
        limit = bounds.EXPRESSION_LENGTH_MAX
        return Fault("ExpressionTooLong", f"an expression holds at most {limit} characters, this one holds {len(text)}")
    try:
        program = _ENVIRONMENT.compile(text)
    except ENGINE_ERRORS as error:
        return _fault(str(error))
    if program.return_type() != cel.Type.BOOL:
        return Fault("NotABool", f"an expression must give a bool, this one gives {program.return_type().name()}")
    return Expression(text, program)


def _fault(error: str) -> Fault:
    place = _PLACE.search(error)
    if place is None:
        return Fault("InvalidExpression", _one_line(error))
    line, column, message = place.groups()
    where = f"line {line}, column {column}: "
    unknown = _UNDECLARED.search(message)
    if unknown is None:
        return Fault("InvalidExpression", where + _one_line(message))
    name = unknown.group(1)
    return Fault("UnknownAttribute", f"{where}unknown name `{name}`{nearest(name, attributes.BY_NAME)}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]
