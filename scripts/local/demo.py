"""Shows policies at work: a memory accepted, one held and confirmed by a person, one refused, and who sees nothing."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from local import folders, stack
from local.cluster import Cluster

SAMPLES = folders.REPOSITORY / "manifests/samples"
OURS = ("floor.yaml", "baseline.yaml", "customer-facts.yaml", "audit.yaml", "grants.yaml")
READY_TIMEOUT = "60s"
REQUEST_SECONDS = 10.0


class SurpriseError(RuntimeError):
    """The service did not answer as the policies say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What an agent wants remembered, and the answer the sample policies give."""

    says: str
    expect: int
    body: dict[str, Any]


DOMAIN = "customers/acme"
REVIEWER = "carol@desk.example.com"
REVIEWER_KEY = "carol-key"


def proposals(now: datetime) -> tuple[Proposal, ...]:
    """Return the three proposals. They name the moment: what is remembered already is answered as the first time."""
    return (
        Proposal(
            says="accepted: extracted with confidence 0.92, and the policy keeps what is above 0.7",
            expect=201,
            body={"content": f"Acme wants PDF, said at {now:%X}.", "source": "agent_extracted", "confidence": 0.92},
        ),
        Proposal(
            says="held for a person: confidence 0.55 is not enough",
            expect=202,
            body={"content": f"Acme may move, said at {now:%X}.", "source": "agent_extracted", "confidence": 0.55},
        ),
        Proposal(
            says="refused: the policy keeps no guesses of the category mood",
            expect=403,
            body={
                "content": f"The caller sounded tired at {now:%X}.",
                "source": "reasoning",
                "confidence": 0.9,
                "category": "mood",
            },
        ),
    )


def apply(api: Cluster) -> None:
    """Apply the samples and wait until each is in force."""
    api.kubectl("apply", "--server-side", "-f", SAMPLES / "namespaces.yaml")
    api.kubectl("apply", "--server-side", "-k", SAMPLES)
    files = [f"--filename={SAMPLES / name}" for name in OURS]
    api.kubectl("wait", "--for=condition=Ready", *files, f"--timeout={READY_TIMEOUT}")


def show(api: Cluster, port: int, folder: Path, *, is_first: bool) -> None:
    """Propose three memories as the agent of `support`, confirm one as a person, and look as the agent of `research`.

    Raises:
        SurpriseError: the first time, an answer was not what the samples say. Later they may have been edited.
    """
    support, research = _token(api, "support", "support-agent"), _token(api, "research", "research-agent")
    click.echo(f"\nThe agent support/support-agent proposes to remember in {DOMAIN}:")
    held = []
    for proposal in proposals(datetime.now().astimezone()):
        answered = _call(port, support, "POST", "/v1/memories", {"domain": DOMAIN, **proposal.body})
        answer = _expect(proposal.expect, answered) if is_first else answered[1]
        says = proposal.says if answered[0] == proposal.expect else answer.get("detail", "as your policies say now")
        click.echo(f'  {answered[0]}  "{proposal.body["content"]}"\n       {says}')
        held += [answer["id"]] if answered[0] == 202 else []
    key = _key_of_the_reviewer(api, port, folder)
    for candidate in held:
        _expect(200, _call(port, key, "POST", f"/v1/candidates/{candidate}/confirm", {}))
        click.echo(f"\n{REVIEWER}, whom a grant lets review, confirms what was held with a key of her own.")
    seen = {name: _count(port, token) for name, token in (("support", support), ("research", research))}
    click.echo(f"The agent of support reads {seen['support']}; the agent of research reads {seen['research']} of them.")
    if is_first and (not seen["support"] or seen["research"]):
        raise SurpriseError("The isolation of the two namespaces does not hold")


def _key_of_the_reviewer(api: Cluster, port: int, folder: Path) -> str:
    """Return the reviewer's key, made on first use. Only the store's side, here the operator, issues people's keys."""
    path = folder / REVIEWER_KEY
    if not path.exists():
        uid = api.kubectl("get", "memorystore", stack.STORE, "-n", stack.NAMESPACE, "-o", "jsonpath={.metadata.uid}")
        operator = _token(api, stack.NAMESPACE, stack.OPERATOR, audience=f"memwarden:{uid}")
        body = {"name": f"carol-{datetime.now().astimezone():%Y%m%d%H%M%S}", "user": REVIEWER}
        answer = _expect(201, _call(port, operator, "POST", "/admin/v1/workspaces/support/api-keys", body))
        path.touch(mode=0o600)
        path.write_text(answer["key"])
    return path.read_text()


def _expect(status: int, answered: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    if answered[0] != status:
        raise SurpriseError(f"Expected {status}, got {answered[0]}: {json.dumps(answered[1])}")
    return answered[1]


def _count(port: int, token: str) -> int:
    return len(_expect(200, _call(port, token, "GET", "/v1/memories", None))["memories"])


def _token(api: Cluster, namespace: str, account: str, audience: str = "memwarden") -> str:
    return api.kubectl("create", "token", account, "-n", namespace, "--audience", audience).strip()


def _call(port: int, token: str, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, dict[str, Any]]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")
