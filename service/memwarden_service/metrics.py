"""What the service counts and times. Every label set that can occur is there from the start, at 0."""

from collections.abc import Iterable

from prometheus_client import Counter, Gauge, Histogram

from memwarden_policy.model import Action, RecordAnswer
from memwarden_policy.redaction import Redaction
from memwarden_policy.screening import Screened
from memwarden_service import care

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")
CREDENTIALS = ("token", "key", "none")
UNROUTED = "unrouted"
ENDINGS = ("ttl", "lowConfidence", "rule", "delete_at", "valid_until")

REQUESTS = Counter("memwarden_requests_total", "Requests answered", ["route", "status"])
REQUEST_SECONDS = Histogram("memwarden_request_seconds", "Time to answer", ["route"], buckets=SECONDS)
DECISIONS = Counter("memwarden_decisions_total", "Proposals decided and recorded", ["action"])
REPEATS = Counter("memwarden_repeated_proposals_total", "Proposals that were there already")
REDACTIONS = Counter("memwarden_redactions_total", "Secrets cut out of recorded proposals", ["kind"])
SIGNALS = Counter("memwarden_screening_signals_total", "Worries about recorded proposals", ["signal"])
REVIEWS = Counter("memwarden_reviews_total", "Candidates reviewed by a person", ["outcome"])
RECORD_ANSWERS = Counter("memwarden_record_answers_total", "What systems of record answered", ["answer"])
EXPIRED = Counter("memwarden_expired_candidates_total", "Candidates that nobody answered in time")
ENDED = Counter("memwarden_ended_memories_total", "Memories that a retention or a term of their own ended", ["by"])
RETENTION_FAILURES = Counter(
    "memwarden_retention_failures_total", "Workspaces, or whole passes, in which keeping terms failed"
)
RETENTION_SUCCESS = Gauge("memwarden_retention_last_success_timestamp_seconds", "When terms were last kept everywhere")
RETENTION_LAG = Gauge("memwarden_retention_lag_seconds", "How long the first memory that ended waits to be deleted")
REFUSED_CREDENTIALS = Counter("memwarden_refused_credentials_total", "Credentials refused", ["credential"])
UNREVIEWED_TOKENS = Counter(
    "memwarden_unreviewed_tokens_total", "Short-lived tokens taken while the API server did not answer"
)
RULESET_PUTS = Counter("memwarden_ruleset_puts_total", "Rulesets put by the operator", ["outcome"])
COMPILE_SECONDS = Histogram("memwarden_ruleset_compile_seconds", "Time to compile a ruleset", buckets=SECONDS)
POOL_IN_USE = Gauge("memwarden_pool_connections_in_use", "Database connections in use")
POOL_MAX = Gauge("memwarden_pool_connections_max", "Database connections at most")


def start(routes: Iterable[str]) -> None:
    """Show every label set at 0, so that a rate over the first failure is no gap."""
    for route in (*routes, UNROUTED):
        REQUEST_SECONDS.labels(route)
        for status in STATUS_CLASSES:
            REQUESTS.labels(route, status)
    families: tuple[tuple[Counter, Iterable[str]], ...] = (
        (DECISIONS, (each.value for each in Action)),
        (REVIEWS, ("approved", "confirmed", "rejected")),
        (RECORD_ANSWERS, (each.value for each in RecordAnswer)),
        (RULESET_PUTS, ("changed", "unchanged", "stale")),
        (ENDED, ENDINGS),
        (REFUSED_CREDENTIALS, CREDENTIALS),
        (REDACTIONS, care.kinds()),
        (SIGNALS, care.signals()),
    )
    for family, values in families:
        for value in values:
            family.labels(value)


def cared(redactions: Iterable[Redaction], seen: Screened) -> None:
    """Count what was cut out of a proposal and what worried about it."""
    for each in redactions:
        REDACTIONS.labels(each.kind if each.kind in care.kinds() else care.OWN).inc(each.count)
    for signal in seen.signals:
        SIGNALS.labels(signal.kind.value).inc()
