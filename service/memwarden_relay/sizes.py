"""How much of an event a text takes, and texts cut to a size.

A homeserver counts the canonical JSON of the whole signed event, 65,536 bytes: quotes and backslashes count twice,
letters outside ASCII by their UTF-8. An edit holds each text twice.
"""

import json

TEXT_BYTES_MAX = 14_000
HTML_BYTES_MAX = 14_000
MORE = "…"


def encoded(text: str) -> int:
    """Return the bytes of a text inside canonical JSON, without its quotes."""
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def cut(text: str, bytes_max: int) -> str:
    """Return the longest beginning that takes at most `bytes_max`, ended by a mark when something is missing."""
    if encoded(text) <= bytes_max:
        return text
    low, high = 0, min(len(text), bytes_max)
    while low < high:
        middle = (low + high + 1) // 2
        if encoded(text[:middle]) + encoded(MORE) <= bytes_max:
            low = middle
        else:
            high = middle - 1
    return text[:low] + MORE
