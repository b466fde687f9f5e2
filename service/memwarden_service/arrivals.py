"""How much arrives from one source, and how much of it says much the same: counted where it is recorded.

The record compares what a proposal was screened with to what is there, by steps: few, many. Each process remembers the
last count of a source, so that a source that sends much is not decided twice each time.
"""

import re
from collections import OrderedDict

from memwarden_policy.model import SourceKind
from memwarden_policy.screening import counting
from memwarden_service.digests import keyed
from memwarden_service.drafts import Counts, Draft

COUNTS_REMEMBERED_MAX = 10_000
# An import is a burst by nature.
UNCOUNTED = frozenset({SourceKind.IMPORTED})
WORD = re.compile(r"[^\W\d_]+")
WORDS_LOOKED_AT_MAX = 512


class Remembered:
    """The last counts of sources and of likenesses, in this process."""

    def __init__(self) -> None:
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def of(self, source_key: bytes, likeness: bytes) -> Counts:
        """Return what to screen the next proposal with."""
        return Counts(similar=self._counts.get(source_key + likeness, 0), in_window=self._counts.get(source_key, 0))

    def saw(self, source_key: bytes, likeness: bytes, counts: Counts) -> None:
        """Remember what was counted."""
        for key, count in ((source_key + likeness, counts.similar), (source_key, counts.in_window)):
            self._counts[key] = count
            self._counts.move_to_end(key)
        while len(self._counts) > COUNTS_REMEMBERED_MAX:
            self._counts.popitem(last=False)


def source_key(hash_key: bytes, draft: Draft) -> bytes | None:
    """Return what names the source of a proposal: who brings it, for whom, on whose word. None: it is not counted."""
    source = draft.proposal.source
    if source in UNCOUNTED:
        return None
    who = (draft.subject.workspace, draft.subject.caller.actor, draft.principal or "")
    return keyed(hash_key, "arrival", *who, source)


def likeness(hash_key: bytes, draft: Draft) -> bytes:
    """Return what is the same for texts of the same words, whatever their order, their numbers and their marks."""
    words = sorted(set(WORD.findall(draft.proposal.content.casefold())[:WORDS_LOOKED_AT_MAX]))
    return keyed(hash_key, "likeness", draft.subject.workspace, *words)


def argument(draft: Draft) -> dict[str, object] | None:
    """Return what the record needs to count; None: this is not counted."""
    if draft.source_key is None:
        return None
    return {
        "source": draft.source_key.hex(),
        "likeness": draft.likeness.hex(),
        "similar": draft.counts.similar,
        "in_window": draft.counts.in_window,
        "steps": {"similar": counting.SIMILAR, "in_window": counting.BURST},
        "window": f"{counting.WINDOW_MINUTES} minutes",
        "recent": f"{counting.RECENT_HOURS} hours",
    }
