"""Reads a type-checked CEL expression as a tree, out of the engine's serialised form (a CheckedExpr in protobuf)."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memwarden_policy import bounds

Field = int | bytes
Fields = list[tuple[int, Field]]

# The engine unfolds a macro into up to this many levels of its own.
LEVELS_OF_A_MACRO = 6
DEPTH_READ_MAX = bounds.EXPRESSION_DEPTH_MAX + bounds.EXPRESSION_COMPREHENSIONS_MAX * LEVELS_OF_A_MACRO

# Field numbers of google/api/expr and cel/expr: checked.proto, syntax.proto.
_ANY_VALUE = 2
_TYPES, _SOURCE, _ROOT = 3, 5, 4
_KEY, _VALUE = 1, 2
_POSITIONS = 4
_ID = 2
_TYPE_PRIMITIVE, _TYPE_WELL_KNOWN, _TYPE_LIST = 3, 5, 6
_PRIMITIVES: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}
_VARINT, _EIGHT_BYTES, _SIZED = 0, 1, 2
OTHER = "other"  # A type or a kind of expression that no policy may use.


class TooDeepError(Exception):
    """The tree has more levels than a policy may have."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One expression: what it is, what it gives, and its parts.

    The parts of a comprehension are, in order: range, initial value, condition, step, result; its text holds the names
    of its variable and of its accumulator.
    """

    kind: str  # constant, name, call, list, comprehension or other
    type: str  # A CEL type of the table of attributes, or `other`.
    identity: int  # Names the expression in its text; see `Checked.offset_of`.
    text: str = ""  # Of a name or a call: its name.
    constant: str | int | float | bool | None = None  # None: no constant, or one that no policy may use.
    parts: tuple["Tree", ...] = ()

    def all(self) -> list["Tree"]:
        """Return this expression and all those inside of it, from the outside in, from left to right."""
        found, waiting = [], [self]
        while waiting:
            tree = waiting.pop()
            found.append(tree)
            waiting.extend(reversed(tree.parts))
        return found


@dataclass(frozen=True, slots=True)
class Checked:
    """A whole expression, and where each part of it stands in the text."""

    tree: Tree
    _source: bytes

    def offset_of(self, identity: int) -> int:
        """Return where an expression stands, in characters; 0 where nothing is known of it."""
        entries = (_entry(value) for number, value in _fields(self._source) if number == _POSITIONS)
        return next((_int(offset) for key, offset in entries if key == identity), 0)


def read(serialised: bytes) -> Checked:
    """Return the tree.

    Raises:
        TooDeepError: there are more levels than a policy may have.
    """
    types: dict[int, str] = {}
    source = root = b""
    for number, value in _fields(dict(_fields(serialised))[_ANY_VALUE]):
        if number == _TYPES:
            key, type_of = _entry(value)
            types[key] = _type(_bytes(type_of))
        elif number == _SOURCE:
            source = _bytes(value)
        elif number == _ROOT:
            root = _bytes(value)
    return Checked(_Reader(types).tree(root, 0), source)


@dataclass(frozen=True, slots=True)
class _Reader:
    types: Mapping[int, str]

    def tree(self, data: Field, depth: int) -> Tree:
        if depth > DEPTH_READ_MAX:
            raise TooDeepError
        identity, kind, body = 0, 0, b""
        for number, value in _fields(data):
            if number == _ID:
                identity = _int(value)
            else:
                kind, body = number, _bytes(value)
        return self._whole(kind, _fields(body), identity, depth)

    def _whole(self, kind: int, fields: Fields, identity: int, depth: int) -> Tree:
        type_of = self.types.get(identity, OTHER)
        match kind:
            case 3:
                return Tree("constant", type_of, identity, constant=_constant(fields))
            case 4:
                return Tree("name", type_of, identity, _first_text(fields, 1))
            case 6:
                parts = self._parts(fields, (1, 3), depth)
                return Tree("call", type_of, identity, _first_text(fields, 2), parts=parts)
            case 7:
                return Tree("list", type_of, identity, parts=self._parts(fields, (1,), depth))
            case 9:
                names = f"{_first_text(fields, 1)} {_first_text(fields, 3)}"
                parts = self._parts(sorted(fields, key=lambda field: field[0]), (2, 4, 5, 6, 7), depth)
                return Tree("comprehension", type_of, identity, names, parts=parts)
        return Tree(OTHER, type_of, identity)

    def _parts(self, fields: Fields, numbers: tuple[int, ...], depth: int) -> tuple[Tree, ...]:
        return tuple([self.tree(value, depth + 1) for number, value in fields if number in numbers])


def _constant(fields: Fields) -> str | int | float | bool | None:
    if not fields:
        return None
    number, value = fields[0]
    match number, value:
        case 2, int():
            return bool(value)
        case 3, int():
            return value - 2**64 if value >= 2**63 else value
        case 5, bytes():
            return float(struct.unpack("<d", value)[0])
        case 6, bytes():
            return value.decode("utf-8", errors="replace")
    return None


def _type(data: bytes) -> str:
    for number, value in _fields(data):
        if number == _TYPE_PRIMITIVE:
            return _PRIMITIVES.get(_int(value), OTHER)
        if number == _TYPE_WELL_KNOWN:
            return _WELL_KNOWN.get(_int(value), OTHER)
        if number == _TYPE_LIST:
            element = next((_type(_bytes(each)) for _, each in _fields(value)), OTHER)
            return f"list({element})" if element != OTHER else OTHER
    return OTHER


def _entry(data: Field) -> tuple[int, Field]:
    """Read one entry of a map; protobuf leaves out what is zero."""
    fields = dict(_fields(data))
    return _int(fields.get(_KEY, 0)), fields.get(_VALUE, 0)


def _first_text(fields: Fields, number: int) -> str:
    return next((_bytes(value).decode("utf-8", errors="replace") for each, value in fields if each == number), "")


def _bytes(field: Field) -> bytes:
    return field if isinstance(field, bytes) else b""


def _int(field: Field) -> int:
    return field if isinstance(field, int) else 0


def _fields(message: Field) -> Fields:
    """Split a protobuf message into its fields: numbers for varints, bytes for all else."""
    data = _bytes(message)
    found: Fields = []
    index = 0
    while index < len(data):
        tag, index = _varint(data, index)
        wire = tag & 7
        if wire in (_VARINT, _SIZED):
            value, index = _varint(data, index)
            if wire == _VARINT:
                found.append((tag >> 3, value))
                continue
            size = value
        else:
            size = 8 if wire == _EIGHT_BYTES else 4
        found.append((tag >> 3, data[index : index + size]))
        index += size
    return found


def _varint(data: bytes, index: int) -> tuple[int, int]:
    value = data[index]
    if value < 0x80:
        return value, index + 1
    value, shift = value & 0x7F, 7
    while True:
        index += 1
        byte = data[index]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, index + 1
