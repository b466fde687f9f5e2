"""Holds a statement to its security envelope: when it is proposed, and whenever its words change."""

from collections.abc import Sequence
from dataclasses import replace

from memwarden_policy import envelope as envelopes
from memwarden_policy.envelope import STANDARD, Envelope
from memwarden_policy.model import Candidate
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.shapes import Proposal


def wanted(proposal: Proposal) -> Envelope:
    """Return the envelope that a proposal asks for; raises ProblemError for one that cannot be."""
    if proposal.envelope is None:
        return STANDARD
    held = proposal.envelope.completed()
    _refuse(
        envelopes.faults(
            held, content=proposal.content, has_value=proposal.value is not None, is_private=proposal.private
        )
    )
    return held


def reworded(before: Candidate, after: Candidate, vector: Sequence[float] = ()) -> Candidate:
    """Return a statement with other words in the same envelope.

    Args:
        before: what it said.
        after: what it is to say.
        vector: what the client made of the new words; empty: nothing.

    Raises:
        ProblemError: the words do not fit the envelope.
    """
    held = after.envelope
    if not held.is_vault:
        if after.content != before.content and envelopes.is_sealed(after.content):
            _refuse(
                [
                    envelopes.Fault(
                        "content", "Sealed", "a memory in the clear stays in the clear: propose a vault memory"
                    )
                ]
            )
        if vector:
            _refuse([envelopes.Fault("vector", "NoOptIn", "this memory takes no vector")])
        return after
    _refuse(
        envelopes.faults(held, content=after.content, has_value=after.value != "", is_private=after.owner is not None)
    )
    if bool(vector) != (held.vault_semantic_index_opt_in and after.content != before.content):
        message = "new words of a memory with `vault_semantic_index_opt_in` take their own vector, and no others do"
        _refuse([envelopes.Fault("vector", "OfTheWords", message)])
    if not vector:
        return after
    made = envelopes.unit(vector)
    if len(made) != len(held.vault_vector):
        _refuse([envelopes.Fault("vector", "Length", "a vector has as many numbers as the one before it")])
    return replace(after, envelope=replace(held, vault_vector=made))


def _refuse(found: Sequence[envelopes.Fault]) -> None:
    if found:
        faults = [Fault(f"body.{each.field}", each.reason, each.message) for each in found]
        raise ProblemError(Kind.INVALID, faults=faults)
