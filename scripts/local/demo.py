"""Shows policies at work: one memory accepted, one held, one refused, and another namespace that sees nothing of it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

import click

from local import folders
from local.cluster import Cluster

SAMPLES = folders.REPOSITORY / "manifests/samples"
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
PROPOSALS = (
    Proposal(
        says="accepted: extracted with confidence 0.92, and the policy keeps what is above 0.7",
        expect=201,
        body={"content": "Acme wants invoices as PDF.", "source": "agent_extracted", "confidence": 0.92},
    ),
    Proposal(
        says="held for a person: confidence 0.55 is not enough",
        expect=202,
        body={"content": "Acme may be moving to another office.", "source": "agent_extracted", "confidence": 0.55},
    ),
    Proposal(
        says="refused: the policy keeps no guesses of the category mood",
        expect=403,
        body={"content": "The caller sounded tired.", "source": "reasoning", "confidence": 0.9, "category": "mood"},
    ),
)


def apply(api: Cluster) -> None:
    """Apply the samples and wait until each is in force."""
    api.kubectl("apply", "--server-side", "-f", SAMPLES / "namespaces.yaml")
    api.kubectl("apply", "--server-side", "-k", SAMPLES)
    for resource in ("memorypolicies", "memoryaccessgrants"):
        api.kubectl("wait", "--for=condition=Ready", resource, "--all", "-A", f"--timeout={READY_TIMEOUT}")


def show(api: Cluster, port: int) -> None:
    """Propose three memories as the agent of `support` and look for them as the agent of `research`.

    Raises:
        SurpriseError: an answer was not what the samples say.
    """
    support, research = _token(api, "support", "support-agent"), _token(api, "research", "research-agent")
    click.echo(f"\nThe agent support/support-agent proposes to remember in {DOMAIN}:")
    for proposal in PROPOSALS:
        status, answer = _call(port, support, "POST", "/v1/memories", {"domain": DOMAIN, **proposal.body})
        click.echo(f'  {status}  "{proposal.body["content"]}"\n       {proposal.says}')
        if status == 403 and answer.get("detail"):
            click.echo(f"       {answer['detail']}")
        if status != proposal.expect:
            raise SurpriseError(f"Expected {proposal.expect}, got {status}: {json.dumps(answer)}")
    seen = {name: _count(port, token) for name, token in (("support", support), ("research", research))}
    click.echo(
        f"\nThe agent of support reads {seen['support']}; the agent of research reads {seen['research']} of them."
    )
    if not seen["support"] or seen["research"]:
        raise SurpriseError("The isolation of the two namespaces does not hold")


def _count(port: int, token: str) -> int:
    status, answer = _call(port, token, "GET", "/v1/memories", None)
    if status != 200:
        raise SurpriseError(f"Reading answered {status}: {json.dumps(answer)}")
    return len(answer["memories"])


def _token(api: Cluster, namespace: str, account: str) -> str:
    return api.kubectl("create", "token", account, "-n", namespace, "--audience", "memwarden").strip()


def _call(port: int, token: str, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, dict[str, Any]]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")
