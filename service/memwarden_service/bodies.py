"""Request bodies: read with a bound, parsed strictly, and never repeated in an answer."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Never, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.text import fault_of

PUBLIC_BODY_BYTES_MAX = 256 * 1024
ADMIN_BODY_BYTES_MAX = 16 * 1024 * 1024
PUBLIC_BODY_SECONDS_MAX = 10.0
ADMIN_BODY_SECONDS_MAX = 30.0
DEPTH_MAX = 64
NUMBER_LENGTH_MAX = 40
FAULTS_MAX = 16
# Messages of the checker that may quote the input; for these we say our own.
SAFE_MESSAGES = {
    "missing": "is required",
    "extra_forbidden": "holds a field that is not known",
    "string_too_long": "is too long",
    "string_too_short": "is too short",
    "string_type": "must be a text",
    "too_long": "holds too many items",
    "enum": "is none of the allowed words",
    "literal_error": "is none of the allowed words",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "string_pattern_mismatch": "does not have the form it must have",
    "value_error": "has no valid value",
}
Shape = TypeVar("Shape", bound=BaseModel)


async def read(request: Request, limit: int = PUBLIC_BODY_BYTES_MAX) -> bytes:
    """Return the body.

    Raises:
        ProblemError: it is longer than `limit` bytes, is no JSON by its type, is late, or its caller went away.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise ProblemError(Kind.MEDIA_TYPE)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemError(Kind.MEDIA_TYPE, "a compressed body is not taken")
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length[:20]) > limit:
        raise _too_large(limit)
    seconds = ADMIN_BODY_SECONDS_MAX if limit > PUBLIC_BODY_BYTES_MAX else PUBLIC_BODY_SECONDS_MAX
    try:
        async with asyncio.timeout(seconds):
            return await _whole(request, limit)
    except TimeoutError as error:
        raise ProblemError(Kind.TOO_SLOW, headers={"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise ProblemError(Kind.BAD_REQUEST, "the body ended early") from error


async def _whole(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        if len(body) + len(chunk) > limit:
            raise _too_large(limit)
        body += chunk
    return bytes(body)


async def optional(request: Request, shape: type[Shape]) -> Shape:
    """Return the body as the shape, or the shape without anything where there is no body."""
    is_empty = request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers
    return shape() if is_empty else parse(await read(request), shape)


def parse(
    body: bytes,
    shape: type[Shape],
    *,
    number: Callable[[str], Decimal | float] | None = None,
    check_text: bool = True,
) -> Shape:
    """Return the body as the shape.

    Args:
        body: as it came.
        shape: what it must be.
        number: makes numbers with a point of their text; exact decimals unless given.
        check_text: False: the caller judges every text for itself.

    Raises:
        ProblemError: it is no strict JSON (doubled names, numbers that are none, too deep), or not of this shape.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=number or exact,
            parse_int=_integer,
            parse_constant=_no_number,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ProblemError(Kind.BAD_REQUEST, "the body is no JSON in UTF-8") from error
    except RecursionError as error:
        raise ProblemError(Kind.BAD_REQUEST, f"the body is nested deeper than {DEPTH_MAX}") from error
    _check(value, check_text=check_text)
    return shaped(value, shape)


def shaped(value: object, shape: type[Shape]) -> Shape:
    """Return the value as the shape; raises ProblemError, which holds nothing of it, where it has another."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise ProblemError(
            Kind.INVALID, faults=tuple(faults(_details(error), "body", tuple(shape.model_fields)))
        ) from None


def faults(errors: Iterable[Mapping[str, Any]], root: str, known: Sequence[str] = ()) -> Iterable[Fault]:
    """Say what is wrong without a word of what was sent; `known` are the fields that would be taken."""
    for each in list(errors)[:FAULTS_MAX]:
        location = [str(part) for part in each["loc"]]
        kind = each["type"]
        if kind == "extra_forbidden":
            location = location[:-1]  # The unknown name is the caller's text.
        path = ".".join([root, *location] if root else location)
        message = SAFE_MESSAGES.get(kind, "is not valid")
        if kind == "extra_forbidden" and not location and known:
            message = f"{message}; it takes {', '.join(known)}"
        yield Fault(path, "".join(part.title() for part in kind.split("_")), message)


def _details(error: ValidationError) -> list[Mapping[str, Any]]:
    return [dict(each) for each in error.errors(include_input=False, include_url=False, include_context=False)]


def _check(value: Any, *, check_text: bool, depth: int = 0) -> None:
    if depth > DEPTH_MAX:
        raise ProblemError(Kind.BAD_REQUEST, f"the body is nested deeper than {DEPTH_MAX}")
    if isinstance(value, str):
        if check_text:
            _check_text(value)
        return
    if isinstance(value, dict):
        _check(list(value), check_text=check_text, depth=depth)
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            _check(each, check_text=check_text, depth=depth + 1)


def _check_text(value: str) -> None:
    if value.isascii() and value.isprintable():
        return
    wrong = fault_of(value, allow_lines=True)
    if wrong is not None:
        raise ProblemError(Kind.INVALID, faults=[Fault("body", "Text", f"a text {wrong}")])


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ProblemError(Kind.BAD_REQUEST, "a name is there twice in one object")
    return found


def exact(text: str) -> Decimal:
    """Return the number with every digit that was sent; raises ProblemError for one that is too large."""
    try:
        number = Decimal(text)
    except InvalidOperation as error:  # pragma: no cover - the scanner lets only numbers through
        raise ProblemError(Kind.BAD_REQUEST, "a number is none") from error
    if len(text) > NUMBER_LENGTH_MAX or not -300 <= number.adjusted() <= 300:
        raise ProblemError(Kind.BAD_REQUEST, "a number is too long or too large")
    return number


def binary(text: str) -> float:
    """Return the number as the JSON of resources holds it; raises ProblemError for one that is too large."""
    return float(exact(text))


def _integer(text: str) -> int:
    if len(text) > NUMBER_LENGTH_MAX:
        raise ProblemError(Kind.BAD_REQUEST, "a number is too long or too large")
    return int(text)


def _no_number(_: str) -> Never:
    raise ProblemError(Kind.BAD_REQUEST, "NaN and Infinity are no JSON")


def _too_large(limit: int) -> ProblemError:
    return ProblemError(Kind.TOO_LARGE, f"at most {limit} bytes are taken", headers={"Connection": "close"})
