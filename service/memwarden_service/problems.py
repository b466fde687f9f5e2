"""Every answer that is no success, in one table, as problem documents (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from typing import Any

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:memwarden:problem:"
RETRY_SECONDS = 1


class Kind(Enum):
    """What can be wrong: the name in the `type`, the status, the title."""

    BAD_REQUEST = ("bad-request", HTTPStatus.BAD_REQUEST, "The request is not well formed")
    UNAUTHENTICATED = ("unauthenticated", HTTPStatus.UNAUTHORIZED, "No or no valid credential")
    FORBIDDEN = ("forbidden", HTTPStatus.FORBIDDEN, "This caller may not do this")
    POLICY_REFUSED = ("policy-refused", HTTPStatus.FORBIDDEN, "A policy refuses this memory")
    PERSON_REQUIRED = ("person-required", HTTPStatus.FORBIDDEN, "This takes a person with a credential of their own")
    OWN_PROPOSAL = ("own-proposal", HTTPStatus.FORBIDDEN, "Who proposed a memory does not review it")
    NOT_FOUND = ("not-found", HTTPStatus.NOT_FOUND, "There is nothing here, or nothing for this caller")
    TOO_SLOW = ("too-slow", HTTPStatus.REQUEST_TIMEOUT, "The request did not come in time")
    METHOD_NOT_ALLOWED = ("method-not-allowed", HTTPStatus.METHOD_NOT_ALLOWED, "This address does not take this method")
    CONFLICT = ("conflict", HTTPStatus.CONFLICT, "This exists already")
    ON_HOLD = ("on-legal-hold", HTTPStatus.CONFLICT, "A legal hold keeps this memory")
    STALE_FENCE = ("stale-fence", HTTPStatus.CONFLICT, "A later operator, or a later request, has spoken already")
    IN_PROGRESS = ("in-progress", HTTPStatus.CONFLICT, "A request with this Idempotency-Key is still running")
    STALE_VERSION = ("stale-version", HTTPStatus.PRECONDITION_FAILED, "It has changed since it was read")
    TOO_LARGE = ("too-large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is larger than is taken")
    MEDIA_TYPE = ("unsupported-media-type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be application/json")
    INVALID = ("invalid", HTTPStatus.UNPROCESSABLE_ENTITY, "The request does not say what it should")
    KEY_REUSED = ("idempotency-key-reused", HTTPStatus.UNPROCESSABLE_ENTITY, "This Idempotency-Key had another request")
    HEAD_TOO_LARGE = (
        "head-too-large",
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        "Address and headers are larger than is taken",
    )
    BUG = ("internal", HTTPStatus.INTERNAL_SERVER_ERROR, "The service failed; the request id finds it in the log")
    UNAVAILABLE = ("unavailable", HTTPStatus.SERVICE_UNAVAILABLE, "Try again in a moment")

    def __init__(self, slug: str, status: HTTPStatus, title: str) -> None:
        self.slug, self.status, self.title = slug, status, title

    @property
    def uri(self) -> str:
        """The `type` of the problem document."""
        return TYPE_PREFIX + self.slug


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with the request. Never holds what the caller sent."""

    path: str
    reason: str
    message: str


@dataclass(eq=False)  # Not frozen: contextlib sets the traceback of an exception that passes through it.
class ProblemError(Exception):
    """A request that gets no success; rendered by `document`."""

    kind: Kind
    detail: str = ""
    faults: Sequence[Fault] = ()
    members: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def document(problem: ProblemError, request_id: str) -> dict[str, Any]:
    """Return the problem document. `detail` and `errors` are left out when there is nothing to say."""
    kind = problem.kind
    body: dict[str, Any] = {"type": kind.uri, "title": kind.title, "status": int(kind.status)}
    if problem.detail:
        body["detail"] = problem.detail
    if problem.faults:
        body["errors"] = [
            {"path": each.path, "reason": each.reason, "message": each.message} for each in problem.faults
        ]
    return {**body, **problem.members, "request_id": request_id}


def headers(problem: ProblemError) -> dict[str, str]:
    """Return the headers that go with the problem: when to try again, how to authenticate."""
    found = dict(problem.headers)
    if problem.kind in (Kind.UNAVAILABLE, Kind.IN_PROGRESS):
        found.setdefault("Retry-After", str(RETRY_SECONDS))
    if problem.kind is Kind.UNAUTHENTICATED:
        found["WWW-Authenticate"] = 'Bearer realm="memwarden"'
    return found


def hidden() -> ProblemError:
    """Return the one answer for what is not there and for what is not the caller's to know about."""
    return ProblemError(Kind.NOT_FOUND)
