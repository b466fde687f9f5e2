"""The hint at the end of a message about an unknown word: the nearest word that is known."""

import difflib
from collections.abc import Iterable

# Below this likeness a guess would confuse more than it helps.
LIKENESS_MIN = 0.6


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `, did you mean ...?`, or nothing where no known word is near."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=LIKENESS_MIN)
    return f", did you mean `{found[0]}`?" if found else ""
