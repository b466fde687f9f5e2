"""What a subject may do in a workspace at one revision: computed from the rules, without the database."""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from memwarden_policy.access import Rights, rights
from memwarden_policy.model import Access, Caller
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.rulesets import InForce

NOBODY = ""
LEVELS = (Access.READ, Access.WRITE, Access.ADMIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who calls, and where they want to be."""

    caller: Caller
    workspace: str
    is_at_home: bool  # False: the workspace is another than the credential's own.
    on_behalf_of: str | None = None  # None: nobody was named.
    made_by: str | None = None  # The person who made the key; None: nobody, or it is no key.
    is_unreviewed: bool = False  # True: the API server could not be asked whether the token still holds.


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What a subject may do in a workspace, at one revision."""

    subject: Subject
    workspace_id: UUID
    in_force: InForce
    rights: Rights
    caller: Caller
    now: datetime


def picture_of(workspace: UUID, in_force: InForce, subject: Subject) -> Picture:
    """Return what the subject may do; raises ProblemError when the workspace is not theirs to know about."""
    now = datetime.now(UTC)
    held, caller = _rights(in_force, subject, now)
    return Picture(subject=subject, workspace_id=workspace, in_force=in_force, rights=held, caller=caller, now=now)


def settings_in(picture: Picture, domain: str) -> dict[str, str]:
    """Return the settings of a transaction that touches one domain."""
    one = "{" + str(domain_id(picture.workspace_id, domain)) + "}"
    access = picture.rights.access(domain)
    spans = {each: one if access >= each else NOBODY for each in LEVELS}
    return settings_for(picture.caller, {**spans, Access.ADMIN: one if may_review(picture, domain) else NOBODY})


def settings_for(caller: Caller, spans: dict[Access, str]) -> dict[str, str]:
    """Return the settings that row-level security reads. Only a person administers."""
    person = caller.principal if caller.is_person else None
    return {
        "principal": caller.principal or NOBODY,
        "person": person or NOBODY,
        "readable": spans[Access.READ],
        "writable": spans[Access.WRITE],
        "administered": spans[Access.ADMIN] if person else NOBODY,
    }


def reviewing_roles(picture: Picture) -> list[str] | None:
    """Return the roles by which the caller may be asked to confirm; None: nobody asks an agent."""
    return sorted(picture.rights.roles) if picture.caller.is_person else None


def may_review(picture: Picture, domain: str) -> bool:
    """Say whether the caller is a person who sees what waits in a domain: its Admin, or who owns it."""
    if not picture.caller.is_person:
        return False
    known = picture.in_force.ruleset.domain_of(domain)
    is_owner = known is not None and known.owner is not None and known.owner == picture.caller.principal
    return is_owner or picture.rights.access(domain) >= Access.ADMIN


def owned_prefixes(picture: Picture) -> tuple[str, ...]:
    """Return what the domains that the caller owns begin with; none for an agent."""
    if not picture.caller.is_person:
        return ()
    owned = [each for each in picture.in_force.ruleset.domains if each.owner == picture.caller.principal]
    return tuple(sorted({each.glob.literal_prefix for each in owned}))


def domain_id(workspace: UUID, name: str) -> UUID:
    """Return the id of a domain: it follows from workspace and name, so that nothing must be looked up."""
    return uuid5(workspace, name)


def _rights(in_force: InForce, subject: Subject, now: datetime) -> tuple[Rights, Caller]:
    caller = subject.caller
    held = _rights_of(in_force, caller, subject, now)
    if not subject.is_at_home and not (held.has_any or held.on_behalf_of):
        raise hidden()
    if subject.on_behalf_of is None:
        return held, caller
    if not held.may_act_for(subject.on_behalf_of):
        raise ProblemError(Kind.FORBIDDEN, "no grant lets this caller act on behalf of that person")
    caller = dataclasses.replace(caller, principal=subject.on_behalf_of)
    return _rights_of(in_force, caller, subject, now), caller


def _rights_of(in_force: InForce, caller: Caller, subject: Subject, now: datetime) -> Rights:
    held = rights(in_force.ruleset, caller, now)
    # Open reads are for those at home: a key of another workspace has to be granted what it reads.
    return held if subject.is_at_home else dataclasses.replace(held, reads_openly=False)
