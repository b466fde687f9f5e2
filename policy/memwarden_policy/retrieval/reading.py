"""Reads a memory into what its row keeps for search, and a question into what is looked up."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memwarden_policy.retrieval import dates, intent
from memwarden_policy.retrieval.language import CYRILLIC, LATIN, Language, folded, letters_speak_for, unaccented
from memwarden_policy.retrieval.segments import Segment, segments
from memwarden_policy.retrieval.stems import stem
from memwarden_policy.retrieval.stopwords import SPEAK_FOR, STOPWORDS

LEXEME_LENGTH_MAX = 128  # characters
LEXEMES_PER_MEMORY_MAX = 4_096
TERMS_PER_QUESTION_MAX = 32
QUESTION_LENGTH_MAX = 2_000  # characters; what is longer is cut
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_LABEL = re.compile(r"^\s*([^\W\d_][^\n:.!?;,]{0,39}):\s+(?=\S)")
LABEL_WORDS_MAX = 3
_PUNCTUATION = ".,;:!?()[]\"'“”„«»"
_ASKS = re.compile(r"[?？؟]\W*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a row keeps of its memory's text, computed once when it is written."""

    language: Language | None  # None: nothing in it says
    speaker: str  # folded label before a first colon ("Ann: I moved"), or ""
    said: str  # the text without that label: what is embedded
    frequencies: Mapping[str, int]
    length: int  # words that count, for BM25
    asks: bool
    tells_when: bool
    tells_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One word of a question: any of its lexemes will do."""

    word: str
    lexemes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as search looks it up."""

    text: str
    words: frozenset[str]  # folded, all of them: names of speakers among them
    terms: tuple[Term, ...]
    meaning: str  # what is embedded: the question without its dates
    periods: tuple[dates.Period, ...]
    intent: intent.Intent

    @property
    def lexemes(self) -> frozenset[str]:
        """Return every lexeme to look up in the postings."""
        return frozenset(lexeme for term in self.terms for lexeme in term.lexemes)


def read_memory(text: str, language: Language | None = None) -> Document:
    """Read a memory. `language` is what its writer said, if anything; else it is guessed."""
    label = _LABEL.match(text)
    speaker = folded(label[1]) if label and len(label[1].split()) <= LABEL_WORDS_MAX else ""
    said = text[label.end() :] if label and speaker else text
    cut = list(segments(text))
    spoken = language or _guessed([segment.text for segment in cut])
    frequencies: Counter[str] = Counter()
    length = 0
    for segment in _content(cut, spoken):
        found = _lexemes(segment, _language_of(segment, spoken))
        frequencies.update(found)
        length += not segment.whole
        if len(frequencies) >= LEXEMES_PER_MEMORY_MAX:
            break
    return Document(
        language=spoken,
        speaker=speaker,
        said=said,
        frequencies=frequencies,
        length=length,
        asks=_ASKS.search(text) is not None,
        tells_when=dates.tells_when(said),
        tells_number=intent.tells_number(said),
    )


def read_question(text: str, today: date, language: Language | None = None) -> Query:
    """Read a question as asked on `today`. `language` is what the asker said, if anything."""
    dated = dates.read(text[:QUESTION_LENGTH_MAX], today)
    cut = list(segments(dated.rest))
    spoken = language or _guessed([segment.text for segment in cut])
    terms: dict[str, Term] = {}
    for segment in _content(cut, spoken):
        word = _bare(segment.text)
        for part in (word, *segment.also):
            if part not in terms:
                terms[part] = Term(word=part, lexemes=_alternatives(part, segment))
    return Query(
        text=text,
        words=frozenset(_bare(segment.text) for segment in cut),
        terms=tuple(term for term in terms.values() if term.lexemes)[:TERMS_PER_QUESTION_MAX],
        meaning=dated.rest,
        periods=dated.periods,
        intent=intent.intent_of(text, names_something=any(segment.whole for segment in cut)),
    )


def without_speakers(query: Query, speakers: frozenset[str]) -> Query:
    """Return the question without the names of those who speak: who said it is a sign, not what was said."""
    named = query.words & {word for speaker in speakers for word in speaker.split()}
    terms = tuple(term for term in query.terms if term.word not in named)
    if not named or not terms:
        return query
    kept = (word for word in query.meaning.split() if _bare(folded(word.strip(_PUNCTUATION))) not in named)
    return replace(query, terms=terms, meaning=" ".join(kept))


def content_words(text: str) -> list[str]:
    """Return the folded words of a text that carry meaning, as written: what a static embedding is made of."""
    cut = [segment for segment in segments(text) if not segment.whole]
    return [segment.text for segment in _content(cut, _guessed([segment.text for segment in cut]))]


def _content(cut: Sequence[Segment], language: Language | None) -> list[Segment]:
    kept = [segment for segment in cut if segment.whole or not _is_empty(segment, language)]
    return kept or list(cut)  # "To be or not to be" is made of nothing else


def _is_empty(segment: Segment, language: Language | None) -> bool:
    word = segment.text
    stopwords = STOPWORDS.get(_language_of(segment, language) or Language.ENGLISH, frozenset())
    return word in stopwords or word.split("'")[0] in stopwords


def _language_of(segment: Segment, spoken: Language | None) -> Language | None:
    """Return the language a word is stemmed in: that of the text, if its script can be."""
    if segment.language:
        return segment.language
    plausible = _plausible(segment.text)
    return spoken if spoken in plausible else plausible[0]


def _plausible(word: str) -> tuple[Language, ...]:
    if word.isascii():
        return LATIN
    if _CYRILLIC.search(word):
        return CYRILLIC
    return (Language.ARABIC,) if _ARABIC.search(word) else LATIN


def _guessed(words: Sequence[str]) -> Language | None:
    """Guess by function words and by letters that only one language of a script has."""
    said = dict.fromkeys((*LATIN, *CYRILLIC), 0)
    for word in words:
        for language in SPEAK_FOR.get(word.split("'")[0], ()):  # "I'm", "don't"
            if language in said:
                said[language] += 1
    text = " ".join(words)
    if not text.isascii():
        for language in said:
            said[language] += letters_speak_for(text, language)
    best = max(said, key=lambda language: said[language])  # the first of equals: the order of the scripts
    return best if said[best] else None


def _lexemes(segment: Segment, language: Language | None) -> tuple[str, ...]:
    word = _bare(segment.text)
    first = unaccented(word) if segment.whole else stem(word, language)
    return _distinct((first, *segment.also))


def _alternatives(word: str, segment: Segment) -> tuple[str, ...]:
    """Return the lexemes of a word in every language it may be in: a question is too short to be sure."""
    if segment.whole or segment.language:
        return _distinct((unaccented(word),))
    return _distinct(stem(word, language) for language in _plausible(word))


def _distinct(lexemes: Iterable[str]) -> tuple[str, ...]:
    # What is made of marks alone has none left.
    return tuple(dict.fromkeys(lexeme[:LEXEME_LENGTH_MAX] for lexeme in lexemes if lexeme))


def _bare(word: str) -> str:
    """Return a word without an English ending after an apostrophe: "Ann's" is Ann, "don't" is don."""
    head, apostrophe, tail = word.rpartition("'")
    return head if apostrophe and head and tail in {"s", "re", "ve", "ll", "d", "m", "t"} else word.replace("'", "")
