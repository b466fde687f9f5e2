"""What is done with the words of a proposal before anybody decides: secrets cut out, worries written down."""

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from memwarden_policy import cutting
from memwarden_policy.cutting import Cuts
from memwarden_policy.envelope import SecurityMode, is_sealed
from memwarden_policy.model import Candidate, RuleOutcome, SourceKind
from memwarden_policy.redaction import Redaction, Registry, SanitizedValue, sanitize_server_write, sanitize_value
from memwarden_policy.screened import quarantined, withheld
from memwarden_policy.screening import Context, Screened, SignalKind, screen
from memwarden_service import bodies
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.shapes import Proposal

# Fields whose text is not cut: a place, which would become another; words of a fixed list; and the event, of which
# nothing but a keyed hash is ever kept. Nor is what a client sealed: a cut would destroy it.
WHOLE = frozenset({"domain", "source", "memory_type", "source_event_id", "envelope"})
CUT = tuple(name for name in Proposal.model_fields if name not in WHOLE)
WORDS_OF_A_CHANGE = ("content", "value", "reason")
UNREADABLE = "unreadable"
OWN = "own"  # What a rule of a store found, whatever it calls it.
Shape = TypeVar("Shape", bound=BaseModel)


@lru_cache(maxsize=1)
def kinds() -> tuple[str, ...]:
    """Return every kind of redaction that can occur."""
    return (*Registry().kinds(), UNREADABLE, OWN)


def prepare() -> None:
    """Compile all that looks at texts, which takes a second or two, so that no write waits for it."""
    nothing = Proposal(domain="d", content="c", source=SourceKind.REASONING)
    redact(nothing)
    screen(nothing.content, Context(source=nothing.source))


def redact(proposal: Proposal) -> tuple[Proposal, tuple[Redaction, ...]]:
    """Return the proposal without credentials, payment data and one-time codes, and what was cut.

    Raises:
        ProblemError: the domain holds one, or a text is too long with what stands in place of its secrets.
    """
    if sanitize_server_write(proposal.domain).applied:
        raise ProblemError(Kind.INVALID, faults=[Fault("body.domain", "Credential", "holds a credential")])
    return _cut(proposal, sanitize_value)


def redact_as_told(proposal: Proposal, wanted: Cuts) -> tuple[Proposal, tuple[Redaction, ...]]:
    """Return the proposal without what policies let be cut beside secrets, and what was cut.

    Raises:
        ProblemError: a text is too long with what stands in place of what was cut.
    """
    return _cut(proposal, lambda given: cutting.cut(given, wanted)) if wanted.is_anything else (proposal, ())


def _cut(proposal: Proposal, cut_: Callable[[Any], SanitizedValue]) -> tuple[Proposal, tuple[Redaction, ...]]:
    given = {name: value for name in CUT if (value := getattr(proposal, name))}
    if _is_vault(proposal):
        del given["content"]
    done = cut_(list(given.values()))
    if not done.applied:
        return proposal, ()
    cut = proposal.model_copy(update=dict(zip(given, cast("list[object]", done.value), strict=True)))
    # As JSON, but for the number: as a text it would be none.
    bodies.shaped({**cut.model_dump(mode="json"), "confidence": cut.confidence}, Proposal)
    return cut, done.redactions


def changed(wanted: Shape) -> Shape:
    """Return a change, an edit or a word of feedback without the secrets in its own words.

    Raises:
        ProblemError: it held a private key or a cloud secret.
    """
    given = {name: value for name in WORDS_OF_A_CHANGE if (value := getattr(wanted, name, None))}
    if is_sealed(given.get("content", "")):
        del given["content"]  # `handling` takes it for a vault memory alone.
    done = sanitize_value(list(given.values()))
    if not done.applied:
        return wanted
    refusal = withheld(done.redactions)
    if refusal is not None:
        raise ProblemError(Kind.POLICY_REFUSED, refusal.note, members={"rules": [refusal.address]})
    return wanted.model_copy(update=dict(zip(given, cast("list[object]", done.value), strict=True)))


def screened(proposal: Proposal, principal: str | None, similar: int, in_window: int) -> Screened:
    """Return what worries about the words of a proposal, and about how they arrive."""
    content = "" if _is_vault(proposal) else proposal.content
    told = (content, proposal.topic, proposal.category, proposal.subject, proposal.reason)
    words = (*told, *proposal.tags, proposal.source_uri or "")
    context = Context(
        source=proposal.source,
        principal=principal,
        about=proposal.about,
        similar_recent=similar,
        in_window=in_window,
    )
    return screen("\n".join(filter(None, words)), context)


def worry(
    stated: Candidate, reason: str | None, principal: str | None, may_claim: Collection[SourceKind]
) -> RuleOutcome | None:
    """Return the quarantine of an agent's edit whose words worry more than its source may; None: they do not."""
    words = "" if stated.envelope.is_vault else stated.content
    context = Context(source=stated.source, principal=principal, about=stated.about)
    seen = screen("\n".join(filter(None, (words, stated.value, reason or ""))), context)
    return quarantined(seen, stated.source, may_claim)


def _is_vault(proposal: Proposal) -> bool:
    wanted = proposal.envelope
    return wanted is not None and wanted.security_mode is SecurityMode.VAULT and is_sealed(proposal.content)


def signals() -> tuple[str, ...]:
    """Return every kind of signal that can occur."""
    return tuple(kind.value for kind in SignalKind)
