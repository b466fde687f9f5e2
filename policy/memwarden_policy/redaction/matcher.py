"""Rules made ready: finds the secrets of a text as spans of its bytes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import re2

from memwarden_policy.redaction import encoded, views
from memwarden_policy.redaction.checks import is_remainder
from memwarden_policy.redaction.finders import Finder, TooManyHits, finder, quiet
from memwarden_policy.redaction.model import Category, Rule, Span
from memwarden_policy.redaction.views import View

FINDINGS_PER_RULE_MAX = 1_024
LINES_PER_TOKEN_MAX = 24
REJOINS_MAX = 2_000
_ALNUM = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")

_REST = re2.compile(rb"""[^\s"'<>]*""")

# What a text is cut as when it holds too many beginnings of secrets to look at each.
UNREADABLE = Rule(kind="unreadable", category=Category.CREDENTIAL, pattern="")


class Finding(NamedTuple):
    """A secret: where it lies in the bytes of the text, and the rule that found it."""

    start: int
    end: int
    rule: Rule


class Matcher:
    """Compiled rules. Made once, then used by any number of threads."""

    def __init__(self, rules: Sequence[Rule], make_finder: type[Finder] | None = None) -> None:
        self.rules = tuple(rules)
        self._patterns = [re2.compile(rule.pattern.encode(), quiet()) for rule in rules]
        anchored = [(lead, index) for index, rule in enumerate(rules) for lead in rule.leads]
        searched = [index for index, rule in enumerate(rules) if not rule.leads]
        leads = [lead for lead, _ in anchored]
        gates = [self.rules[index].gate or self.rules[index].pattern for index in searched]
        # For each lead and gate: its rule, and how far before its end the pattern begins (None: anywhere).
        self._targets: list[tuple[int, int | None]] = [
            *((index, lead.width) for lead, index in anchored),
            *((index, None) for index in searched),
        ]
        make = make_finder or finder
        self._finder: Finder = make(leads, gates)  # type: ignore[call-arg]  # A protocol says nothing of constructors.

    def findings(self, raw: bytes, *, contact: bool) -> list[Finding]:
        """Return the secrets of a text, in no order, overlapping as they may."""
        view = views.plain(raw)
        try:
            found = [*self._in(view.data, contact)]
            found += self._encoded_in(view.data, contact)
            broken = views.joined(view)
            if broken:
                found += [Finding(*view_span, rule) for view_span, rule in self._broken_in(broken)]
        except TooManyHits:
            return [Finding(0, len(raw), UNREADABLE)]
        return [Finding(*view.below((each.start, each.end)), each.rule) for each in found]

    def labels(self, key: str, value: str) -> list[Rule]:
        """Return the rules by which the value is a secret because of the key it stands under."""
        raw = f'{key}: "{value}"'.encode("utf-8", "surrogatepass")
        begin = len(key.encode("utf-8", "surrogatepass")) + 3
        return [each.rule for each in self._in(raw, contact=False) if each.start >= begin]

    def _in(self, data: bytes, contact: bool) -> Iterator[Finding]:
        ends = [0] * len(self.rules)
        for end, target in self._finder.find(data):
            index, width = self._targets[target]
            rule = self.rules[index]
            if rule.category is Category.CONTACT and not contact:
                continue
            if width is None:
                yield from self._searched(index, data)
                continue
            start = end - width
            if start < ends[index] or (rule.apart and start and data[start - 1] in _ALNUM):
                continue
            span = self._confirmed(index, data, start)
            if span:
                ends[index] = span[1]
                if span[0] < span[1]:
                    yield Finding(*span, rule)

    def _searched(self, index: int, data: bytes) -> Iterator[Finding]:
        rule = self.rules[index]
        for count, match in enumerate(self._patterns[index].finditer(data)):
            if count >= FINDINGS_PER_RULE_MAX:
                raise TooManyHits
            span = rule.locate(match)
            if span and span[1] > span[0]:
                yield Finding(*span, rule)

    def _confirmed(self, index: int, data: bytes, start: int) -> Span | None:
        rule, pattern = self.rules[index], self._patterns[index]
        limit = start + rule.reach
        match = pattern.match(data, start, limit)
        if match is None:
            return None
        if rule.closed and not _ends_apart(data, match.end()):
            return None
        span = rule.locate(match)
        if span and span[1] >= limit < len(data):
            # The secret goes on: it is cut to its end, however long.
            return span[0], _REST.match(data, limit).end()
        return span

    def _encoded_in(self, data: bytes, contact: bool) -> Iterator[Finding]:
        for text, span in encoded.decoded(data):
            first = next(iter(self._in(text, contact)), None)
            if first:
                yield Finding(*span, first.rule)

    def _broken_in(self, view: View) -> Iterator[tuple[Span, Rule]]:
        """Yield the tokens that line breaks had split, as spans of the text below."""
        done = [0] * len(self.rules)
        left = REJOINS_MAX
        for index, start in self._beginnings(view):
            if start < done[index]:
                continue
            span, tries = self._rejoined(index, view, start)
            left -= tries
            if left < 0:
                raise TooManyHits
            if span:
                done[index] = span[1]
                yield view.below(span), self.rules[index]
        for text, span in encoded.decoded(view.data):
            first = next(self._in(text, contact=False), None) if view.joints_in(span) else None
            if first:
                yield view.below(span), first.rule

    def _beginnings(self, view: View) -> Iterator[tuple[int, int]]:
        """Yield the rules of tokens that may be split, each with where one begins."""
        for end, target in self._finder.find(view.data):
            index, width = self._targets[target]
            if width is None or not self.rules[index].splits:
                continue
            start = end - width
            if not start or view.data[start - 1] not in _ALNUM or view.is_joint(start):
                yield index, start

    def _rejoined(self, index: int, view: View, start: int) -> tuple[Span | None, int]:
        """Return the span of the shortest token over a line break, with what belongs to it, and the tries it took."""
        rule, pattern = self.rules[index], self._patterns[index]
        match = pattern.match(view.data, start, start + rule.reach)
        if match is None:
            return None, 1
        joints = view.joints_in((start, match.end()))[:LINES_PER_TOKEN_MAX]
        limits = [*joints, match.end()]
        for position, limit in enumerate(limits):
            shorter = pattern.match(view.data, start, limit)
            if shorter is None or shorter.end() != limit or rule.locate(shorter) is None:
                continue
            tries = position + 2
            while position < len(joints) and self._goes_on(view, joints[position], limits[position + 1]):
                position += 1  # noqa: PLW2901  # From the shortest on, while the lines belong to it.
            end = limits[position]
            is_whole = not rule.closed or _ends_apart(view.data, end) or view.is_joint(end)
            return ((start, end) if position and is_whole else None), tries
        return None, len(limits) + 1

    @staticmethod
    def _goes_on(view: View, joint: int, limit: int) -> bool:
        """Say whether what stands after a line break belongs to the token before it."""
        return joint in view.lone or is_remainder(view.data[joint:limit])


def _ends_apart(data: bytes, end: int) -> bool:
    return end >= len(data) or data[end] not in _ALNUM
