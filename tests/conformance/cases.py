"""The public cases as questions to the language of policies: each one holds, is refused when compiled, or is wrong."""

import json
import math
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cel_expr_python import cel

from conformance import textproto
from memwarden_policy.expressions import Fault, Language

MODULE = "cel.dev/expr@v0.26.0"
SUM = "h1:oLXvOF0jiYA5A/tmzU91pLEWZkKynhLJlC9Gw7PrKvs="
PRIMITIVES = {
    "BOOL": cel.Type.BOOL,
    "INT64": cel.Type.INT,
    "DOUBLE": cel.Type.DOUBLE,
    "STRING": cel.Type.STRING,
}
WELL_KNOWN = {"TIMESTAMP": cel.Type.TIMESTAMP, "DURATION": cel.Type.DURATION}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Asking for these means switching off what policies never switch off, or loading what they never load.
OTHER_SETTINGS = ("container", "check_only", "disable_check", "disable_macros", "locale")
HOLDS, REFUSED, WRONG = "holds", "refused", "wrong"


@dataclass(frozen=True)
class Answer:
    """What came of one case."""

    address: str  # file/section/case
    outcome: str
    detail: str = ""

    @property
    def section(self):
        return self.address.rpartition("/")[0]


class NoSuchTypeError(Exception):
    """The case speaks of a type that no policy has."""


def folder():
    """Return the folder of the cases, downloaded and checked by Go's own module client."""
    run = subprocess.run(["go", "mod", "download", "-json", MODULE], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert found["Sum"] == SUM
    return Path(found["Dir"]) / "tests" / "simple" / "testdata"


def answers():
    """Ask every case of every file."""
    for path in sorted(folder().glob("*.textproto")):
        for section in textproto.read(path.read_text()).get("section", []):
            for case in section.get("test", []):
                address = "/".join([path.stem, _text(section, "name"), _text(case, "name")])
                yield _answer(address, case)


def _answer(address, case):
    if any(case.get(name, ["false"]) != ["false"] for name in OTHER_SETTINGS):
        return Answer(address, REFUSED, "other settings")
    try:
        language = Language(dict(_variables(case)))
        bindings = dict(_bindings(case))
        expected = _expected(case)
    except NoSuchTypeError as error:
        return Answer(address, REFUSED, str(error))
    program = language.compile(_text(case, "expr"))
    if isinstance(program, Fault):
        return Answer(address, REFUSED, f"{program.reason}: {program.message}")
    value = program.engine.eval(data=bindings)
    is_error = value.type() == cel.Type.ERROR
    is_held = is_error if expected is ERROR else not is_error and same(expected, value.plain_value())
    return Answer(address, HOLDS if is_held else WRONG, f"expected {expected!r}, got {value.value()!r}")


ERROR = object()


def _expected(case):
    if "eval_error" in case or "any_eval_errors" in case:
        return ERROR
    if "typed_result" in case:
        return _value(case["typed_result"][0]["result"][0])
    if "value" in case:
        return _value(case["value"][0])
    if "unknown" in case or "any_unknowns" in case:
        raise NoSuchTypeError("unknowns")
    return True


def same(one, other):
    """Say whether two values are the same, type and all; not a number is itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return one == other


def _variables(case):
    for declaration in case.get("type_env", []):
        if "ident" not in declaration:
            raise NoSuchTypeError("functions of the case's own")
        yield _text(declaration, "name"), _type(declaration["ident"][0]["type"][0])


def _type(message):
    if "primitive" in message and message["primitive"][0] in PRIMITIVES:
        return PRIMITIVES[message["primitive"][0]]
    if "well_known" in message and message["well_known"][0] in WELL_KNOWN:
        return WELL_KNOWN[message["well_known"][0]]
    if "list_type" in message:
        return cel.Type.List(_type(message["list_type"][0]["elem_type"][0]))
    raise NoSuchTypeError(f"type {next(iter(message), 'empty')}")


def _bindings(case):
    for binding in case.get("bindings", []):
        value = binding["value"][0]
        if "value" not in value:
            raise NoSuchTypeError("errors and unknowns as variables")
        yield _text(binding, "key"), _value(value["value"][0])


def _value(message):
    kind, values = next(iter(message.items()))
    value = values[0]
    match kind:
        case "bool_value":
            return value == "true"
        case "int64_value":
            return int(value, 0)
        case "double_value":
            return float(value)
        case "string_value":
            return value.decode()
        case "list_value":
            return [_value(each) for each in value.get("values", [])]
        case "object_value":
            return _object(value)
    raise NoSuchTypeError(f"value {kind}")


def _object(message):
    name, values = next(iter(message.items()))
    seconds, nanos = (int(values[0].get(part, ["0"])[0]) for part in ("seconds", "nanos"))
    # The binding gives microseconds and drops what is finer.
    length = timedelta(seconds=seconds, microseconds=int(nanos / 1000))
    match name.strip("[]").rpartition(".")[2]:
        case "Timestamp":
            return _since_epoch(length)
        case "Duration":
            return length
    raise NoSuchTypeError(f"value {name}")


def _since_epoch(length):
    try:
        return EPOCH + length
    except OverflowError as error:
        raise NoSuchTypeError("times outside of the calendar") from error


def _text(message, name):
    return message.get(name, [b""])[0].decode()
