"""A vault: memories that are sealed here, kept by the service, and recalled here. Keys and questions never leave."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2

from memwarden.vault_keys import KeyRing
from memwarden.vault_recall import LocalIndex, Opened, Recalled
from memwarden.vault_text import VaultError, Words, open_, seal
from memwarden_policy.retrieval.embedder import Embedder, StaticEmbedder

MEMORIES_MAX = 20_000  # Held at once; a vault with more says so instead of answering from a part.
PAGE = 100
PATH = "/v1/memories"
NEAREST_PATH = "/v1/vault/nearest"
VAULT = "vault"


class ServiceError(Exception):
    """The service gave another answer than was hoped for: its status, and the type of its problem."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a memory: confirmed, or held until its owner confirms it."""

    id: str
    status: str


class Vault:
    """The vault of one person; `client` has the service's address and that person's credential."""

    def __init__(self, client: httpx2.Client, keys: KeyRing, embedder: Embedder | None = None) -> None:
        self._client, self._keys = client, keys
        self._embedder = embedder or StaticEmbedder()
        self._index = LocalIndex(self._embedder)
        self._is_synced = False
        self.unopened: Mapping[str, str] = {}  # After `sync`: what no key here opens, and why.

    def remember(
        self, domain: str, content: str, *, source: str = "user_stated", value: Any = None, **more: Any
    ) -> Kept:
        """Seal a memory and hand it over.

        Args:
            domain: where it belongs.
            content: its words; sealed.
            source: on whose word.
            value: its structured value; sealed.
            more: what else a proposal says (topic, tags, confidence, ...), all of it **in the clear**; and
                `semantic_index=True`, which hands over a vector of the words.

        Raises:
            VaultError: it is too long.
            ServiceError: it was not taken.
        """
        index = self._index_of(content) if more.pop("semantic_index", False) else {}
        body = {
            **more,
            "domain": domain,
            "content": seal(self._keys, domain, Words(content, value)),
            "source": source,
            "private": True,
            "envelope": {"security_mode": VAULT, **index},
        }
        answer = _json(self._client.post(PATH, json=body), 201, 202)
        return Kept(answer["id"], answer["status"])

    def edit(self, memory_id: str, content: str, value: Any = None) -> None:
        """Put other words in the place of a memory's; what it says already is replaced whole.

        Raises:
            VaultError: it is too long, or no vault memory.
            ServiceError: it was not taken.
        """
        held = _json(self._client.get(f"{PATH}/{memory_id}"), 200)
        if held["envelope"]["security_mode"] != VAULT:
            raise VaultError("this is no vault memory")
        body: dict[str, Any] = {"content": seal(self._keys, held["domain"], Words(content, value))}
        if held["envelope"]["vault_semantic_index_opt_in"]:
            body["vector"] = self._embedder.embed([content])[0]
        tag = f'"{held["id"]}-{held["version"]}"'
        _json(self._client.patch(f"{PATH}/{memory_id}", json=body, headers={"If-Match": tag}), 200, 202)

    def memories(self) -> Iterator[dict[str, Any]]:
        """Yield this person's vault memories as the service has them: sealed.

        Raises:
            ServiceError: it did not answer.
        """
        cursor: str | None = None
        while True:
            wanted = {"local": "true", "limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
            page = _json(self._client.get(PATH, params=wanted), 200)
            yield from (each for each in page["memories"] if each["envelope"]["security_mode"] == VAULT)
            cursor = page["next"]
            if cursor is None:
                return

    def sync(self) -> None:
        """Fetch and open everything.

        Raises:
            VaultError: it is more than can be held here.
            ServiceError: the service did not answer.
        """
        opened: list[Opened] = []
        unopened: dict[str, str] = {}
        for memory in self.memories():
            if len(opened) + len(unopened) >= MEMORIES_MAX:
                raise VaultError(f"more than {MEMORIES_MAX} memories")
            try:
                opened.append(self._opened(memory))
            except VaultError as error:
                unopened[memory["id"]] = str(error)
        self._index.replace(opened)
        self.unopened, self._is_synced = unopened, True

    def recall(self, question: str, limit: int = 10, now: datetime | None = None) -> list[Recalled]:
        """Return what answers a question best, of what the last `sync` fetched (the first time, it is done here)."""
        if not self._is_synced:
            self.sync()
        return self._index.recall(question, now or datetime.now(UTC), limit)

    def nearest(self, question: str, limit: int = 10) -> list[Recalled]:
        """Return what the service finds by the question's vector, of what was remembered with `semantic_index=True`.

        The service is told the vector, and with it roughly what is asked. `unopened` is left as it was.

        Raises:
            ServiceError: it did not answer, or the question says nothing that a vector could hold.
        """
        body = {"vector": self._embedder.embed([question])[0], "embedder": self._embedder.model, "limit": limit}
        found: list[Recalled] = []
        for each in _json(self._client.post(NEAREST_PATH, json=body), 200)["memories"]:
            with contextlib.suppress(VaultError):
                found.append(Recalled(self._opened(each["memory"]), each["score"], {"semantic": each["score"]}))
        return found

    def _opened(self, memory: Mapping[str, Any]) -> Opened:
        words = open_(self._keys, memory["domain"], memory["content"])
        return Opened(
            id=memory["id"],
            version=memory["version"],
            domain=memory["domain"],
            content=words.content,
            value=words.value,
            category=memory["category"],
            observed_at=datetime.fromisoformat(memory["observed_at"]),
            known_since=datetime.fromisoformat(memory["last_confirmed_at"] or memory["in_force_from"]),
            confidence=memory["confidence"],
        )

    def _index_of(self, content: str) -> dict[str, Any]:
        vector = self._embedder.embed([content])[0]
        if not any(vector):
            return {}  # It says nothing that a vector could hold.
        return {"vault_semantic_index_opt_in": True, "vector": vector, "embedder": self._embedder.model}


def _json(answer: httpx2.Response, *wanted: int) -> Any:
    if answer.status_code in wanted:
        return answer.json()
    is_problem = answer.headers.get("content-type", "").startswith("application/problem+json")
    kind = answer.json().get("type", "") if is_problem else ""
    raise ServiceError(f"{answer.status_code} {kind}".strip())
