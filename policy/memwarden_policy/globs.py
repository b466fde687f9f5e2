"""Globs over domains, categories and users: `*` stays within a `/` segment, `**` crosses; matching is linear."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

SEPARATOR = "/"
_STARS = re.compile(r"\*+")
# Matching takes a step for each character of the text where there are several stars, and one step where there is one.
COST_OF_ONE_STAR = 50
COST_OF_SEVERAL_STARS = 2_500
GLOBS_CACHED_MAX = 16_384


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled glob: a set of states as the bits of one integer, moved once for each character of the text."""

    pattern: str
    is_literal: bool = field(compare=False)
    is_everything: bool = field(compare=False)
    star: str = field(compare=False)  # The only run of stars; empty: none, or several.
    _advances: dict[str, int] = field(compare=False, repr=False)
    _loops_anywhere: int = field(compare=False, repr=False)
    _loops_in_segment: int = field(compare=False, repr=False)
    _final: int = field(compare=False, repr=False)

    def matches(self, text: str) -> bool:
        """Say whether the whole text is covered."""
        if self.is_literal:
            return text == self.pattern
        if self.star:
            return self._spans(text)
        return self._runs(text)

    def _spans(self, text: str) -> bool:
        """Match around a single star."""
        before, _, after = self.pattern.partition(self.star)
        between = len(text) - len(before) - len(after)
        if between < 0 or not text.startswith(before) or not text.endswith(after):
            return False
        return self.star != "*" or SEPARATOR not in text[len(before) : len(before) + between]

    @property
    def cost(self) -> int:
        """The most that matching costs, in the units of `bounds.EXPRESSION_COST_MAX`."""
        return COST_OF_ONE_STAR if self.is_literal or self.star else COST_OF_SEVERAL_STARS

    def _runs(self, text: str) -> bool:
        states = 1
        for character in text:
            moved = (states & self._advances.get(character, 0)) << 1
            stayed = states & self._loops_anywhere
            if character != SEPARATOR:
                stayed |= states & self._loops_in_segment
            states = moved | stayed
            if not states:
                return False
        return bool(states & self._final)

    @property
    def example(self) -> str:
        """One text that the glob covers."""
        return self.pattern if self.is_literal else _STARS.sub("x", self.pattern)

    @property
    def literal_prefix(self) -> str:
        """The whole segments before the first star: the glob covers nothing outside of them."""
        before, star, _ = self.pattern.partition("*")
        return before.rpartition(SEPARATOR)[0] if star else before


@lru_cache(maxsize=GLOBS_CACHED_MAX)
def compiled(pattern: str) -> Glob:
    """Compile a glob. Every text is a glob; there is nothing to escape and nothing that fails."""
    advances: dict[str, int] = {}
    anywhere = in_segment = position = 0
    stars = _STARS.findall(pattern)
    for piece in _pieces(pattern):
        bit = 1 << position
        if piece == "**":
            anywhere |= bit
        elif piece == "*":
            in_segment |= bit
        else:
            advances[piece] = advances.get(piece, 0) | bit
            position += 1
    return Glob(
        pattern=pattern,
        is_literal="*" not in pattern,
        is_everything=pattern == "**",
        star=stars[0] if len(stars) == 1 else "",
        _advances=advances,
        _loops_anywhere=anywhere,
        _loops_in_segment=in_segment,
        _final=1 << position,
    )


def _pieces(pattern: str) -> Iterable[str]:
    """Split into characters, single stars, and runs of two or more stars."""
    index = 0
    while index < len(pattern):
        if pattern[index] != "*":
            yield pattern[index]
            index += 1
            continue
        start = index
        while index < len(pattern) and pattern[index] == "*":
            index += 1
        yield "*" if index - start == 1 else "**"


def any_matches(globs: Iterable[Glob], text: str) -> bool:
    """Say whether one of the globs covers the text."""
    return any(glob.matches(text) for glob in globs)
