"""Who calls, from one Authorization header and nothing else."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request

from memwarden_policy.bounds import PERSON_LENGTH_MAX
from memwarden_policy.model import ActorKind, Caller
from memwarden_service import keys, metrics
from memwarden_service.cluster import ClusterUnavailableError
from memwarden_service.database import Database, find_key
from memwarden_service.picture import Subject
from memwarden_service.problems import Kind, ProblemError, hidden
from memwarden_service.settings import AGENT_AUDIENCE, Settings
from memwarden_service.text import is_clean, normalised
from memwarden_service.tokens import Account, Tokens

CREDENTIAL_LENGTH_MAX = 8_192
HOW_TO_AUTHENTICATE = (
    "send `Authorization: Bearer` with a ServiceAccount's token for the audience memwarden, or with a key"
)
WORKSPACE_HEADER = "memwarden-workspace"
ON_BEHALF_OF_HEADER = "memwarden-on-behalf-of"
WORKSPACE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticator:
    """What is needed to know a caller."""

    settings: Settings
    database: Database
    tokens: Tokens

    async def subject(self, request: Request) -> Subject:
        """Return who calls the public API, and the workspace they want.

        Raises:
            ProblemError: no or no valid credential; a header that makes no sense; it cannot be judged now.
        """
        credential = _credential(request)
        if credential.startswith(keys.PREFIX):
            (home, caller, made_by), is_unreviewed = await self._by_key(credential), False
        else:
            account = await self._account(credential, AGENT_AUDIENCE)
            home, caller, made_by = account.namespace, _caller(account), None
            is_unreviewed = not account.is_reviewed
        workspace = _workspace(request) or home
        on_behalf_of = _person(request)
        if on_behalf_of is not None and caller.is_person:
            raise ProblemError(Kind.FORBIDDEN, "a person speaks for themselves")
        if workspace != home and caller.actor_kind is ActorKind.API_KEY:
            caller = _abroad(caller, home)
        return Subject(
            caller=caller,
            workspace=workspace,
            is_at_home=workspace == home,
            on_behalf_of=on_behalf_of,
            made_by=made_by,
            is_unreviewed=is_unreviewed,
        )

    async def operator(self, request: Request) -> str:
        """Return the operator's account; raises ProblemError for everybody else."""
        account = await self._account(_credential(request), self.settings.operator_audience)
        name = f"{account.namespace}/{account.name}"
        if name != self.settings.operator:
            raise ProblemError(Kind.FORBIDDEN, "this account is not the operator of this store")
        return f"{ActorKind.SERVICE_ACCOUNT}:{name}"

    async def _account(self, token: str, audience: str) -> Account:
        try:
            account = await self.tokens.account(token, audience)
        except ClusterUnavailableError as error:
            raise ProblemError(Kind.UNAVAILABLE, "the API server cannot be asked about this token now") from error
        if account is None:
            raise _refused("token")
        return account

    async def _by_key(self, credential: str) -> tuple[str, Caller, str | None]:
        key = keys.parse(credential)
        if key is None:
            raise _refused("key")
        row = await find_key(self.database, key.id)
        if not keys.is_right(key, bytes(row.hash) if row is not None else None) or row is None:
            raise _refused("key")
        if row.expires_at is not None and row.expires_at <= datetime.now(UTC):
            raise _refused("key")
        is_person = row.person is not None
        caller = Caller(actor_kind=ActorKind.API_KEY, actor_name=row.name, principal=row.person, is_person=is_person)
        return row.workspace, caller, row.maker


def _caller(account: Account) -> Caller:
    return Caller(
        actor_kind=ActorKind.SERVICE_ACCOUNT, actor_name=f"{account.namespace}/{account.name}", groups=account.groups
    )


def _abroad(caller: Caller, home: str) -> Caller:
    """Return the caller as another workspace knows them: a key's name means something in its own workspace alone."""
    if not caller.is_person:
        raise hidden()
    return Caller(
        actor_kind=caller.actor_kind,
        actor_name=f"{home}/{caller.actor_name}",
        principal=caller.principal,
        is_person=True,
    )


def _credential(request: Request) -> str:
    values = request.headers.getlist("authorization")
    if len(values) != 1:
        raise _refused("none")
    scheme, _, credential = values[0].partition(" ")
    if scheme.lower() != "bearer" or not credential or len(credential) > CREDENTIAL_LENGTH_MAX:
        raise _refused("none")
    if not credential.isascii():
        raise _refused("none")
    return credential


def _workspace(request: Request) -> str | None:
    name = _single(request, WORKSPACE_HEADER)
    if name is not None and not WORKSPACE_NAME.fullmatch(name):
        raise hidden()
    return name


def _person(request: Request) -> str | None:
    sent = _single(request, ON_BEHALF_OF_HEADER)
    if sent is None:
        return None
    # HTTP hands bytes on as Latin-1; people's names are UTF-8.
    name = normalised(sent.encode("latin-1").decode("utf-8", errors="surrogateescape"))
    if not (0 < len(name) <= PERSON_LENGTH_MAX and is_clean(name)):
        raise ProblemError(Kind.BAD_REQUEST, f"{ON_BEHALF_OF_HEADER} is not the name of a person")
    return name


def _single(request: Request, header: str) -> str | None:
    values = request.headers.getlist(header)
    if len(values) > 1:
        raise ProblemError(Kind.BAD_REQUEST, f"{header} is there more than once")
    return values[0] if values else None


def _refused(credential: str) -> ProblemError:
    metrics.REFUSED_CREDENTIALS.labels(credential).inc()
    return ProblemError(Kind.UNAUTHENTICATED, HOW_TO_AUTHENTICATE)
