"""Takes out of a text what no homeserver, database or screen should get: surrogates, controls, hidden characters."""

import re

TEXT_LENGTH_MAX = 131_072  # Characters of one value; more is cut and says so.
CUT = "… (cut)"

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # Controls, but tab and line feed stay.
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # Direction overrides and invisible marks.
    "\ufdd0-\ufdef\ufffe\uffff"  # Not characters.
    "\U000e0000-\U000e007f]"  # Tags: text that a person does not see.
)


def clean(text: str) -> str:
    """Return the text as it may be stored and shown."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _HIDDEN.sub("", _SURROGATE.sub("\ufffd", text))
    return text if len(text) <= TEXT_LENGTH_MAX else text[:TEXT_LENGTH_MAX] + CUT
