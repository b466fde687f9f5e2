"""Cuts text into words: by spaces, by dictionary (Chinese, Japanese, Korean), and names into their parts."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import lindera

from memwarden_policy.retrieval.language import Language, folded, is_japanese

WHOLE_LENGTH_MAX = 128  # characters; a longer path or token is found by its parts
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_RUN = re.compile(f"([{HAN}{KANA}]+)|([{HANGUL}]+)|([^\\s{HAN}{KANA}{HANGUL}]+)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_EDGES = "\"'`.,;:!?()[]{}<>«»„“”‘’…、。，！？；：（）「」『』|*~=&%$€£"
_JOINED = re.compile(r"[^\W_][._/\\:@#+\-][^\W_]|_[^\W_]|[^\W_]_")
_MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]")
_SIGNED = re.compile(r"^[A-Za-z](?:\+\+|#)$")  # C++, C#, F#
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTERS_AND_DIGITS = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
# What carries meaning: parts of speech of the dictionaries ipadic and ko-dic.
_JAPANESE_CONTENT = frozenset({"名詞", "動詞", "形容詞", "副詞", "感動詞", "UNK"})
_JAPANESE_EMPTY = frozenset({"非自立", "代名詞", "接尾"})
_KOREAN_CONTENT = frozenset({"NNG", "NNP", "NR", "VV", "VA", "MAG", "XR", "SL", "SH", "UNK"})


@dataclass(frozen=True, slots=True)
class Segment:
    """One word, folded, and what else it is found by."""

    text: str
    language: Language | None = None  # None: a word between spaces, whose language is guessed
    whole: bool = False  # a name with parts (path, version, identifier): found as it is, never stemmed
    also: tuple[str, ...] = ()  # parts of a compound


def segments(text: str) -> Iterator[Segment]:
    """Cut a text of any mixture of scripts into its words, in order."""
    han = Language.JAPANESE if is_japanese(text) else Language.CHINESE
    for match in _RUN.finditer(text):
        ideographs, hangul, rest = match.groups()
        if ideographs:
            yield from _japanese(ideographs) if han is Language.JAPANESE else _chinese(ideographs)
        elif hangul:
            yield from _korean(hangul)
        else:
            yield from _chunk(rest)


def _chunk(chunk: str) -> Iterator[Segment]:
    trimmed = chunk.strip(_EDGES)
    if not trimmed:
        return
    if _SIGNED.match(trimmed):
        yield Segment(folded(trimmed), whole=True)
        return
    if _JOINED.search(trimmed) or _MIXED.search(trimmed):
        yield from _name(trimmed)
        return
    yield from map(Segment, _WORD.findall(folded(trimmed)))


def _name(name: str) -> Iterator[Segment]:
    """Yield a path, version, address or identifier whole, its pieces whole, and the words it is made of."""
    pieces = {name, *(piece.strip(_EDGES + "-") for piece in re.split(r"[/\\@:#]+", name))}
    if re.match(r"[vV]\d", name):
        pieces.add(name[1:])
    yield from (Segment(folded(piece), whole=True) for piece in sorted(pieces) if 1 < len(piece) <= WHOLE_LENGTH_MAX)
    for word in _WORD.findall(name):
        parts = [part for hump in _HUMPS.split(word) for part in _LETTERS_AND_DIGITS.split(hump)]
        yield from (Segment(folded(part)) for part in ([word, *parts] if len(parts) > 1 else [word]))


@functools.cache
def _tokenizer(dictionary: str) -> lindera.Tokenizer:
    # Loaded when the first text of its script comes: some tens of megabytes and under a second each.
    return lindera.Tokenizer(lindera.load_dictionary(f"embedded://{dictionary}"))


def _pairs(word: str) -> tuple[str, ...]:
    return tuple(word[start : start + 2] for start in range(len(word) - 1)) if len(word) > 2 else ()


def _chinese(run: str) -> Iterator[Segment]:
    unknown = ""  # a name, or Japanese without kana: single characters in a row, found by their pairs
    for token in _tokenizer("cc-cedict").tokenize(run):
        details = token.details
        # Traditional and simplified spellings are one word: the dictionary knows both.
        simplified = details[6] if len(details) > 6 and details[6] != "*" else token.surface
        as_written = () if simplified == token.surface else (token.surface,)  # it may be Japanese
        yield Segment(simplified, Language.CHINESE, also=as_written + _pairs(simplified))
        if len(token.surface) == 1:
            unknown += token.surface
            continue
        yield from _unknown(unknown)
        unknown = ""
    yield from _unknown(unknown)


def _unknown(run: str) -> Iterator[Segment]:
    return (Segment(run[start : start + 2], Language.CHINESE) for start in range(len(run) - 1))


def _japanese(run: str) -> Iterator[Segment]:
    for token in _tokenizer("ipadic").tokenize(run):
        details = token.details
        if details[0] in _JAPANESE_CONTENT and not (len(details) > 1 and details[1] in _JAPANESE_EMPTY):
            lemma = details[6] if len(details) > 6 and details[6] != "*" else token.surface
            yield Segment(lemma, Language.JAPANESE, also=_pairs(lemma) if details[0] == "名詞" else ())


def _korean(run: str) -> Iterator[Segment]:
    for token in _tokenizer("ko-dic").tokenize(run):
        details = token.details
        speech = details[0].split("+")[0]
        if speech not in _KOREAN_CONTENT:
            continue
        made_of = [part.split("/") for part in details[7].split("+")] if len(details) > 7 and "/" in details[7] else []
        if "+" in details[0]:  # an inflected word is its stem: 만났 is 만나 and an ending
            yield Segment(made_of[0][0] if made_of else token.surface, Language.KOREAN)
            continue
        yield Segment(token.surface, Language.KOREAN, also=tuple(part[0] for part in made_of if len(part[0]) > 1))
