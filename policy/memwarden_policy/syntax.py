"""Reads a type-checked CEL expression as a tree, out of the engine's serialised form (a CheckedExpr in protobuf)."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memwarden_policy import bounds

Field = int | bytes

# The engine unfolds a macro into up to this many levels of its own.
LEVELS_OF_A_MACRO = 6
DEPTH_READ_MAX = bounds.EXPRESSION_DEPTH_MAX + bounds.EXPRESSION_COMPREHENSIONS_MAX * LEVELS_OF_A_MACRO

# Field numbers of google/api/expr and cel/expr: checked.proto, syntax.proto.
_ANY_VALUE = 2
_TYPES, _SOURCE, _ROOT = 3, 5, 4
_KEY, _VALUE = 1, 2
_POSITIONS = 4
_ID, _CONSTANT, _NAME, _SELECT, _CALL, _LIST, _COMPREHENSION = 2, 3, 4, 5, 6, 7, 9
_TYPE_PRIMITIVE, _TYPE_WELL_KNOWN, _TYPE_LIST = 3, 5, 6
_PRIMITIVES: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN: Final = {2: "timestamp", 3: "duration"}
_CONSTANT_BOOL, _CONSTANT_INT, _CONSTANT_DOUBLE, _CONSTANT_STRING = 2, 3, 5, 6
OTHER = "other"  # A type or a kind of expression that no policy may use.


class TooDeepError(Exception):
    """The tree has more levels than a policy may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """One expression: what it is, what it gives, where it stands in the text, and its parts.

    The parts of a comprehension are, in order: range, initial value, condition, step, result; its text holds the names
    of its variable and of its accumulator.
    """

    kind: str  # constant, name, call, list, comprehension or other
    type: str  # A CEL type of the table of attributes, or `other`.
    offset: int  # In characters.
    text: str = ""  # Of a name or a call: its name.
    constant: str | int | float | bool | None = None  # None: no constant, or one that no policy may use.
    parts: tuple["Tree", ...] = ()


def read(serialised: bytes) -> Tree:
    """Return the tree.

    Raises:
        TooDeepError: there are more levels than a policy may have.
    """
    checked = dict(_fields(serialised))[_ANY_VALUE]
    types: dict[int, str] = {}
    positions: Mapping[int, int] = {}
    root = b""
    for number, value in _fields(_bytes(checked)):
        if number == _TYPES:
            key, type_of = _entry(_bytes(value))
            types[key] = _type(_bytes(type_of))
        elif number == _SOURCE:
            positions = _positions(_bytes(value))
        elif number == _ROOT:
            root = _bytes(value)
    return _Reader(types, positions).tree(root, 0)


@dataclass(frozen=True, slots=True)
class _Reader:
    types: Mapping[int, str]
    positions: Mapping[int, int]

    def tree(self, data: bytes, depth: int) -> Tree:
        if depth > DEPTH_READ_MAX:
            raise TooDeepError
        identity = 0
        kind, body = 0, b""
        for number, value in _fields(data):
            if number == _ID:
                identity = _int(value)
            else:
                kind, body = number, _bytes(value)
        bare = Tree(kind=OTHER, type=self.types.get(identity, OTHER), offset=self.positions.get(identity, 0))
        return self._whole(kind, body, bare, depth)

    def _whole(self, kind: int, body: bytes, bare: Tree, depth: int) -> Tree:
        fields = list(_fields(body))
        match kind:
            case 3:
                constant = _constant(fields)
                return Tree(kind="constant", type=bare.type, offset=bare.offset, constant=constant)
            case 4:
                return Tree(kind="name", type=bare.type, offset=bare.offset, text=_first_text(fields, 1))
            case 6:
                parts = self._parts(fields, (1, 3), depth)
                return Tree(kind="call", type=bare.type, offset=bare.offset, text=_first_text(fields, 2), parts=parts)
            case 7:
                return Tree(kind="list", type=bare.type, offset=bare.offset, parts=self._parts(fields, (1,), depth))
            case 9:
                names = f"{_first_text(fields, 1)} {_first_text(fields, 3)}"
                parts = self._parts(sorted(fields, key=lambda field: field[0]), (2, 4, 5, 6, 7), depth)
                return Tree(kind="comprehension", type=bare.type, offset=bare.offset, text=names, parts=parts)
        return bare

    def _parts(self, fields: list[tuple[int, Field]], numbers: tuple[int, ...], depth: int) -> tuple[Tree, ...]:
        return tuple(self.tree(_bytes(value), depth + 1) for number, value in fields if number in numbers)


def _constant(fields: list[tuple[int, Field]]) -> str | int | float | bool | None:
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
            element = next((_type(_bytes(each)) for _, each in _fields(_bytes(value))), OTHER)
            return f"list({element})" if element != OTHER else OTHER
    return OTHER


def _positions(source: bytes) -> dict[int, int]:
    entries = (_entry(_bytes(value)) for number, value in _fields(source) if number == _POSITIONS)
    return {key: _int(value) for key, value in entries}


def _entry(data: bytes) -> tuple[int, Field]:
    """Read one entry of a map; protobuf leaves out what is zero."""
    fields = dict(_fields(data))
    return _int(fields.get(_KEY, 0)), fields.get(_VALUE, 0)


def _first_text(fields: list[tuple[int, Field]], number: int) -> str:
    return next((_bytes(value).decode("utf-8", errors="replace") for each, value in fields if each == number), "")


def _bytes(field: Field) -> bytes:
    return field if isinstance(field, bytes) else b""


def _int(field: Field) -> int:
    return field if isinstance(field, int) else 0


def _fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """Split a protobuf message into its fields: numbers for varints, bytes for all else."""
    index = 0
    while index < len(data):
        tag, index = _varint(data, index)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, index = _varint(data, index)
            yield number, value
            continue
        if wire == 2:
            size, index = _varint(data, index)
        else:
            size = 8 if wire == 1 else 4
        yield number, data[index : index + size]
        index += size


def _varint(data: bytes, index: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[index]
        value |= (byte & 0x7F) << shift
        index += 1
        shift += 7
        if byte < 0x80:
            return value, index
