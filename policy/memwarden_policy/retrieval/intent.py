"""What a question asks for, and how much each voice then has to say."""

import re
from dataclasses import dataclass, replace

_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b|\bwann\b|\bwie lange\b|\bkdy\b|\bjak dlouho\b"
    r"|\bколи\b|\bкогда\b|\bскільки часу\b|\bمتى\b|什么时候|何时|几月|几号|いつ|何日|언제|며칠",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\bhow (?:many|much|often|old|far|big|long)\b|\bwie ?(?:viele?|oft|alt|groß)\b|\bkolik(?:rát)?\b"
    r"|\bскільки\b|\bсколько\b|\bكم\b|多少|几个|几次|いくつ|いくら|何回|何人|얼마|몇",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent|recently|currently|now|these days)\b"
    r"|\b(?:neueste|aktuell|zuletzt|derzeit|jetzt)\w*|\b(?:nejnověj|aktuáln|naposledy|nyní)\w*|\b(?:останн|найновіш|нещодавн|зараз|наразі)\w*"
    r"|\b(?:последн|недавн|сейчас|текущ)\w*|最新|最近|目前|現在|최신|최근|현재|\bالأحدث\b|\bحاليا\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|dozen|hundred"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|einmal|zweimal|mehrere|dva|dvě|tři|čtyři|pět|jednou|dvakrát|několik"
    r"|два|дві|три|чотири|п'ять|шість|кілька|двічі|две|четыре|пять|шесть|несколько|дважды)\b"
    r"|[二三四五六七八九十两]|두|세|네|다섯|여섯|اثنان|ثلاثة|أربعة|خمسة",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「`][^\"“”„»」`]{2,}[\"”“»」`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each voice and each sign of a row counts; a voice's best row has the whole weight."""

    lexical: float = 0.05
    semantic: float = 0.05
    graph: float = 0.70  # the row as its episode knows it
    meaning: float = 0.36  # the share of meaning in the graph voice; the rest is words
    period: float = 0.50  # observed in the period the question names
    recency: float = 0.02
    said_by: float = 0.10  # said by somebody the question names
    answers: float = 0.08  # follows a question
    asks: float = -0.10  # is a question itself
    tells_when: float = 0.10  # has words of time, and the question asks when
    tells_number: float = 0.10  # has a number, and the question asks how many


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What a question asks for."""

    when: bool = False
    count: bool = False
    latest: bool = False
    exact: bool = False


def intent_of(question: str, *, names_something: bool) -> Intent:
    """Read what a question asks for; `names_something`: it holds a path, a version or an identifier."""
    return Intent(
        when=_WHEN.search(question) is not None,
        count=_COUNT.search(question) is not None,
        latest=_LATEST.search(question) is not None,
        exact=names_something or _QUOTED.search(question) is not None,
    )


def weights_for(intent: Intent, weights: Weights) -> Weights:
    """Return the weights for a question: what it does not ask for does not count."""
    return replace(
        weights,
        meaning=weights.meaning / 3 if intent.exact else weights.meaning,
        semantic=0.0 if intent.exact else weights.semantic,
        lexical=weights.lexical * 4 if intent.exact else weights.lexical,
        recency=weights.recency * 10 if intent.latest else weights.recency,
        tells_when=weights.tells_when if intent.when else 0.0,
        tells_number=weights.tells_number if intent.count else 0.0,
    )


def tells_number(text: str) -> bool:
    """Say whether a statement holds a number, so that it may answer "how many"."""
    return _NUMBER.search(text) is not None
