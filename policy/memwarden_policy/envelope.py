"""The security envelope of a memory: who can read its words, and what the service may do with them. Fixed for life."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# What a client seals: form, name of its key, nonce of 12 bytes, ciphertext with its tag; base64url without padding.
SEALED_FORM: Final = re.compile(r"mwv1\.[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{23,}", re.ASCII)
VECTOR_NUMBERS_MAX: Final = 2_048
EMBEDDER_LENGTH_MAX: Final = 128
# What the service may make of the words by itself.
SERVER_USES: Final = ("server_embeddings_enabled", "server_content_search_enabled")
VECTOR_PLACES: Final = 7  # Of a vector of length 1: all that a single-precision number holds.


class SecurityMode(StrEnum):
    """Whether the service can read the words."""

    STANDARD = "standard"
    VAULT = "vault"  # Only who holds the client's key can.


class EncryptionState(StrEnum):
    """What the content is, at rest."""

    PLAINTEXT = "plaintext"
    CLIENT_CIPHERTEXT = "client_ciphertext"
    SERVICE_CIPHERTEXT = "service_ciphertext"  # Sealed by the service, which opens it for whoever may read it.


class Visibility(StrEnum):
    """Who is given it without asking for it by its id."""

    SERVER = "server"  # Every reader that access and rules let through.
    CLIENT_LOCAL_ONLY = "client_local_only"  # Its owner, who recalls it on their own machine.
    NOT_RETRIEVABLE = "not_retrievable"  # Nobody.


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """How a memory is handled, whatever it says."""

    security_mode: SecurityMode = SecurityMode.STANDARD
    encryption_state: EncryptionState = EncryptionState.PLAINTEXT
    retrieval_visibility: Visibility = Visibility.SERVER
    server_embeddings_enabled: bool = True
    server_content_search_enabled: bool = True
    vault_semantic_index_opt_in: bool = False
    vault_vector: tuple[float, ...] = ()  # Of length 1; made by the client, where it opted in.
    vault_embedder: str = ""

    @property
    def is_vault(self) -> bool:
        return self.security_mode is SecurityMode.VAULT


STANDARD: Final = Envelope()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a writer asks for; None: whatever goes with the rest."""

    security_mode: SecurityMode = SecurityMode.STANDARD
    retrieval_visibility: Visibility | None = None
    server_embeddings_enabled: bool | None = None
    server_content_search_enabled: bool | None = None
    vault_semantic_index_opt_in: bool = False
    vector: Sequence[float] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an envelope cannot be: the field, a reason for machines, a sentence for people."""

    field: str
    reason: str
    message: str


def completed(wanted: Wanted) -> Envelope:
    """Return the envelope that a writer asks for, with what follows filled in. `faults` says whether it can be."""
    is_vault = wanted.security_mode is SecurityMode.VAULT
    usual = Visibility.CLIENT_LOCAL_ONLY if is_vault else Visibility.SERVER
    visibility = wanted.retrieval_visibility or usual
    is_served = visibility is Visibility.SERVER and not is_vault
    embeds, searches = wanted.server_embeddings_enabled, wanted.server_content_search_enabled
    return Envelope(
        security_mode=wanted.security_mode,
        encryption_state=EncryptionState.CLIENT_CIPHERTEXT if is_vault else EncryptionState.PLAINTEXT,
        retrieval_visibility=visibility,
        server_embeddings_enabled=is_served if embeds is None else embeds,
        server_content_search_enabled=is_served if searches is None else searches,
        vault_semantic_index_opt_in=wanted.vault_semantic_index_opt_in,
        vault_vector=unit(wanted.vector),
        vault_embedder=wanted.embedder,
    )


def faults(envelope: Envelope, *, content: str, has_value: bool, is_private: bool) -> tuple[Fault, ...]:
    """Say what about an envelope cannot be; the same as the constraints of the tables say."""
    found = [*_on_serving(envelope, is_private=is_private), *_on_index(envelope)]
    if envelope.is_vault and not is_sealed(content):
        found.append(
            Fault("content", "NotSealed", "a vault memory holds what its client sealed, as `mwv1.key.nonce.text`")
        )
    if envelope.is_vault and has_value:
        found.append(Fault("value", "InTheClear", "a vault memory has no value in the clear: seal it with the content"))
    return tuple(found)


def is_sealed(content: str) -> bool:
    """Say whether a text has the form of what clients seal."""
    return SEALED_FORM.fullmatch(content) is not None


def unit(vector: Sequence[float]) -> tuple[float, ...]:
    """Return the vector at length 1; one that has no direction is none."""
    most = max((abs(number) for number in vector), default=0.0)
    if most == 0.0:
        return ()
    scaled = [number / most for number in vector]  # Squares neither overflow nor vanish.
    length = sum(number * number for number in scaled) ** 0.5
    return tuple(round(number / length, VECTOR_PLACES) for number in scaled)


def _on_serving(envelope: Envelope, *, is_private: bool) -> list[Fault]:
    found, visibility = [], envelope.retrieval_visibility
    if envelope.is_vault and visibility is Visibility.SERVER:
        message = "a vault memory is client_local_only or not_retrievable"
        found.append(Fault("envelope.retrieval_visibility", "Vault", message))
    if visibility is not Visibility.SERVER and not is_private:
        found.append(Fault("private", "OwnerNeeded", f"what is {visibility} belongs to a person: say `private`"))
    is_served = visibility is Visibility.SERVER and not envelope.is_vault
    enabled = [name for name in SERVER_USES if getattr(envelope, name) and not is_served]
    message = "the service reads no words of what it does not serve"
    found += [Fault(f"envelope.{name}", "NotServed", message) for name in enabled]
    return found


def _on_index(envelope: Envelope) -> list[Fault]:
    if not envelope.vault_semantic_index_opt_in:
        if envelope.vault_vector or envelope.vault_embedder:
            message = "a vector is taken with `vault_semantic_index_opt_in` alone"
            return [Fault("envelope.vector", "NoOptIn", message)]
        return []
    found = []
    if not envelope.is_vault or envelope.retrieval_visibility is not Visibility.CLIENT_LOCAL_ONLY:
        message = "the opt-in is for vault memories that are client_local_only"
        found.append(Fault("envelope.vault_semantic_index_opt_in", "NotVault", message))
    if not envelope.vault_vector or not envelope.vault_embedder:
        message = "the opt-in takes the client's own `vector`, not all zero, and its `embedder`"
        found.append(Fault("envelope.vector", "Missing", message))
    return found
