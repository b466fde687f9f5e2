"""Says how much a text worries and why; and, by a table, what that means for its source."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from memwarden_policy.screening import disguise, phrases
from memwarden_policy.screening.counting import BURST, SIMILAR
from memwarden_policy.screening.model import Context, Risk, Screened, Signal, SignalKind, Verdict

TEXT_LENGTH_MAX = 262_144  # Characters.

# Sources whose words are somebody else's: a page, a file, another program.
CARRIED = frozenset({"tool_result", "retrieval", "imported", "attachment"})
# Sources that are a person's own word, or the platform's.
SPOKEN = frozenset({"user_stated", "user_confirmed", "system_rule"})

_WEAK, _PLAIN, _STRONG = 1, 2, 4
WEIGHTS = {
    SignalKind.OVERRIDE: _STRONG,
    SignalKind.INSTRUCTION: _PLAIN,
    SignalKind.HIDDEN_UNICODE: _STRONG,
    SignalKind.ENCODED: _STRONG,
    SignalKind.CLAIMED_PERMISSION: _PLAIN,
    SignalKind.DEFERRED: _PLAIN,
    SignalKind.OTHER_PERSON: _PLAIN,
    SignalKind.IDENTITY_CHANGE: _PLAIN,
    SignalKind.REPETITION: _WEAK,
    SignalKind.BURST: _WEAK,
}
SENTENCES = {
    SignalKind.OVERRIDE: "The text tells an agent to set aside its instructions or to act behind somebody's back.",
    SignalKind.INSTRUCTION: "The text speaks to an agent as an order instead of stating a fact.",
    SignalKind.CLAIMED_PERMISSION: "The text claims that somebody gave a permission, which only a grant can give.",
    SignalKind.DEFERRED: "Words of a tool, file or page ask to be remembered for later.",
    SignalKind.IDENTITY_CHANGE: "The text says that somebody is, or has become, a person with more rights.",
}
IN_ORDER = tuple(phrases.PHRASES)
UNTRUSTED_KEEPS = frozenset({Risk.LOW})
TRUSTED_KEEPS = frozenset({Risk.LOW, Risk.MEDIUM})


def screen(text: str, context: Context) -> Screened:
    """Return the signals of a text and of how it arrives, and the risk they add up to.

    Raises ValueError beyond TEXT_LENGTH_MAX characters. The signals quote nothing of the text.
    """
    if len(text) > TEXT_LENGTH_MAX:
        raise ValueError(f"A text has at most {TEXT_LENGTH_MAX} characters, this one has {len(text)}")
    text = text.encode("utf-8", "replace").decode()  # A lone surrogate is no character.
    seen, counted = [*_said(text, context), *_hidden(text), *_arrived(context)], [*_counts(context)]
    # That much arrives worries about the source and says nothing of the words: alone it never adds up to a high risk.
    weight = sum(each for _, each in seen) + min(sum(each for _, each in counted), _PLAIN)
    return Screened(risk=_risk(weight), signals=tuple(signal for signal, _ in (*seen, *counted)))


def judge(risk: Risk, source: str, trusted: bool) -> Verdict:
    """Decide what happens: an untrusted source with any risk is quarantined, whatever the text says of itself.

    `trusted` is whether a grant lets the writer claim this source. A person's own word, rightly claimed, is kept.
    """
    if trusted and source in SPOKEN:
        return Verdict.KEEP
    keeps = TRUSTED_KEEPS if trusted else UNTRUSTED_KEEPS
    return Verdict.KEEP if risk in keeps else Verdict.QUARANTINE


Weighed = tuple[Signal, int]


def _said(text: str, context: Context) -> Iterator[Weighed]:
    kinds = _kinds_in(disguise.unfolded(text))
    for kind in kinds:
        if kind is not SignalKind.DEFERRED or context.source in CARRIED:
            yield Signal(kind=kind, detail=SENTENCES[kind]), WEIGHTS[kind]
    if any(_kinds_in(each) for each in disguise.decoded(text)):
        detail = "The text holds an encoding of words that speak to an agent."
        yield Signal(kind=SignalKind.ENCODED, detail=detail), WEIGHTS[SignalKind.ENCODED]


def _kinds_in(lowered: str) -> list[SignalKind]:
    return sorted(_search()(lowered.encode()), key=IN_ORDER.index)


@lru_cache(maxsize=1)
def _search() -> Callable[[bytes], set[SignalKind]]:
    return phrases.search()


def _hidden(text: str) -> Iterator[Weighed]:
    for sentence in disguise.hidden(text):
        yield Signal(kind=SignalKind.HIDDEN_UNICODE, detail=sentence), WEIGHTS[SignalKind.HIDDEN_UNICODE]


def _arrived(context: Context) -> Iterator[Weighed]:
    if context.principal and context.about and context.about != context.principal:
        detail = "The text is about one person and arrives in the session of another."
        yield Signal(kind=SignalKind.OTHER_PERSON, detail=detail), WEIGHTS[SignalKind.OTHER_PERSON]


def _counts(context: Context) -> Iterator[Weighed]:
    if context.similar_recent >= SIMILAR[0]:
        detail = "The same source has said much the same several times of late."
        yield Signal(kind=SignalKind.REPETITION, detail=detail), _counted(context.similar_recent, SIMILAR[1])
    if context.in_window >= BURST[0]:
        detail = "The same source has proposed unusually many candidates of late."
        yield Signal(kind=SignalKind.BURST, detail=detail), _counted(context.in_window, BURST[1])


def _counted(count: int, many: int) -> int:
    return _PLAIN if count >= many else _WEAK


def _risk(weight: int) -> Risk:
    if weight >= _STRONG:
        return Risk.HIGH
    return Risk.MEDIUM if weight >= _PLAIN else Risk.LOW
