"""The stem under which every inflection of a word is found, by language."""

import functools

import simplemma
import Stemmer

from memwarden_policy.retrieval.language import Language, unaccented

WORDS_CACHED_MAX = 65_536
_SNOWBALL = {
    Language.ENGLISH: "english",
    Language.GERMAN: "german",
    Language.CZECH: "czech",
    Language.RUSSIAN: "russian",
    Language.ARABIC: "arabic",
}


@functools.cache
def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    # Used by one thread at a time: the call holds the interpreter's lock.
    return Stemmer.Stemmer(algorithm)


@functools.lru_cache(WORDS_CACHED_MAX)
def stem(word: str, language: Language | None) -> str:
    """Return the stem of a folded word, without accents; the word itself where the language has no stems."""
    if language is Language.UKRAINIAN:
        return _ukrainian(word)
    algorithm = _SNOWBALL.get(language) if language else None
    return unaccented(_stemmer(algorithm).stemWord(word)) if algorithm else unaccented(word)


def _ukrainian(word: str) -> str:
    # A name or a new word is in no dictionary: the endings that Ukrainian and Russian share still come off it.
    lemma = simplemma.lemmatize(word, lang="uk")
    return unaccented(_stemmer("russian").stemWord(lemma.casefold()))
