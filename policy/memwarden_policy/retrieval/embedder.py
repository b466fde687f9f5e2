"""The builtin embedder: the mean of static word vectors that a wheel carries. No download, no model to run.

Justified in a core without I/O because its file is a table inside an installed package, as a dictionary is: it is read
once, when the first text is embedded, and numpy is imported with it and not before."""

import functools
import importlib.util
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from memwarden_policy.retrieval.reading import content_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "wordllama-l2-256"
DIMENSIONS = 256
WORDS_CACHED_MAX = 32_768
WORDS_PER_TEXT_MAX = 2_048


class Embedder(Protocol):
    """Turns texts into vectors of unit length (or all zero, where a text says nothing)."""

    model: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""


class StaticEmbedder:
    """The mean of the unit vectors of a text's words, function words left out."""

    model = MODEL
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text; zero for a text with no word."""
        return [self._embedded(text) for text in texts]

    def _embedded(self, text: str) -> list[float]:
        words = content_words(text)[:WORDS_PER_TEXT_MAX]
        if not words:
            return [0.0] * DIMENSIONS
        total = functools.reduce(operator.add, map(_word, words))
        return [float(number) for number in _unit(total)]


@functools.cache
def _model() -> tuple[Any, "NDArray[Any]"]:
    # Not at import: a service whose embeddings are elsewhere, and every tool that only decides, must not pay for them.
    from safetensors.numpy import load_file  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("wordllama, whose wheel carries the vectors, is not installed")
    folder = Path(found.submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    (weights,) = load_file(folder / "weights/l2_supercat_256.safetensors").values()
    return tokenizer, weights


@functools.lru_cache(WORDS_CACHED_MAX)
def _word(word: str) -> "NDArray[Any]":
    tokenizer, weights = _model()
    tokens = tokenizer.encode(word, add_special_tokens=False).ids
    return _unit(weights[tokens].astype("float32").sum(axis=0))


def _unit(vector: "NDArray[Any]") -> "NDArray[Any]":
    length = float((vector * vector).sum()) ** 0.5
    return vector / length if length else vector
