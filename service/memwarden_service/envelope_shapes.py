"""The shapes of the security envelope: what a writer asks for, and what a reader is told."""

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from memwarden_policy.envelope import (
    EMBEDDER_LENGTH_MAX,
    VECTOR_NUMBERS_MAX,
    Envelope,
    SecurityMode,
    Visibility,
    Wanted,
    completed,
)
from memwarden_service.text import is_clean

COMPONENT_MAX = 1_000_000.0


def number(value: object) -> object:
    """Return a number; raises ValueError for a text, or a truth value."""
    if isinstance(value, (str, bool)):
        raise ValueError("must be a number")  # noqa: TRY004 - the checker takes a ValueError
    return float(value) if isinstance(value, Decimal) else value


def _embedder(value: object) -> object:
    if isinstance(value, str) and (not is_clean(value) or value != value.strip()):
        raise ValueError("no control characters and no space at the ends")
    return value


Component = Annotated[float, BeforeValidator(number), Field(ge=-COMPONENT_MAX, le=COMPONENT_MAX)]
Vector = Annotated[tuple[Component, ...], Field(max_length=VECTOR_NUMBERS_MAX)]
Embedder = Annotated[str, StringConstraints(max_length=EMBEDDER_LENGTH_MAX), BeforeValidator(_embedder)]
Flag = Annotated[bool, Field(strict=True)]


class EnvelopeWanted(BaseModel):
    """How a memory is to be handled, for its whole life."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    security_mode: SecurityMode = Field(
        default=SecurityMode.STANDARD, description="`vault`: `content` is what the client sealed, and stays so."
    )
    retrieval_visibility: Visibility | None = Field(
        default=None, description="Absent: `server`; of a vault memory `client_local_only`."
    )
    server_embeddings_enabled: Flag | None = Field(default=None, description="Absent: true for what is served.")
    server_content_search_enabled: Flag | None = Field(default=None, description="Absent: true for what is served.")
    vault_semantic_index_opt_in: Flag = Field(
        default=False, description="The client gives a vector of the sealed words, with what that tells of them."
    )
    vector: Vector = ()
    embedder: Embedder = Field(default="", description="What made the vector: only like is compared with like.")

    def completed(self) -> Envelope:
        """Return the envelope with what follows from the rest filled in."""
        return completed(
            Wanted(
                security_mode=self.security_mode,
                retrieval_visibility=self.retrieval_visibility,
                server_embeddings_enabled=self.server_embeddings_enabled,
                server_content_search_enabled=self.server_content_search_enabled,
                vault_semantic_index_opt_in=self.vault_semantic_index_opt_in,
                vector=self.vector,
                embedder=self.embedder,
            )
        )


class EnvelopeShown(BaseModel):
    """How a memory is handled."""

    model_config = ConfigDict(from_attributes=True)

    security_mode: str
    encryption_state: str
    retrieval_visibility: str
    server_embeddings_enabled: bool
    server_content_search_enabled: bool
    vault_semantic_index_opt_in: bool
    vault_embedder: str
