"""One pass over a text that says where rules should look: by hyperscan, or by RE2 where its wheel is missing."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import re2

from memwarden_policy.redaction.model import Lead

try:
    import hyperscan
except ImportError:  # No wheel for this platform: slower, the same answers.
    hyperscan = None  # type: ignore[assignment]  # Asked for by `HYPERSCAN_IS_THERE` only.

HYPERSCAN_IS_THERE = hyperscan is not None
HITS_MAX = 8_192
SET_SIZE = 48
_COUNTED = re2.compile(r"\]\{\d+,\d+\}\??")
SET_BYTES_MAX = 64 * 1_024 * 1_024

# (offset in bytes where a lead ends, index of the lead); a gate is hit once at most.
Hit = tuple[int, int]


class TooManyHits(Exception):  # noqa: N818  # Not an error: the text is cut as a whole.
    """The text consists of beginnings of secrets; nobody looks at each."""


class Finder(Protocol):
    """Finds leads and gates."""

    def find(self, data: bytes) -> list[Hit]:
        """Return the hits in the order of the text; raises TooManyHits."""
        ...


class _Automaton:
    """All expressions as one automaton, which any number of threads may use."""

    def __init__(self, expressions: Sequence[str], flags: Sequence[int]) -> None:
        self._database = hyperscan.Database()
        self._database.compile(
            expressions=[expression.encode() for expression in expressions],
            ids=list(range(len(expressions))),
            flags=list(flags),
        )
        self._local = threading.local()

    def hits(self, data: bytes) -> list[Hit]:
        hits: list[Hit] = []

        def note(index: int, _start: int, end: int, _flags: int, _context: object) -> bool:
            hits.append((end, index))
            return len(hits) > HITS_MAX

        try:
            self._database.scan(data, note, scratch=self._scratch())
        except hyperscan.ScanTerminated:
            raise TooManyHits from None
        return hits

    def _scratch(self) -> "hyperscan.Scratch":
        # A scratch serves one scan at a time; threads may scan at once.
        if not hasattr(self._local, "scratch"):
            self._local.scratch = hyperscan.Scratch(self._database)
        scratch: hyperscan.Scratch = self._local.scratch
        return scratch


class HyperscanFinder:
    """Leads and gates in one pass."""

    def __init__(self, leads: Sequence[Lead], gates: Sequence[str]) -> None:
        gated = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER
        flags = [hyperscan.HS_FLAG_CASELESS if lead.caseless else 0 for lead in leads]
        self._automaton = _Automaton([*(lead.expression for lead in leads), *gates], flags + [gated] * len(gates))

    def find(self, data: bytes) -> list[Hit]:
        return sorted(self._automaton.hits(data))


class Re2Finder:
    """Sets of expressions that say which occur, then each of those by itself."""

    def __init__(self, leads: Sequence[Lead], gates: Sequence[str]) -> None:
        self._gates_from = len(leads)
        expressions = [f"(?i:{lead.expression})" if lead.caseless else lead.expression for lead in leads]
        self._sets = [
            (start, _set([*expressions, *gates][start : start + SET_SIZE]))
            for start in range(0, len(leads) + len(gates), SET_SIZE)
        ]
        self._each = [re2.compile(expression.encode(), quiet()) for expression in expressions]

    def find(self, data: bytes) -> list[Hit]:
        hits: list[Hit] = []
        for start, each in self._sets:
            for place in each.Match(data) or ():
                hits += self._hits(start + place, data)
        if len(hits) > HITS_MAX:
            raise TooManyHits
        hits.sort()
        return hits

    def _hits(self, index: int, data: bytes) -> Iterator[Hit]:
        if index >= self._gates_from:
            yield 0, index
            return
        for count, match in enumerate(self._each[index].finditer(data)):
            if count > HITS_MAX:
                raise TooManyHits
            yield match.end(), index


def _set(expressions: Sequence[str]) -> re2.Set:
    # A set that runs out of memory says that nothing matches: it gets plenty, and few expressions.
    options = quiet()
    options.max_mem = SET_BYTES_MAX
    together = re2.Set.SearchSet(options)
    for expression in expressions:
        together.Add(expression.encode())
    together.Compile()
    return together


def quiet() -> re2.Options:
    """Return options under which RE2 writes nothing of a pattern to the error stream."""
    options = re2.Options()
    options.log_errors = False
    return options


def finder(leads: Sequence[Lead], gates: Sequence[str]) -> Finder:
    """Compile the quickest finder there is on this platform."""
    return HyperscanFinder(leads, gates) if HYPERSCAN_IS_THERE else Re2Finder(leads, gates)


def likely(expressions: Sequence[str]) -> Callable[[bytes], Iterable[int]]:
    """Return a question to a text in UTF-8: which of the expressions may occur in it? Those left out do not."""
    if not HYPERSCAN_IS_THERE:
        return lambda _: range(len(expressions))
    flags = hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER
    # Any number is more than a bounded number, and compiles in a fraction of the time: who confirms counts.
    looser = [_COUNTED.sub("]*", expression) for expression in expressions]
    automaton = _Automaton(looser, [flags] * len(looser))
    return lambda data: (index for _, index in automaton.hits(data))
