"""Which languages a text may be in, and the folding after which two spellings of a word are one."""

import re
import unicodedata
from enum import StrEnum


class Language(StrEnum):
    """The languages with stems of their own; a text in another of the same script still finds its own words."""

    ENGLISH = "en"
    GERMAN = "de"
    CZECH = "cs"
    UKRAINIAN = "uk"
    RUSSIAN = "ru"
    ARABIC = "ar"
    CHINESE = "zh"
    JAPANESE = "ja"
    KOREAN = "ko"


# In the order in which a word's language is guessed when nothing speaks for another.
LATIN = (Language.ENGLISH, Language.GERMAN, Language.CZECH)
CYRILLIC = (Language.UKRAINIAN, Language.RUSSIAN)

_LETTERS_OF = {
    Language.GERMAN: re.compile("[äöüß]"),
    Language.CZECH: re.compile("[ěščřžýůďťň]"),
    Language.UKRAINIAN: re.compile("[іїєґ]"),
    Language.RUSSIAN: re.compile("[ыэъё]"),
}
LETTER_EVIDENCE = 2  # a letter that only one language has says as much as two function words
_KANA = re.compile("[\u3040-\u30ff]")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u064b-\u065f\u0670\u0640]"
)  # accents, Cyrillic and Arabic marks, tatweel
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'", "´": "'"})
# й, ї, ё are letters, not accented ones: without their marks they are other words' letters.
_LETTERS_WITH_MARKS = frozenset("йїў")


def folded(text: str) -> str:
    """Return the text in compatibility form, lower case, with one apostrophe, and the accents kept."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES).replace("ё", "е")


def unaccented(word: str) -> str:
    """Return the word without its accents: what a person types who has not got them on the keyboard."""
    if word.isascii():
        return word
    kept = (letter if letter in _LETTERS_WITH_MARKS else unicodedata.normalize("NFD", letter) for letter in word)
    return unicodedata.normalize(
        "NFC", "".join(part if part in _LETTERS_WITH_MARKS else _MARKS.sub("", part) for part in kept)
    )


def is_japanese(text: str) -> bool:
    """Say whether a text in Han characters is Japanese: it has kana."""
    return _KANA.search(text) is not None


def letters_speak_for(text: str, language: Language) -> int:
    """Count what the letters of a folded text say for a language that shares its script with others."""
    pattern = _LETTERS_OF.get(language)
    return LETTER_EVIDENCE * len(pattern.findall(text)) if pattern else 0
