"""Who may confirm what waits, and whether enough of them have."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memwarden_policy.demands import Approver, By, Confirmation


class Objection(StrEnum):
    """Why a person's yes does not count."""

    NOT_AUTHORISED = "NotAuthorised"
    OWN_PROPOSAL = "OwnProposal"
    ALREADY_APPROVED = "AlreadyApproved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who says yes with a credential of their own."""

    name: str
    actor: str  # Of the credential, such as `APIKey:alice-laptop`.
    roles: frozenset[str] = frozenset()
    is_admin: bool = False  # True: an Admin of the domain.


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What waits: whose it is, and who proposed it."""

    proposed_by: str  # The actor.
    proposed_for: str | None = None  # The principal; None: the actor spoke for itself.
    proposed_by_person: bool = False  # True: the principal proposed it with a credential of their own.
    owner: str | None = None  # None: it is shared.
    about: str | None = None  # None: it is about nobody in particular.
    domain_owner: str | None = None  # None: no MemoryDomain names one.

    def is_owned_by(self, person: str) -> bool:
        """Say whether it belongs to or is about this person; what concerns nobody is the domain's owner's."""
        concerned = {each for each in (self.owner, self.about) if each is not None}
        return person in concerned if concerned else person == self.domain_owner


def objection(needed: Confirmation, held: Held, person: Person, given: Sequence[Person] = ()) -> Objection | None:
    """Say why this person's yes does not count; None: it does. `given` are those who said yes before."""
    if not _may(needed, held, person):
        return Objection.NOT_AUTHORISED
    is_proposer = held.proposed_by_person and held.proposed_for == person.name
    if person.actor == held.proposed_by or is_proposer:
        return Objection.OWN_PROPOSAL
    if any(each.name == person.name for each in given):
        return Objection.ALREADY_APPROVED
    return None


def missing(needed: Confirmation, held: Held, given: Sequence[Person]) -> tuple[str, ...]:
    """Return in words what is still needed beside those who said yes; empty: it is confirmed."""
    people = {person.name: person for person in given}.values()
    lacking = [approver.shown for approver in needed.by if not any(_meets(approver, held, each) for each in people)]
    if not lacking and len(people) < needed.people:
        lacking = ["another person"] if people else ["a person"] * (needed.people > 0)
    return tuple(lacking)


def _may(needed: Confirmation, held: Held, person: Person) -> bool:
    if not needed.by:
        return person.is_admin or held.is_owned_by(person.name)
    return any(_meets(approver, held, person) for approver in needed.by) or (needed.people > 1 and person.is_admin)


def _meets(approver: Approver, held: Held, person: Person) -> bool:
    match approver.kind:
        case By.OWNER:
            return held.is_owned_by(person.name)
        case By.ROLE:
            return approver.role in person.roles
        case By.ADMIN:
            return person.is_admin
