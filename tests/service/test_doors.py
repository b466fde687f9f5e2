"""Every route, as nobody, as somebody else, and with the ids of another workspace."""

import base64
import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc import jwt
from joserfc.jwk import RSAKey

from serving import stack
from serving.sweep import DOORS, body_of

PUBLIC = [door for door in DOORS if not door.is_admin]
ADMIN = [door for door in DOORS if door.is_admin]


def call(client, door, **ids):
    return client.request(door.method, door.at(**ids), json=body_of(door))


def forged(claims: dict, **header) -> str:
    key = RSAKey.import_key(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    return jwt.encode({"alg": "RS256", "kid": "nobody", **header}, claims, key)


def unsigned(claims: dict, algorithm: str) -> str:
    parts = ({"alg": algorithm, "kid": "x"}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, ""])


@pytest.fixture(scope="module")
def bad_credentials(cluster):
    good = cluster.token("support", "agent")
    claims = stack.claims(good)
    kid = json.loads(base64.urlsafe_b64decode(good.split(".")[0] + "=="))["kid"]
    altered = good[:-8] + ("AAAAAAAA" if not good.endswith("AAAAAAAA") else "BBBBBBBB")
    return {
        "none": None,
        "empty": "",
        "no token": "x",
        "three dots": "a.b.c",
        "another audience": cluster.token("support", "agent", "somebody-else"),
        "the API server's audience": cluster.token("support", "agent", "https://kubernetes.default.svc"),
        "altered": altered,
        "forged": forged(claims),
        "forged with a known key id": forged(claims, kid=kid),
        "key in the header": forged(claims, jwk={"kty": "RSA", "n": "AQAB", "e": "AQAB"}, kid=kid),
        "no algorithm": unsigned(claims, "none"),
        "another algorithm": unsigned(claims, "HS256"),
        "very long": "a" * 9_000,
        "unknown key": "mwk_AAAAAAAAAA_" + "A" * 43 + "AAAAAA",
    }


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_bad_credential_opens_no_door(service, support, bad_credentials, door):
    for name, credential in bad_credentials.items():
        with service.client(credential) as client:
            answer = call(client, door)
        assert answer.status_code == 401, (name, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"] == "urn:memwarden:problem:unauthenticated"


@pytest.mark.parametrize("door", PUBLIC, ids=lambda door: door.name)
def test_the_operators_token_is_no_key_to_memories(service, operator, door):
    with service.client(operator.client.headers["authorization"].removeprefix("Bearer ")) as client:
        assert call(client, door).status_code == 401


@pytest.mark.parametrize("door", ADMIN, ids=lambda door: door.name)
def test_only_the_operator_administers(service, cluster, support, door):
    audience = f"memwarden:{stack.STORE_UID}"
    with service.client(cluster.token("support", "agent", audience)) as client:
        assert call(client, door, namespace="support").status_code == 403
    with service.client(cluster.token("memwarden-system", "memwarden-operator", "memwarden:another-store")) as client:
        assert call(client, door, namespace="support").status_code == 401


def test_two_authorization_headers_are_none(service, cluster):
    token = cluster.token("support", "agent")
    pairs = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]
    with service.client() as client:
        assert client.get("/v1/whoami", headers=pairs).status_code == 401


