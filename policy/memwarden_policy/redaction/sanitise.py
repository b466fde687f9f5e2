"""Cuts secrets out of texts and values; what it returns never holds what was cut."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import re2

from memwarden_policy.redaction.matcher import UNREADABLE, Finding
from memwarden_policy.redaction.model import (
    PLACEHOLDER,
    Category,
    Redaction,
    Rule,
    Sanitized,
    SanitizedValue,
    Span,
    TextTooLongError,
    ValueTooDeepError,
    placeholder,
)
from memwarden_policy.redaction.registry import Registry

TEXT_LENGTH_MAX = 262_144  # Characters.
VALUE_DEPTH_MAX = 32
VALUE_PARTS_MAX = 10_000
# A cut changes what stands beside what; the text is looked through until nothing is found.
PASSES_MAX = 6
NUMBER_DIGITS_MIN = 12

DEFAULT = Registry()
_PLACEHOLDER = re2.compile(PLACEHOLDER.encode())


class _Cut(NamedTuple):
    start: int
    end: int
    rule: Rule


def sanitize_server_write(text: str, redact_contact_pii: bool = False, registry: Registry = DEFAULT) -> Sanitized:
    """Return the text without its secrets; doing it twice changes nothing more.

    Credentials, payment data and one-time codes are always cut, e-mail addresses and phone numbers only when asked.
    Raises TextTooLongError beyond TEXT_LENGTH_MAX characters.
    """
    if len(text) > TEXT_LENGTH_MAX:
        raise TextTooLongError(f"A text has at most {TEXT_LENGTH_MAX} characters, this one has {len(text)}")
    matcher = registry.matcher()
    raw = text.encode("utf-8", "surrogatepass")
    lengths: list[tuple[Rule, int]] = []
    for _ in range(PASSES_MAX):
        kept = [match.span() for match in _PLACEHOLDER.finditer(raw)] if b"[REDACTED:" in raw else []
        cuts = _cuts(raw, matcher.findings(_veiled(raw, kept), contact=redact_contact_pii), kept)
        if not cuts:
            return Sanitized(text=_text(raw) if lengths else text, redactions=_summed(lengths))
        lengths += [(cut.rule, len(_text(raw[cut.start : cut.end]))) for cut in cuts]
        raw = _without(raw, cuts)
    # Rules that find something in every result would go on for ever: nothing is kept.
    return Sanitized(text=placeholder(UNREADABLE.kind), redactions=_summed([(UNREADABLE, len(text))]))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _veiled(raw: bytes, kept: Sequence[Span]) -> bytes:
    """Return the text, as long as it was, with placeholders that no rule takes for a label or a value."""
    if not kept:
        return raw
    veiled = bytearray(raw)
    for start, end in kept:
        veiled[start + 1 : end - 1] = b"#" * (end - start - 2)
    return bytes(veiled)


def _cuts(raw: bytes, findings: Iterable[Finding], kept: Sequence[Span]) -> list[_Cut]:
    """Join overlapping findings, and leave out what is a placeholder already."""
    joined: list[_Cut] = []
    for found in sorted(findings, key=lambda finding: (finding.start, finding.end)):
        (start, end), rule = _at_characters(raw, found.start, found.end), found.rule
        if joined and start < joined[-1].end:
            last = joined[-1]
            joined[-1] = _Cut(last.start, max(last.end, end), min(last.rule, rule, key=lambda each: each.rank))
        elif start < end:
            joined.append(_Cut(start, end, rule))
    return [piece for cut in joined for piece in _outside(cut, kept)]


def _at_characters(raw: bytes, start: int, end: int) -> Span:
    """Widen a span so that no character is cut in two."""
    while start > 0 and raw[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(raw) and raw[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _outside(cut: _Cut, kept: Sequence[Span]) -> list[_Cut]:
    pieces = []
    start = cut.start
    for begin, end in kept:
        if begin < cut.end and end > start:
            if begin > start:
                pieces.append(_Cut(start, begin, cut.rule))
            start = max(start, end)
    if start < cut.end:
        pieces.append(_Cut(start, cut.end, cut.rule))
    return pieces


def _without(raw: bytes, cuts: Sequence[_Cut]) -> bytes:
    chunks = []
    position = 0
    for cut in cuts:
        chunks += [raw[position : cut.start], placeholder(cut.rule.kind).encode()]
        position = cut.end
    return b"".join([*chunks, raw[position:]])


def _summed(lengths: Iterable[tuple[Rule, int]]) -> tuple[Redaction, ...]:
    kinds: dict[tuple[str, Category], list[int]] = {}
    for rule, length in lengths:
        kinds.setdefault((rule.kind, rule.category), []).append(length)
    return tuple(
        Redaction(kind=kind, category=category, count=len(each), lengths=tuple(each))
        for (kind, category), each in sorted(kinds.items())
    )


def sanitize_value(value: object, redact_contact_pii: bool = False, registry: Registry = DEFAULT) -> SanitizedValue:
    """Return a JSON-like value with the secrets cut out of every string in it, keys too.

    A value is also judged by its key: `{"password": "..."}`. Numbers that are secrets, such as a card number, become
    a placeholder. Values of other types stay as they are. Raises ValueTooDeepError beyond VALUE_DEPTH_MAX levels or
    VALUE_PARTS_MAX parts, TextTooLongError when its texts together are longer than TEXT_LENGTH_MAX characters.
    """
    walk = _Walk(redact_contact_pii, registry)
    return SanitizedValue(value=walk.through(value, "", VALUE_DEPTH_MAX), redactions=_merged(walk.found))


@dataclass(slots=True)
class _Walk:
    contact: bool
    registry: Registry
    found: list[Redaction] = field(default_factory=list)
    parts: int = 0
    characters: int = 0

    def through(self, value: object, key: str, depth: int) -> object:
        self.parts += 1
        if depth == 0 or self.parts > VALUE_PARTS_MAX:
            raise ValueTooDeepError(f"A value has at most {VALUE_DEPTH_MAX} levels and {VALUE_PARTS_MAX} parts")
        match value:
            case str():
                return self._string(value, key)
            case dict():
                return self._mapping(value, depth)
            case list() | tuple():
                return type(value)(self.through(each, key, depth - 1) for each in value)
            case int() | float() if not isinstance(value, bool):
                return self._number(value, key)
        return value

    def _mapping(self, value: dict[object, object], depth: int) -> dict[object, object]:
        named = _name_in(value)
        result: dict[object, object] = {}
        for key, each in value.items():
            label = key if isinstance(key, str) else ""
            if label.lower() == "value" and named:
                label = named
            result[self._free(self._string(key, "") if isinstance(key, str) else key, result)] = self.through(
                each, label, depth - 1
            )
        return result

    @staticmethod
    def _free(key: object, taken: dict[object, object]) -> object:
        """Number a key whose secret was cut when another became the same."""
        free, number = key, 2
        while free in taken:
            free, number = f"{key} {number}", number + 1
        return free

    def _string(self, text: str, key: str) -> str:
        self.characters += len(text)
        if self.characters > TEXT_LENGTH_MAX:
            raise TextTooLongError(f"The texts of a value have at most {TEXT_LENGTH_MAX} characters together")
        done = sanitize_server_write(text, self.contact, self.registry)
        self.found += done.redactions
        rules = self.registry.matcher().labels(key, text) if key and not done.applied else []
        if not rules or _PLACEHOLDER.fullmatch(text.encode("utf-8", "surrogatepass")):
            return done.text
        rule = min(rules, key=lambda each: each.rank)
        self.found += _summed([(rule, len(text))])
        return placeholder(rule.kind)

    def _number(self, value: float, key: str) -> object:
        text = str(value)
        if not key and len(text) < NUMBER_DIGITS_MIN:
            return value
        cut = self._string(text, key)
        return value if cut == text else cut


def _name_in(value: dict[object, object]) -> str:
    """Return the name of a name-and-value pair, as environment variables are written in manifests."""
    for key in ("name", "key", "Name", "Key"):
        name = value.get(key)
        if isinstance(name, str):
            return name
    return ""


def _merged(found: Iterable[Redaction]) -> tuple[Redaction, ...]:
    kinds: dict[tuple[str, Category], list[int]] = {}
    for each in found:
        kinds.setdefault((each.kind, each.category), []).extend(each.lengths)
    return tuple(
        Redaction(kind=kind, category=category, count=len(lengths), lengths=tuple(lengths))
        for (kind, category), lengths in sorted(kinds.items())
    )
