"""The shapes of search: a question with its filters, and hits with what they are made of."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from memwarden_policy.model import MemoryType, SourceKind
from memwarden_policy.retrieval.ranking import Mode
from memwarden_policy.retrieval.reading import QUESTION_LENGTH_MAX
from memwarden_service.shapes import CURSOR_LENGTH_MAX, CategoryName, Domain, Memory, Moment, Strict, tidied_content

HITS_MAX = 100
HITS_DEFAULT = 10


class SearchBody(Strict):
    """A question, and what its answers must be."""

    query: Annotated[
        str, StringConstraints(min_length=1, max_length=QUESTION_LENGTH_MAX), BeforeValidator(tidied_content)
    ] = Field(description="Words, or a question; dates in it are looked up in `observed_at`.")
    mode: Literal[Mode.KEYWORD] = Field(default=Mode.KEYWORD, description="`keyword`: by the words alone.")
    domain: Domain | None = None
    memory_type: MemoryType | None = None
    category: CategoryName | None = None
    source: SourceKind | None = None
    confidence_min: Annotated[Decimal, Field(ge=0, le=1)] | None = None
    observed_after: Moment | None = Field(default=None, description="Observed then or later.")
    observed_before: Moment | None = Field(default=None, description="Observed earlier than then.")
    limit: Annotated[int, Field(strict=True, ge=1, le=HITS_MAX)] = HITS_DEFAULT
    cursor: Annotated[str, StringConstraints(max_length=CURSOR_LENGTH_MAX)] | None = None
    explain: Annotated[bool, Field(strict=True)] = Field(
        default=False, description="Say of each hit what its score is made of."
    )


class Explanation(BaseModel):
    """What a score is made of: what each voice and sign added, times what is left of the memory by its age."""

    because: dict[str, float]
    strength: float


class FoundMemory(BaseModel):
    """A memory that was found. Scores of two searches are not comparable."""

    memory: Memory
    score: float
    explanation: Explanation | None


class Found(BaseModel):
    """Hits, best first."""

    hits: list[FoundMemory]
    mode: Mode
    next: str | None
