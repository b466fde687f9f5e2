"""Compiled grants: who gets which role, access and rights to claim, between which moments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memwarden_policy.globs import Glob
from memwarden_policy.model import Access, ActorKind, Caller, SourceKind, SubjectKind

CLAIMED_BY_DEFAULT: Final = frozenset(
    {SourceKind.AGENT_EXTRACTED, SourceKind.REASONING, SourceKind.TOOL_RESULT, SourceKind.RETRIEVAL}
)
NEVER_CLAIMED: Final = frozenset({SourceKind.USER_CONFIRMED, SourceKind.SYSTEM_RULE})

Subject = tuple[SubjectKind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One grant in force. Its parts are empty or None where it says nothing of them."""

    name: str
    subjects: tuple[Subject, ...]
    role: str | None = None
    domains: tuple[Glob, ...] = ()
    access: Access | None = None
    may_claim: frozenset[SourceKind] | None = None  # None: the default, where the grant lets write.
    on_behalf_of: tuple[Glob, ...] = ()
    not_before: datetime | None = None  # None: since ever.
    expires_at: datetime | None = None  # None: until revoked.

    def is_live(self, now: datetime) -> bool:
        """Say whether the grant holds at this moment; `expires_at` is the first moment it does not."""
        return (self.not_before is None or self.not_before <= now) and (
            self.expires_at is None or now < self.expires_at
        )

    @property
    def cost(self) -> int:
        """The most that asking this grant costs for one domain."""
        return sum(glob.cost for glob in self.domains)

    @property
    def claims(self) -> frozenset[SourceKind]:
        if self.may_claim is not None:
            return self.may_claim
        return CLAIMED_BY_DEFAULT if self.access is not None and self.access >= Access.WRITE else frozenset()


class Grants:
    """All grants of a workspace, under their subjects."""

    __slots__ = ("_by_subject",)

    def __init__(self, grants: Iterable[Grant]) -> None:
        self._by_subject: dict[Subject, list[Grant]] = {}
        for grant in grants:
            for subject in grant.subjects:
                self._by_subject.setdefault(subject, []).append(grant)

    def live(self, subjects: Iterable[Subject], now: datetime) -> Iterator[Grant]:
        """Return the grants to any of the subjects that hold now; one may come twice."""
        for subject in subjects:
            for grant in self._by_subject.get(subject, ()):
                if grant.is_live(now):
                    yield grant


def subjects_of(caller: Caller) -> Iterator[Subject]:
    """Return the subjects a grant may name this caller by, apart from its roles.

    An agent that acts for a person is not that person: grants to users reach only the person's own credential.
    """
    kind = SubjectKind.SERVICE_ACCOUNT if caller.actor_kind is ActorKind.SERVICE_ACCOUNT else SubjectKind.API_KEY
    yield (kind, caller.actor_name)
    if caller.is_person and caller.principal:
        yield (SubjectKind.USER, caller.principal)
    for group in sorted(caller.groups):
        yield (SubjectKind.GROUP, group)
