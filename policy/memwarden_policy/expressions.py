"""The only door to the CEL engine: compiles an expression against the table of attributes, and evaluates it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from memwarden_policy import attributes, bounds, subset, syntax
from memwarden_policy.attributes import Facts, Matter, Type
from memwarden_policy.nearest import nearest

EXPRESSIONS_CACHED_MAX = 20_000

# What the engine raises for a text or a value it does not take.
ENGINE_ERRORS: Final = (RuntimeError, TypeError, ValueError, OverflowError)
MESSAGE_LENGTH_MAX = 500

ENGINE_TYPES: Final = {
    Type.STRING: cel.Type.STRING,
    Type.BOOL: cel.Type.BOOL,
    Type.INT: cel.Type.INT,
    Type.DOUBLE: cel.Type.DOUBLE,
    Type.TIMESTAMP: cel.Type.TIMESTAMP,
    Type.STRINGS: cel.Type.List(cel.Type.STRING),
}
_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")
_NO_OVERLOAD = re.compile(r"found no matching overload for '([^']*)' applied to '\(?([^']*?)\)?'")


class Failure(str):
    """Why a condition could not be evaluated, in one line."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the text of a condition."""

    reason: str
    message: str


TOO_DEEP: Final = Fault("TooDeep", f"an expression may nest {bounds.EXPRESSION_DEPTH_MAX} deep, this one nests deeper")


@dataclass(frozen=True, slots=True)
class Expression:
    """A CEL expression that compiles and gives a bool."""

    text: str
    cost: int
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
    plain, converted = READERS[facts.matter]
    values: dict[str, object] = {name: read(facts) for name, read in plain}
    for name, read, convert in converted:
        values[name] = convert(read(facts))
    try:
        return LANGUAGES[facts.matter].environment.Activation(values)
    except ENGINE_ERRORS as error:
        return Failure(_one_line(str(error)))


# The engine's own form of values that are not taken as they are.
CONVERTERS: Final[Mapping[Type, Callable[[Any], Any]]] = {Type.DOUBLE: float, Type.STRINGS: list}
# How each variable is read, those that need no conversion apart: a decision prepares all of them.
READERS: Final = {
    matter: (
        tuple((each.name, each.read) for each in table.attributes if each.type not in CONVERTERS),
        tuple((each.name, each.read, CONVERTERS[each.type]) for each in table.attributes if each.type in CONVERTERS),
    )
    for matter, table in attributes.TABLES.items()
}


@dataclass(frozen=True, slots=True)
class Program:
    """An expression of any type, as the engine compiled it, and the most that one evaluation costs."""

    engine: cel.Expression
    cost: int


class Language:
    """CEL over some variables: the engine's environment, and the subset that is allowed."""

    __slots__ = ("environment", "names")

    def __init__(self, variables: Mapping[str, cel.Type]) -> None:
        self.environment = cel.NewEnv(variables=variables)
        self.names = frozenset(variables)

    def compile(self, text: str) -> Program | Fault:
        """Compile an expression of any type, or say why it is wrong or not allowed."""
        if len(text) > bounds.EXPRESSION_LENGTH_MAX:
            message = f"an expression holds at most {bounds.EXPRESSION_LENGTH_MAX} characters, found {len(text)}"
            return Fault("ExpressionTooLong", message)
        for objection in subset.objections_to_text(text):
            return _objected(text, objection)
        try:
            program = self.environment.compile(text)
            checked = syntax.read(program.serialize())
        except syntax.TooDeepError:
            return TOO_DEEP
        except ENGINE_ERRORS as error:
            return self._fault(str(error))
        for objection in subset.objections(checked.tree, self.names):
            return _objected(text, objection, checked)
        return self._tried(text, checked) or Program(program, subset.cost_of(checked.tree))

    def _tried(self, text: str, checked: syntax.Checked) -> Fault | None:
        """Find a constant that would fail at every evaluation, such as a duration of days or a broken pattern."""
        for call, trial in subset.trials(checked.tree):
            try:
                value = self.environment.compile(trial).eval(data={})
            except ENGINE_ERRORS:
                continue  # The function means something else for this argument.
            if value.type() == cel.Type.ERROR:
                hint = '; write days as hours, "720h"' if call.text == "duration" else ""
                message = f"`{call.text}` does not take this text: {_one_line(str(value.value()))}{hint}"
                objection = subset.Objection("InvalidConstant", message, identity=call.identity)
                return _objected(text, objection, checked)
        return None

    def _fault(self, error: str) -> Fault:
        if "recursion" in error:
            return TOO_DEEP
        place = _PLACE.search(error)
        if place is None:
            return Fault("InvalidExpression", _one_line(error))
        line, column, message = place.groups()
        where = f"line {line}, column {column}: "
        unknown = _UNDECLARED.search(message)
        if unknown is None:
            return Fault("InvalidExpression", where + _plainer(_one_line(message)))
        name = unknown.group(1)
        known = (*self.names, *subset.FUNCTIONS, *subset.MACROS)
        if name in known:
            # The engine calls a function unknown that it knows with other arguments.
            return Fault("InvalidExpression", f"{where}`{name}` does not take these arguments")
        return Fault("UnknownAttribute", f"{where}unknown name `{name}`{nearest(name, sorted(known))}")


LANGUAGES: Final = {
    matter: Language({each.name: ENGINE_TYPES[each.type] for each in table.attributes})
    for matter, table in attributes.TABLES.items()
}


@lru_cache(maxsize=EXPRESSIONS_CACHED_MAX)
def compiled(text: str, matter: Matter = Matter.CANDIDATE) -> Expression | Fault:
    """Compile a condition, or say what is wrong with it, with line, column and the nearest known name."""
    program = LANGUAGES[matter].compile(text)
    if isinstance(program, Fault):
        return program
    gives = program.engine.return_type()
    if gives != cel.Type.BOOL:
        return Fault("NotABool", f"a condition is true or false, this expression gives {str(gives.name()).lower()}")
    return Expression(text, program.cost, program.engine)


def _objected(text: str, objection: subset.Objection, checked: syntax.Checked | None = None) -> Fault:
    offset = checked.offset_of(objection.identity) if checked and objection.identity else objection.offset
    before = text[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
    return Fault(objection.reason, f"line {line}, column {column}: {objection.message}")


def _plainer(message: str) -> str:
    """Say in words of the policy what the engine says in its own: which operator does not take which types."""
    found = _NO_OVERLOAD.search(message)
    if found is None:
        return message
    function, types = found.groups()
    hint = "; write a number with its point, such as 1.0" if {"double", "int"} <= set(types.split(", ")) else ""
    return f"`{subset.OPERATORS.get(function, function)}` does not take ({types}){hint}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MESSAGE_LENGTH_MAX]
