"""Figures of the operator for Prometheus. Every label set is there from the start, at zero."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version

from prometheus_client import Counter, Gauge, Histogram, Info, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from memwarden_operator.reasons import Reason
from memwarden_policy.model import Kind

PREFIX = "memwarden_operator"
UNITS = ("Workspace", "StoreStatus", "Floor", "Impact")
STATES = ("ready", "not_ready")

RECONCILES = Counter(f"{PREFIX}_reconciles_total", "Units of work that were done", ["unit"])
RECONCILE_ERRORS = Counter(
    f"{PREFIX}_reconcile_errors_total", "Units of work that failed and are tried again", ["unit"]
)
RECONCILE_SECONDS = Histogram(f"{PREFIX}_reconcile_duration_seconds", "How long a unit of work took", ["unit"])
OFFERS = Counter(f"{PREFIX}_rulesets_offered_total", "Rulesets sent to services", ["result"])
STATUS_WRITES = Counter(f"{PREFIX}_status_writes_total", "Statuses written", ["result"])
DRIFT_MENDED = Counter(f"{PREFIX}_drift_mended_total", "Rulesets that were not as last seen, and are again", ["cause"])
SWEEPS = Counter(f"{PREFIX}_sweeps_total", "Full LISTs compared with the services", ["result"])
EVENTS_DROPPED = Counter(f"{PREFIX}_events_dropped_total", "Events of Kubernetes that were not written")
LAST_LIST = Gauge(f"{PREFIX}_last_list_timestamp_seconds", "When everything was last listed")
LAST_WATCH = Gauge(f"{PREFIX}_last_watch_event_timestamp_seconds", "When a watch last told something", ["kind"])
LEADER = Gauge(f"{PREFIX}_leader", "1 where this process holds the Lease")
QUEUE_DEPTH = Gauge(f"{PREFIX}_queue_depth", "Units of work that wait")
QUEUE_AGE = Gauge(f"{PREFIX}_queue_age_seconds", "How long the oldest unit of work that is due has waited")
BUILD = Info(f"{PREFIX}_build", "The version that runs")

OFFER_RESULTS = ("taken", Reason.SERVICE_UNAVAILABLE, Reason.SERVICE_REFUSED, Reason.FENCED_OUT)
WRITE_RESULTS = ("written", "conflict", "failed")
CAUSES = ("edited", "lost")


def set_up() -> None:
    """Give every label set its zero."""
    disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
    for unit in UNITS:
        for family in (RECONCILES, RECONCILE_ERRORS, RECONCILE_SECONDS):
            family.labels(unit)
    rows: Iterable[tuple[Counter, Iterable[str]]] = (
        (OFFERS, OFFER_RESULTS),
        (STATUS_WRITES, WRITE_RESULTS),
        (DRIFT_MENDED, CAUSES),
        (SWEEPS, ("done", "failed")),
    )
    for counter, values in rows:
        for value in values:
            counter.labels(value)
    for kind in Kind:
        LAST_WATCH.labels(kind)
    LEADER.set(0)
    BUILD.info({"version": version("memwarden")})


class Objects(Collector):
    """Counts objects by kind and state when asked, from what was last written."""

    def __init__(self, ready: Callable[[], Mapping[tuple[str, str, str], bool]]) -> None:
        self._ready = ready

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Count."""
        family = GaugeMetricFamily(f"{PREFIX}_objects", "Objects by kind and state", labels=["kind", "state"])
        tally = Tally((name[0], STATES[not is_ready]) for name, is_ready in self._ready().items())
        for kind in Kind:
            for state in STATES:
                family.add_metric([kind, state], tally[kind, state])
        yield family
