"""Tokens when the API server rotates its keys, is away, or changes its word; keys and their checksums."""

import asyncio
import time

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from memwarden_service import keys, tokens
from memwarden_service.cluster import Cluster, ClusterUnavailableError, Review
from memwarden_service.tokens import Tokens

ISSUER, AUDIENCE = "https://kubernetes.default.svc", "memwarden"
SUBJECT = "system:serviceaccount:support:agent"


class ApiServer(Cluster):
    """The two documents and the review, given by the test instead of by HTTP; all else is the real thing."""

    def __init__(self):
        super().__init__(None)
        self.signing = [RSAKey.generate_key(2048, {"kid": "one", "alg": "RS256"})]
        self.is_away = False
        self.word = Review(authenticated=True, username=SUBJECT, groups=frozenset())
        self.calls = {"keys": 0, "review": 0}

    async def _keys_document(self):
        self.calls["keys"] += 1
        if self.is_away:
            raise ClusterUnavailableError("away")
        return {"keys": [key.as_dict(private=False) for key in self.signing]}

    async def _discovery_document(self):
        return {"issuer": ISSUER}

    async def review(self, token, audience):
        self.calls["review"] += 1
        if self.is_away:
            raise ClusterUnavailableError("away")
        return self.word

    def token(self, *, key=None, header=None, **claims):
        now = int(time.time())
        whole = {"iss": ISSUER, "aud": [AUDIENCE], "sub": SUBJECT, "iat": now, "nbf": now, "exp": now + 600, **claims}
        key = key or self.signing[0]
        algorithm = "ES256" if isinstance(key, ECKey) else "RS256"
        kept = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode({"alg": algorithm, "kid": key.kid, **(header or {})}, kept, key)


@pytest.fixture
def server():
    return ApiServer()


def account(server, token, made=None):
    return asyncio.run((made or Tokens(server)).account(token, AUDIENCE))


@pytest.mark.parametrize(
    ("claims", "is_taken"),
    [
        ({}, True),
        ({"aud": AUDIENCE}, True),
        ({"aud": ["other", AUDIENCE]}, True),
        ({"aud": "memwarden-not"}, False),
        ({"aud": None}, False),
        ({"iss": "https://elsewhere"}, False),
        ({"iss": None}, False),
        ({"exp": -300}, False),
        ({"exp": None}, False),
        ({"nbf": +300}, False),
        ({"iat": None}, False),
        ({"sub": None}, False),
        ({"sub": "alice"}, False),
        ({"sub": "system:serviceaccount:support"}, False),
        ({"sub": "system:serviceaccount:a:b:c"}, False),
        ({"sub": "system:serviceaccount:support:other"}, False),
        ({"exp": "never"}, False),
    ],
)
def test_claims_are_held_to(server, claims, is_taken):
    """A number is so many seconds from now."""
    claims = {name: int(time.time()) + each if isinstance(each, int) else each for name, each in claims.items()}
    assert (account(server, server.token(**claims)) is not None) == is_taken


def test_an_unknown_critical_header_is_refused(server):
    with pytest.raises(Exception, match=r".*"):  # The library does not sign it either.
        account(server, server.token(header={"crit": ["x"], "x": 1}))


def test_an_elliptic_key_is_taken_and_a_public_key_is_no_secret(server):
    server.signing.append(ECKey.generate_key("P-256", {"kid": "two"}))
    assert account(server, server.token(key=server.signing[1])) is not None


def test_a_rotated_key_is_fetched_but_not_at_every_unknown_id(server, monkeypatch):
    made = Tokens(server)
    assert account(server, server.token(), made) is not None
    server.signing.insert(0, RSAKey.generate_key(2048, {"kid": "new", "alg": "RS256"}))
    fresh = server.token()
    assert account(server, fresh, made) is None  # Not before the half minute is over.
    assert server.calls["keys"] == 1
    monkeypatch.setattr(server, "_asked_at", time.monotonic() - 31)
    assert account(server, fresh, made) is not None
    assert server.calls["keys"] == 2


def test_a_failed_refresh_keeps_the_old_keys(server, monkeypatch):
    made = Tokens(server)
    good = server.token()
    assert account(server, good, made) is not None
    stranger = RSAKey.generate_key(2048, {"kid": "stranger"})
    monkeypatch.setattr(server, "_asked_at", time.monotonic() - 31)
    server.is_away = True
    for _ in range(50):
        assert account(server, server.token(key=stranger), made) is None
    assert server.calls["keys"] == 2
    assert account(server, good, made) is not None


def test_a_review_is_remembered_for_a_minute_at_most(server, monkeypatch):
    made, token = Tokens(server), server.token()
    for _ in range(5):
        assert account(server, token, made) is not None
    assert server.calls["review"] == 1
    server.word = Review(authenticated=False, username="", groups=frozenset())
    later = time.time() + tokens.REVIEW_SECONDS + 1
    monkeypatch.setattr(tokens.time, "time", lambda: later)
    assert account(server, token, made) is None


def test_without_the_api_server_only_a_short_token_is_taken_and_marked(server):
    made = Tokens(server)
    account(server, server.token(), made)
    server.is_away = True
    short, long = server.token(jti="short"), server.token(exp=int(time.time()) + 3600)
    assert account(server, short, made).is_reviewed is False
    with pytest.raises(ClusterUnavailableError):
        account(server, long, made)


def test_what_is_remembered_is_bounded(server, monkeypatch):
    monkeypatch.setattr(tokens, "REMEMBERED_MAX", 3)
    made = Tokens(server)
    for index in range(6):
        account(server, server.token(jti=str(index)), made)
    assert len(made._remembered) == 3


def test_a_key_is_recognised_and_a_mistyped_one_is_not():
    key = keys.make()
    assert keys.parse(key.text) == key
    assert keys.is_right(key, key.hash)
    assert not keys.is_right(key, keys.make().hash)
    assert not keys.is_right(key, None)
    for index in range(len(key.text)):
        other = "a" if key.text[index] != "a" else "b"
        assert keys.parse(key.text[:index] + other + key.text[index + 1 :]) is None
    assert key.text not in repr(key)
