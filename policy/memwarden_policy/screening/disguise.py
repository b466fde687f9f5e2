"""Looks behind what a text hides: characters that show nothing, and encodings of readable text."""

import binascii
import html
from collections.abc import Iterator
from urllib.parse import unquote

import re2

from memwarden_policy.redaction import encoded, views

ESCAPES_MIN = 6
HEX_RUNS_MAX = 64
SPELLED_MAX = 64
UNFOLDED_LENGTH_MAX = 65_536

_RTL = re2.compile(r"[\x{0590}-\x{08FF}]")
_LEGITIMATE_FLAG = re2.compile(r"\x{1F3F4}[\x{E0020}-\x{E007E}]{1,6}\x{E007F}")
_TAGS = re2.compile(r"[\x{E0000}-\x{E007F}]")
_OVERRIDES = re2.compile(r"[\x{202D}\x{202E}]")
_DIRECTIONS = re2.compile(r"[\x{202A}-\x{202C}\x{2066}-\x{2069}]")
_ZERO_WIDTH = re2.compile(
    r"[\x{200B}-\x{200D}\x{2060}-\x{2064}\x{FEFF}\x{3164}\x{115F}\x{1160}]{3,}|[A-Za-z][\x{200B}-\x{200D}\x{2060}\x{FEFF}]+[A-Za-z]"
)
_SELECTORS = re2.compile(r"[\x{FE00}-\x{FE0F}]{2,}|[\x{E0100}-\x{E01EF}]{2,}|[\x{E0100}-\x{E01EF}][^\x{3400}-\x{9FFF}]")
_ANY = re2.compile(
    r"[\x{115F}\x{1160}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{E0000}-\x{E01EF}]"
)
_HEX = re2.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,}")
_NOT_HEX = re2.compile(r"0x|\\x|[ ,:]")
_SPELLED = re2.compile(r"(?:\b\w[ ._-]{1,3}){7,}\w\b")
_GAP = re2.compile(r"[ ._-]{2,}")


def hidden(text: str) -> Iterator[str]:
    """Yield a sentence for each sort of hidden character that no language needs where it stands."""
    if text.isascii() or not _ANY.search(text):
        return
    if _TAGS.search(_LEGITIMATE_FLAG.sub("", text)):
        yield "The text holds tag characters, which show nothing and can spell words."
    if _OVERRIDES.search(text) or (_DIRECTIONS.search(text) and not _RTL.search(text)):
        yield "The text holds direction controls that make it read otherwise than it is stored."
    if _ZERO_WIDTH.search(text):
        yield "The text holds zero-width characters inside words or in a row."
    if _SELECTORS.search(text):
        yield "The text holds variation selectors in a row, which can carry hidden bytes."


def unfolded(text: str) -> str:
    """Return the text in lower case as a model reads it: hidden characters gone, shapes narrowed, spaces single."""
    view = views.plain(text.encode("utf-8", "surrogatepass"))
    return _lowered(view.data.decode("utf-8", "replace"))


def _lowered(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.lower().replace("’", "'").split("\n"))


def decoded(text: str) -> Iterator[str]:
    """Yield readable texts found in base64, hexadecimal, percent and entity escapes, and in spelled-out words."""
    for found in encoded.decoded(text.encode("utf-8", "replace")):
        yield _lowered(found.text.decode("ascii", "replace"))
    for count, match in enumerate(_HEX.finditer(text)):
        if count >= HEX_RUNS_MAX:
            break
        yield _lowered(_unhexed(match.group()))
    if text.count("%") >= ESCAPES_MIN:
        yield _lowered(unquote(text[:UNFOLDED_LENGTH_MAX], errors="replace"))
    if text.count("&#") >= ESCAPES_MIN:
        yield _lowered(html.unescape(text[:UNFOLDED_LENGTH_MAX]))
    spelled = [match.group() for _, match in zip(range(SPELLED_MAX), _SPELLED.finditer(text), strict=False)]
    if spelled:
        yield _lowered(" ".join(_together(each) for each in spelled))


def _unhexed(run: str) -> str:
    digits = _NOT_HEX.sub("", run)
    try:
        return binascii.unhexlify(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def _together(spelled: str) -> str:
    """Join `i g n o r e`; two separators in a row are the space between words."""
    return " ".join(word[::2] for word in _GAP.split(spelled))
