"""Texts as rules see them: invisible characters gone, wide letters narrowed, lines joined; with the way back."""

import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import re2

from memwarden_policy.redaction.checks import LOOK_BYTES, is_remainder
from memwarden_policy.redaction.model import Span

# Characters that show nothing and may stand between any two letters of a token.
INVISIBLE = (
    r"\x{00AD}\x{034F}\x{061C}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180E}\x{200B}-\x{200F}\x{202A}-\x{202E}"
    r"\x{2060}-\x{206F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF9}-\x{FFFB}\x{E0000}-\x{E001F}\x{E007F}-\x{E01EF}"
)
# Other shapes of letters and digits: full-width, mathematical, enclosed, superscript; and tags, which mirror ASCII.
SHAPED = (
    r"\x{00B2}\x{00B3}\x{00B9}\x{2070}-\x{209C}\x{2460}-\x{24E9}\x{FF01}-\x{FF5E}"
    r"\x{1D400}-\x{1D7FF}\x{1F130}-\x{1F189}\x{E0020}-\x{E007E}"
)
TAG_FIRST = 0xE0020
TAG_LAST = 0xE007E
_ODD = re2.compile(f"[{INVISIBLE}]+|[{SHAPED}]".encode())

TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~-:@")
# A line this long was broken because it was full; what follows belongs to it.
WRAPPED_LENGTH_MIN = 56
SPLIT_LENGTH_MIN = 18
_INDENT = b" \t\r>#*|\\\"'"


class _Piece(NamedTuple):
    start: int  # In the view.
    raw: int  # In the text below.
    substituted: int  # Bytes below that became these; 0: copied one to one.


@dataclass(frozen=True, slots=True)
class View:
    """Bytes to match, and where each of them lies in the text below."""

    data: bytes
    pieces: tuple[_Piece, ...] = ()  # Empty: the same as the text below.
    joints: tuple[int, ...] = ()  # Where a line break was taken out.
    lone: frozenset[int] = frozenset()  # Joints after a full line, before a line of one word.

    def below(self, span: Span) -> Span:
        """Return the span of the text below that became this span."""
        if not self.pieces:
            return span
        start, last = self._piece(span[0]), self._piece(span[1] - 1)
        first = start.raw if start.substituted else start.raw + span[0] - start.start
        end = last.raw + last.substituted if last.substituted else last.raw + span[1] - last.start
        return first, end

    def _piece(self, offset: int) -> _Piece:
        return self.pieces[max(0, bisect_right(self.pieces, offset, key=lambda piece: piece.start) - 1)]

    def joints_in(self, span: Span) -> tuple[int, ...]:
        """Return the joints strictly inside a span."""
        return self.joints[bisect_right(self.joints, span[0]) : bisect_left(self.joints, span[1])]

    def is_joint(self, offset: int) -> bool:
        """Say whether a line break was taken out here."""
        index = bisect_left(self.joints, offset)
        return index < len(self.joints) and self.joints[index] == offset


def _narrowed(char: str) -> str:
    code = ord(char)
    if TAG_FIRST <= code <= TAG_LAST:
        return chr(code - 0xE0000)
    plain = unicodedata.normalize("NFKC", char)
    # A letter in brackets, `⒜`, becomes three characters; what is inside is meant.
    plain = plain.strip("().") or plain
    return plain if plain.isascii() else char


def plain(raw: bytes) -> View:
    """Return the text with invisible characters gone and other shapes of ASCII narrowed."""
    if raw.isascii() or not _ODD.search(raw):
        return View(raw)
    chunks: list[bytes] = []
    pieces: list[_Piece] = []
    length = position = 0
    for match in _ODD.finditer(raw):
        start, end = match.span()
        if start > position:
            pieces.append(_Piece(length, position, 0))
            chunks.append(raw[position:start])
            length += start - position
        position = end
        substitute = _substitute(raw[start:end])
        if substitute:
            pieces.append(_Piece(length, start, end - start))
            chunks.append(substitute)
            length += len(substitute)
    if position < len(raw):
        pieces.append(_Piece(length, position, 0))
        chunks.append(raw[position:])
    return View(b"".join(chunks), tuple(pieces) or (_Piece(0, 0, len(raw)),))


@lru_cache(maxsize=4_096)
def _substitute(odd: bytes) -> bytes:
    chars = odd.decode()
    if len(chars) > 1:
        return b""
    return b"" if _INVISIBLE.fullmatch(odd) else _narrowed(chars).encode()


_INVISIBLE = re2.compile(f"[{INVISIBLE}]".encode())


def joined(view: View) -> View | None:
    """Return the view with the line breaks inside what may be a token taken out; None: there are none."""
    if b"\n" not in view.data:
        return None
    lines = _lines(view.data)
    chunks, pieces, joints, lone = [lines[0][1]], [_Piece(0, lines[0][0], 0)], [], set()
    length = len(lines[0][1])
    for (_, before), (start, line) in pairwise(lines):
        if before and line and before[-1] in TOKEN_BYTES and line[0] in TOKEN_BYTES and _may_be_one(before, line):
            joints.append(length)
            if len(before) >= WRAPPED_LENGTH_MIN and b" " not in line:
                lone.add(length)
        else:
            chunks.append(b"\n")
            length += 1
        pieces.append(_Piece(length, start, 0))
        chunks.append(line)
        length += len(line)
    return View(b"".join(chunks), tuple(pieces), tuple(joints), frozenset(lone)) if joints else None


def _may_be_one(before: bytes, line: bytes) -> bool:
    """Say whether the last word of a line and the first of the next look like one token together."""
    left, space = before.rfind(b" ") + 1, line.find(b" ")
    right = len(line) if space < 0 else space
    if len(before) - left + right < SPLIT_LENGTH_MIN:
        return False
    return is_remainder(before[left:][-LOOK_BYTES:] + line[:right][:LOOK_BYTES])


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    """Return each line without its indentation, with its offset."""
    lines = []
    offset = 0
    for line in data.split(b"\n"):
        body = line.lstrip(_INDENT)
        lines.append((offset + len(line) - len(body), body.rstrip(_INDENT)))
        offset += len(line) + 1
    return lines
