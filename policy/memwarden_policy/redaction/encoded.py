"""Base64 in a text, decoded within bounds, so that a secret is not safe in it."""

import base64
from collections.abc import Iterator
from typing import NamedTuple

import re2

from memwarden_policy.redaction.model import Span

RUNS_MAX = 256
DECODED_BYTES_MAX = 65_536
READABLE_BYTES_MIN = 12
# What a run swallowed of the text before it decodes to rubbish; this much of it is overlooked.
RUBBISH_BYTES_MAX = 48

_RUN = re2.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
_URLSAFE = bytes.maketrans(b"-_", b"+/")
_READABLE = bytes(range(32, 127)) + b"\t\r\n"


class Decoded(NamedTuple):
    """A readable text and the span of the run it was decoded from."""

    text: bytes
    span: Span


def decoded(data: bytes) -> Iterator[Decoded]:
    """Yield the readable texts that stand in base64 in the data, at most DECODED_BYTES_MAX of them together."""
    budget = DECODED_BYTES_MAX
    for count, match in enumerate(_RUN.finditer(data)):
        if count >= RUNS_MAX or budget <= 0:
            return
        span = match.span()
        run = data[span[0] : span[1]].rstrip(b"=")
        if run.islower() or run.isupper() or run.isdigit():
            continue  # A path, a name or a digest: base64 of a text has letters of both cases.
        run = run.translate(_URLSAFE)
        for shift in range(4):
            budget -= len(run)
            text = _readable(run[shift:])
            if text:
                yield Decoded(text, span)


def _readable(run: bytes) -> bytes | None:
    whole = run[: len(run) // 4 * 4] if len(run) % 4 == 1 else run + b"=" * (-len(run) % 4)
    raw = base64.b64decode(whole)
    rubbish = raw.rstrip(_READABLE)
    if len(rubbish) > RUBBISH_BYTES_MAX or len(raw) - len(rubbish) < READABLE_BYTES_MIN:
        return None
    return raw[len(rubbish) :]