def test_ten_thousand_unknown_keys_do_not_lock_out_the_others(service, cluster, support):
    claims = stack.claims(cluster.token("support", "agent"))
    key = RSAKey.import_key(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    with service.client() as client:
        for index in range(200):
            token = jwt.encode({"alg": "RS256", "kid": f"k{index}"}, claims, key)
            assert client.get("/v1/whoami", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert support.get("/v1/whoami").status_code == 200


def test_an_account_that_is_gone_is_refused_within_a_minute(service, cluster, operator):
    operator.put("gone", [stack.grant("g", [stack.account("agent")], access="Read")])
    token = cluster.token("gone", "agent")
    cluster.plane.kubectl("delete", "serviceaccount", "agent", "-n", "gone")
    with service.client(token) as client:  # Never seen before: the API server is asked at once.
        assert client.get("/v1/whoami").status_code == 401


@pytest.fixture(scope="module")
def strangers(service, operator, cluster):
    """Two workspaces that know nothing of each other, and an administrator of each."""
    made = {}
    for name in ("left", "right"):
        rules = [
            stack.grant("agents", [stack.account("agent")], access="Write"),
            stack.grant("admins", [stack.user(f"{name}-admin")], access="Admin"),
            stack.policy("sure", "Accept", "candidate.confidence > 0.7"),
        ]
        operator.put(name, rules)
        agent = service.client(cluster.token(name, "agent"))
        admin = service.client(operator.key(name, f"{name}-admin", f"{name}-admin"))
        ids = {
            "memory_id": agent.post("/v1/memories", json=stack.proposal("In force.", confidence=0.9)).json()["id"],
            "candidate_id": agent.post("/v1/memories", json=stack.proposal("Held.", confidence=0.1)).json()["id"],
            "decision_id": agent.post("/v1/memories", json=stack.proposal("Why.", confidence=0.9)).json()["decision"],
            "key_id": admin.post("/v1/api-keys", json={"name": "k"}).json()["id"],
        }
        made[name] = {"agent": agent, "admin": admin, "ids": ids}
    yield made
    for each in made.values():
        each["agent"].close()
        each["admin"].close()


def masked(answer):
    body = answer.json()
    body.pop("request_id")
    return answer.status_code, body


@pytest.mark.parametrize("door", [door for door in PUBLIC if door.ids], ids=lambda door: door.name)
@pytest.mark.parametrize("who", ["agent", "admin"])
def test_anothers_id_is_answered_like_one_that_is_none(strangers, door, who):
    client, theirs = strangers["left"][who], strangers["right"]["ids"]
    foreign, random = call(client, door, **theirs), call(client, door)
    assert masked(foreign) == masked(random)
    assert foreign.status_code in (403, 404)
    assert set(foreign.headers) == set(random.headers)


@pytest.mark.parametrize("door", PUBLIC, ids=lambda door: door.name)
@pytest.mark.parametrize("who", ["agent", "admin"])
def test_another_workspace_is_answered_like_one_that_is_none(strangers, door, who):
    client = strangers["left"][who]
    answers = [
        client.request(
            door.method, door.at(**strangers["right"]["ids"]), json=body_of(door), headers={"Memwarden-Workspace": name}
        )
        for name in ("right", "nowhere", "NOT-A-NAME")
    ]
    if (
        door.name.endswith(("/confirm", "/reject", "/edit", "/bulk", "/feedback", "/hold", "/settings"))
        and who == "agent"
    ):
        assert {answer.status_code for answer in answers} <= {403, 404}
        return
    assert {answer.status_code for answer in answers} == {404}
    assert masked(answers[0]) == masked(answers[1]) == masked(answers[2])


def test_a_key_of_another_workspace_means_nothing_here(strangers, operator, service):
    """A key's name is known in its own workspace alone, whatever grants of another say."""
    operator.put(
        "right-open", [stack.grant("k", [{"kind": "APIKey", "name": "nightly"}], access="Admin")], reads="Open"
    )
    operator.key("right-open", "nightly")
    foreign = operator.key("left", "nightly")
    theirs = operator.key("left", "nightly-of-a-person", "zoe")
    for key in (foreign, theirs):
        with service.client(key, **{"Memwarden-Workspace": "right-open"}) as client:
            assert client.get("/v1/memories").status_code == 404


def test_how_long_a_refusal_takes_tells_nothing(strangers):
    """Absent and foreign ids take as long: medians of paired calls, far within the noise of a shared machine."""
    client, foreign = strangers["left"]["agent"], strangers["right"]["ids"]["memory_id"]
    seconds = {"foreign": [], "absent": []}
    absent = "00000000-0000-7000-8000-000000000000"
    for _ in range(150):
        for name, wanted in (("foreign", foreign), ("absent", absent)):
            began = time.perf_counter()
            client.get(f"/v1/memories/{wanted}")
            seconds[name].append(time.perf_counter() - began)
    medians = [sorted(each)[len(each) // 2] for each in seconds.values()]
    assert max(medians) / min(medians) < 1.25
