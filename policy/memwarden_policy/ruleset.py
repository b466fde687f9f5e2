"""A compiled ruleset: all policies, grants, domains and defaults of a workspace, ready to be asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memwarden_policy.grants import Grants
from memwarden_policy.model import Point, StoreDefaults
from memwarden_policy.records import Domain, domain_of
from memwarden_policy.rules import Policy
from memwarden_policy.selection import Index

NO_POLICIES: Final = Index(())


@dataclass(frozen=True, slots=True)
class Layers:
    """The policies that speak at one point: those of the floor, and those of the namespace."""

    floor: Index
    namespace: Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What is in force in one workspace. Only `compile` makes one."""

    workspace: str
    store: StoreDefaults
    policies: tuple[Policy, ...]
    layers: Mapping[Point, Layers]
    grants: Grants
    domains: tuple[Domain, ...] = ()
    redacting: Index = NO_POLICIES  # The policies that let something be cut beside secrets.
    retaining: Index = NO_POLICIES  # The policies that say how long memories are kept.
    retention_digest: str = ""  # Of what they say, wherever they stand; "": none says anything.

    def domain_of(self, domain: str) -> Domain | None:
        """Return what a MemoryDomain says of this domain: its owner, its system of record; None where none does."""
        return domain_of(self.domains, domain)


def layered(policies: Iterable[Policy]) -> Mapping[Point, Layers]:
    """Index policies by the points at which they speak."""
    held = tuple(policies)
    return {
        point: Layers(
            floor=Index(each for each in held if each.is_floor and each.speaks_at(point)),
            namespace=Index(each for each in held if not each.is_floor and each.speaks_at(point)),
        )
        for point in Point
    }
