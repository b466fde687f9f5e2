"""Asks the system of record: bounded in time and size, following no redirect, holding no connection of the pool."""

import asyncio
import ssl
from functools import lru_cache

import httpx2

from memwarden_policy import bounds, records
from memwarden_policy.model import Candidate, RecordAnswer
from memwarden_policy.records import Said, Webhook
from memwarden_policy.truth import categories
from memwarden_service import metrics
from memwarden_service.picture import Picture

CONTEXTS_MAX = 64
ASKED_AT_ONCE_MAX = 32  # In one process; who comes later waits within the time that the answer may take.
UNASKED: Said = (RecordAnswer.NOT_ASKED, "")
_gate = asyncio.Semaphore(ASKED_AT_ONCE_MAX)


async def said(picture: Picture, candidate: Candidate) -> Said:
    """Return what the system of record of the candidate's domain says, where a policy needs to know it."""
    ruleset = picture.in_force.ruleset
    domain = ruleset.domain_of(candidate.domain) if ruleset.domains else None
    if domain is None or domain.record is None:
        return UNASKED
    if not categories(ruleset, candidate, picture.caller, picture.now):
        return UNASKED
    record = domain.record
    answer = await _ask(record, candidate) if isinstance(record, Webhook) else records.look_up(record, candidate)
    metrics.RECORD_ANSWERS.labels(answer[0].value).inc()
    return answer


async def _ask(webhook: Webhook, candidate: Candidate) -> Said:
    try:
        async with asyncio.timeout(webhook.timeout_seconds), _gate:
            status, body = await _post(webhook, candidate)
    except TimeoutError:
        return RecordAnswer.SILENT, f"it did not answer within {webhook.timeout_seconds} s"
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ssl.SSLError):
        return RecordAnswer.SILENT, "it cannot be reached"
    return records.answer(status, body)


async def _post(webhook: Webhook, candidate: Candidate) -> tuple[int, bytes]:
    body = bytearray()
    verify = _context(webhook.ca_bundle)
    async with (
        httpx2.AsyncClient(verify=verify, follow_redirects=False, trust_env=False, timeout=None) as client,
        client.stream("POST", webhook.url, json=records.question(candidate)) as answer,
    ):
        async for chunk in answer.aiter_bytes(bounds.RECORD_ANSWER_BYTES_MAX):
            body += chunk
            if len(body) > bounds.RECORD_ANSWER_BYTES_MAX:
                break
        return answer.status_code, bytes(body)


@lru_cache(maxsize=CONTEXTS_MAX)
def _context(ca_bundle: str) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=ca_bundle or None)
