"""What text is taken: no NUL, no lone surrogates, no control characters in names; everything in Unicode NFC."""

import unicodedata

ALLOWED_CONTROLS = frozenset("\t\n\r")


def normalised(text: str) -> str:
    """Return the text in NFC: two spellings of one character are one text."""
    return unicodedata.normalize("NFC", text)


def fault_of(text: str, *, allow_lines: bool = False) -> str | None:
    """Say what is wrong with a text; None: nothing.

    Args:
        text: as it came.
        allow_lines: contents may hold tabs and line ends, names may not.
    """
    for character in text:
        category = unicodedata.category(character)
        if category == "Cs":
            return "holds half of a surrogate pair"
        if category == "Cc" and not (allow_lines and character in ALLOWED_CONTROLS):
            return "holds a control character"
    return None


def is_clean(text: str) -> bool:
    """Say whether the text can be a name."""
    return fault_of(text) is None
