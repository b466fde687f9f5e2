"""Finds the policies that speak of a candidate without asking all of them: an index over what selectors name."""

from collections import Counter
from collections.abc import Iterable, Iterator

from memwarden_policy.globs import SEPARATOR
from memwarden_policy.model import Candidate
from memwarden_policy.rules import Policy, Selector

Key = tuple[str, str]
EVERYTHING: Key = ("everything", "")


class Index:
    """Policies under the keys of one part of their selector: the part that tells them best from all others.

    A policy that names three categories lies under three keys. A lookup visits the keys of the candidate and asks the
    selectors found there, so its cost follows the policies that share a key with the candidate, not all of them.
    """

    __slots__ = ("_buckets",)

    def __init__(self, policies: Iterable[Policy]) -> None:
        held = tuple(policies)
        sizes = Counter(key for policy in held for part in _parts(policy.selector) for key in part)
        self._buckets: dict[Key, list[Policy]] = {}
        for policy in held:
            best = min(_parts(policy.selector), key=lambda part: sum(sizes[key] for key in part))
            for key in best:
                self._buckets.setdefault(key, []).append(policy)

    @property
    def is_empty(self) -> bool:
        """Whether no policy is in it."""
        return not self._buckets

    def select(self, candidate: Candidate, roles: frozenset[str]) -> list[Policy]:
        """Return the policies whose selector covers the candidate: the highest priority first, then by address."""
        found = {
            policy.address: policy
            for key in _keys(candidate, roles)
            for policy in self._buckets.get(key, ())
            if policy.selector.covers(candidate, roles)
        }
        return sorted(found.values(), key=lambda policy: (-policy.priority, policy.address))


def _parts(selector: Selector) -> list[frozenset[Key]]:
    """Return the keys of each part of a selector that narrows anything."""
    parts = [frozenset(_domain_keys(selector))]
    if selector.memory_types:
        parts.append(frozenset(("memory type", each.value) for each in selector.memory_types))
    if selector.roles:
        parts.append(frozenset(("role", each) for each in selector.roles))
    if selector.categories and all(each.is_literal for each in selector.categories):
        parts.append(frozenset(("category", each.pattern) for each in selector.categories))
    return parts


def _domain_keys(selector: Selector) -> Iterator[Key]:
    if not selector.domains:
        yield EVERYTHING
    for glob in selector.domains:
        yield ("domain", glob.pattern) if glob.is_literal else _folder_key(glob.literal_prefix)


def _folder_key(folder: str) -> Key:
    return ("folder", folder) if folder else EVERYTHING


def _keys(candidate: Candidate, roles: frozenset[str]) -> Iterator[Key]:
    """Return the keys under which a policy that covers the candidate must lie."""
    yield EVERYTHING
    yield ("domain", candidate.domain)
    yield ("memory type", candidate.memory_type.value)
    yield ("category", candidate.category)
    for role in roles:
        yield ("role", role)
    end = candidate.domain.find(SEPARATOR)
    while end >= 0:
        if end:
            yield ("folder", candidate.domain[:end])
        end = candidate.domain.find(SEPARATOR, end + 1)
