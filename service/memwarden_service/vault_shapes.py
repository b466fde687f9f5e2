"""The shapes of what is found by a client's own vector."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from memwarden_policy.envelope import EMBEDDER_LENGTH_MAX, VECTOR_NUMBERS_MAX
from memwarden_service.envelope_shapes import Component
from memwarden_service.shapes import TIDY, Domain, Memory, Strict

NEAREST_MAX = 50


class Nearest(Strict):
    """A question as the client's own embedder sees it."""

    vector: Annotated[tuple[Component, ...], Field(min_length=1, max_length=VECTOR_NUMBERS_MAX)]
    embedder: Annotated[str, StringConstraints(min_length=1, max_length=EMBEDDER_LENGTH_MAX), TIDY]
    domain: Domain | None = None
    limit: Annotated[int, Field(ge=1, le=NEAREST_MAX, strict=True)] = 10


class Near(BaseModel):
    """One that lies near, sealed as it is; `score` is the cosine."""

    score: float
    memory: Memory


class NearMemories(BaseModel):
    """The caller's own, nearest first."""

    memories: list[Near]
