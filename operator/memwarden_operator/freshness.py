"""How fresh a LIST must be: at least as fresh as what was seen of the same resources.

A LIST without a version waits until the API server's cache has caught up with every write to any resource: tens of
milliseconds where much is written. An event that asks for work has a version of its own: a LIST that is no older misses
nothing that we know of, and waits for nothing.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Freshness:
    """The highest resourceVersion seen of each kind of resource, by plural."""

    _seen: dict[str, int] = field(default_factory=dict)

    def saw(self, plural: str, version: str) -> None:
        """Take note of the version of an object or of a LIST."""
        if version.isdecimal():
            self._seen[plural] = max(int(version), self._seen.get(plural, 0))

    def forget(self) -> None:
        """Be as fresh as can be: a restored API server may count from an older number again."""
        self._seen.clear()

    def query(self, plural: str) -> dict[str, str]:
        """Return what makes a LIST as fresh as what was seen; without anything seen, as fresh as can be."""
        version = self._seen.get(plural)
        if version is None:
            return {}
        return {"resourceVersion": str(version), "resourceVersionMatch": "NotOlderThan"}
