"""A compiled ruleset: all policies, grants and defaults of a workspace, ready to be asked."""

from dataclasses import dataclass

from memwarden_policy.grants import Grants
from memwarden_policy.model import StoreDefaults
from memwarden_policy.selection import Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What is in force in one workspace. Only `compile` makes one."""

    workspace: str
    store: StoreDefaults
    floor: Index
    policies: Index
    grants: Grants
