"""ServiceAccount tokens: signature, audience and times by the API server's keys, then the API server's own word."""

import base64
import hashlib
import json
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError

from memwarden_service import metrics
from memwarden_service.cluster import Cluster, ClusterUnavailableError

ALGORITHMS = ["RS256", "ES256"]
LEEWAY_SECONDS = 30
REVIEW_SECONDS = 60.0
REMEMBERED_MAX = 10_000
HEADER_LENGTH_MAX = 2_048
# Without the API server's word, only a token that is soon over is taken.
UNREVIEWED_LIFE_SECONDS_MAX = 600
SUBJECT_PREFIX = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Account:
    """A ServiceAccount that has shown a token."""

    namespace: str
    name: str
    groups: frozenset[str]
    is_reviewed: bool  # False: the API server did not answer.


@dataclass(frozen=True, slots=True)
class _Remembered:
    account: Account
    until: float


class Tokens:
    """Verifies tokens, and remembers those that hold for a minute at most."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._remembered: OrderedDict[bytes, _Remembered] = OrderedDict()

    async def account(self, token: str, audience: str) -> Account | None:
        """Return whose token it is; None: it does not hold, for whatever reason.

        Raises:
            ClusterUnavailableError: it cannot be judged now.
        """
        digest = hashlib.sha256(f"{audience}\0{token}".encode()).digest()
        remembered = self._remembered.get(digest)
        if remembered is not None and time.time() < remembered.until:
            return remembered.account
        claims = await self._verified(token, audience)
        if claims is None:
            return None
        account = await self._reviewed(token, audience, claims)
        if account is not None and account.is_reviewed:
            self._remember(digest, account, min(time.time() + REVIEW_SECONDS, float(claims["exp"])))
        return account

    async def _verified(self, token: str, audience: str) -> dict[str, Any] | None:
        kid = _key_id(token)
        known = await self._cluster.signing_key(kid) if kid is not None else None
        if known is None:
            return None
        key, issuer = known
        wanted = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        )
        try:
            claims = jwt.decode(token, key, algorithms=ALGORITHMS).claims
            wanted.validate(claims)
        except (JoseError, ValueError, TypeError):
            return None
        return claims

    async def _reviewed(self, token: str, audience: str, claims: dict[str, Any]) -> Account | None:
        parts = str(claims["sub"]).removeprefix(SUBJECT_PREFIX).split(":")
        if not str(claims["sub"]).startswith(SUBJECT_PREFIX) or len(parts) != 2 or not all(parts):
            return None
        namespace, name = parts
        try:
            review = await self._cluster.review(token, audience)
        except ClusterUnavailableError:
            if claims["exp"] - claims["iat"] > UNREVIEWED_LIFE_SECONDS_MAX:
                raise
            metrics.UNREVIEWED_TOKENS.inc()
            groups = frozenset(
                ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
            )
            return Account(namespace, name, groups, is_reviewed=False)
        if not review.authenticated or review.username != claims["sub"]:
            return None
        return Account(namespace, name, review.groups, is_reviewed=True)

    def _remember(self, digest: bytes, account: Account, until: float) -> None:
        self._remembered[digest] = _Remembered(account, until)
        self._remembered.move_to_end(digest)
        while len(self._remembered) > REMEMBERED_MAX:
            self._remembered.popitem(last=False)


def _key_id(token: str) -> str | None:
    """Return the id of the key that the token says it was signed with; None: it is no token that we take."""
    header, _, rest = token.partition(".")
    if not header or len(header) > HEADER_LENGTH_MAX or rest.count(".") != 1:
        return None
    try:
        fields = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.get("alg") not in ALGORITHMS:
        return None
    kid = fields.get("kid")
    return kid if isinstance(kid, str) else None
