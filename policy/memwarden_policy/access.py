"""What a caller may do: roles, access to domains, sources it may claim, people it may act for."""

from dataclasses import dataclass
from datetime import datetime

from memwarden_policy.globs import Glob, any_matches
from memwarden_policy.grants import NEVER_CLAIMED, Grant, subjects_of
from memwarden_policy.model import Access, ActorKind, Caller, Reads, SourceKind, SubjectKind
from memwarden_policy.ruleset import Ruleset


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """The rights of one caller at one moment."""

    roles: frozenset[str]
    may_claim: frozenset[SourceKind]
    on_behalf_of: tuple[Glob, ...]
    reads_openly: bool
    granted: tuple[tuple[Glob, Access], ...]

    def access(self, domain: str) -> Access:
        """Return what the caller may do in a domain. A grant of None overrides all others, however specific."""
        found = {access for glob, access in self.granted if glob.matches(domain)}
        if Access.NONE in found:
            return Access.NONE
        if self.reads_openly:
            found.add(Access.READ)
        return max(found, default=Access.NONE)

    def everything(self, at_least: Access) -> bool:
        """Say whether every possible domain is covered: the whole is granted, and nothing is taken away."""
        if any(access is Access.NONE for _, access in self.granted):
            return False
        if self.reads_openly and at_least <= Access.READ:
            return True
        return any(glob.is_everything and access >= at_least for glob, access in self.granted)

    def prefixes(self, at_least: Access) -> tuple[str, ...]:
        """Return what every domain covered is or is inside of, as whole segments; an empty text: anything may be."""
        if self.reads_openly and at_least <= Access.READ:
            return ("",)
        covering = (glob for glob, access in self.granted if access >= max(at_least, Access.READ))
        return tuple(sorted({glob.literal_prefix for glob in covering}))

    @property
    def has_any(self) -> bool:
        """Say whether anything is granted at all: a stranger is told that the workspace does not exist."""
        granted = any(access > Access.NONE for _, access in self.granted)
        return granted or self.reads_openly or bool(self.roles)

    def may_act_for(self, person: str) -> bool:
        """Say whether a grant lets the caller act on behalf of the person."""
        return any_matches(self.on_behalf_of, person)


def rights(ruleset: Ruleset, caller: Caller, now: datetime) -> Rights:
    """Return the rights of the caller at this moment: its own, and those of the roles it holds."""
    own = tuple(ruleset.grants.live(subjects_of(caller), now))
    held = sorted({grant.role for grant in own if grant.role is not None})
    through_roles = ruleset.grants.live(((SubjectKind.ROLE, role) for role in held), now)
    grants = {grant.name: grant for grant in (*own, *through_roles)}
    claims = frozenset[SourceKind]().union(*(grant.claims for grant in grants.values()))
    return Rights(
        roles=frozenset(held),
        may_claim=claims - NEVER_CLAIMED,
        on_behalf_of=tuple(glob for grant in grants.values() for glob in grant.on_behalf_of),
        reads_openly=ruleset.store.reads is Reads.OPEN and _belongs(ruleset, caller),
        granted=tuple(pair for grant in grants.values() for pair in _granted(grant)),
    )


def _granted(grant: Grant) -> list[tuple[Glob, Access]]:
    return [(glob, grant.access) for glob in grant.domains] if grant.access is not None else []


def _belongs(ruleset: Ruleset, caller: Caller) -> bool:
    """Say whether the actor is of this workspace: its own ServiceAccounts, and keys, which are made in a workspace."""
    if caller.actor_kind is ActorKind.API_KEY:
        return True
    return caller.actor_name.startswith(f"{ruleset.workspace}/")
