"""What the relay counts. Every label set is there at 0 from the start: a counter born at 1 fires no alert."""

from collections.abc import Iterable, Mapping

from prometheus_client import Counter, Gauge, Histogram

from memwarden_relay.commands import Verb
from memwarden_relay.ledger import Waiting
from memwarden_relay.model import Kind
from memwarden_relay.outcomes import Next
from memwarden_relay.plan import Outcome

REFUSALS = ("NotJSON", "TooDeep", "NotAnObject", "NoAlerts", "TooLarge", "unauthorized", "unavailable")
ROOM_TROUBLES = ("not_joined", "forbidden", "encrypted", "tombstoned", "unanswered", "unchecked")
COMMAND_OUTCOMES = ("done", "refused", "nothing", "failed")
LOOK_BACKS = ("found", "absent", "uncertain")
SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600)

NOTIFICATIONS = Counter("memwarden_relay_notifications_total", "Notifications judged, a room each", ["room", "outcome"])
REFUSED = Counter("memwarden_relay_refused_total", "Webhooks not taken", ["reason"])
DELIVERIES = Counter(
    "memwarden_relay_deliveries_total", "Attempts to deliver, by what came of them", ["room", "kind", "outcome"]
)
LIMITED_SECONDS = Counter("memwarden_relay_limited_seconds_total", "Seconds the homeserver asked to be left alone")
LOOKED_BACK = Counter("memwarden_relay_look_backs_total", "Looks through a room after an unclear attempt", ["outcome"])
COMMANDS = Counter("memwarden_relay_commands_total", "Commands and reactions of people", ["verb", "outcome"])
REMINDERS = Counter("memwarden_relay_reminders_total", "Reminders of critical alerts that nobody acknowledged")
REDACTED = Counter("memwarden_relay_redacted_values_total", "Values that were changed by redaction")
DELIVERY_SECONDS = Histogram(
    "memwarden_relay_delivery_seconds", "From the webhook to the event in the room", ["kind"], buckets=SECONDS
)
INTAKE_SECONDS = Histogram(
    "memwarden_relay_intake_seconds", "From the webhook to its commit", buckets=(0.01, 0.05, 0.1, 0.5, 1, 5)
)
PENDING = Gauge("memwarden_relay_pending_deliveries", "Deliveries that wait", ["room"])
OLDEST = Gauge(
    "memwarden_relay_oldest_pending_timestamp_seconds",
    "When the oldest that waits was queued; 0: nothing waits",
    ["room"],
)
OLDEST_AGE = Gauge("memwarden_relay_oldest_pending_seconds", "How long the oldest has waited", ["room"])
DEAD = Gauge("memwarden_relay_dead_letters", "Deliveries given up, until a person decides", ["room"])
ROOM_TROUBLE = Gauge(
    "memwarden_relay_room_trouble", "1: the room cannot be written to, for this reason", ["room", "reason"]
)
READY = Gauge("memwarden_relay_ready", "1: everything that comes in also goes out")
TOKEN_VALID = Gauge("memwarden_relay_token_valid", "1: the homeserver takes the token")
UNACKNOWLEDGED = Gauge(
    "memwarden_relay_unacknowledged_critical", "Open critical groups that nobody acknowledged", ["room"]
)
OPEN = Gauge("memwarden_relay_open_groups", "Groups that fire", ["room"])
HEARTBEAT = Gauge(
    "memwarden_relay_watchdog_timestamp_seconds", "When Alertmanager's heartbeat was last heard; 0: never"
)
SYNCED = Gauge("memwarden_relay_sync_timestamp_seconds", "When the room was last listened to with success")


def start(rooms: Iterable[str]) -> None:
    """Make every label set at 0."""
    for room in rooms:
        _start_room(room)
    for reason in REFUSALS:
        REFUSED.labels(reason)
    for verb in Verb:
        for outcome in COMMAND_OUTCOMES:
            COMMANDS.labels(verb.value, outcome)
    for outcome in LOOK_BACKS:
        LOOKED_BACK.labels(outcome)
    for kind in Kind:
        DELIVERY_SECONDS.labels(kind.value)


def _start_room(room: str) -> None:
    for outcome in Outcome:
        NOTIFICATIONS.labels(room, outcome.value)
    for kind in Kind:
        for what in Next:
            DELIVERIES.labels(room, kind.value, what.value)
    for gauge in (PENDING, OLDEST, OLDEST_AGE, DEAD, UNACKNOWLEDGED, OPEN):
        gauge.labels(room)
    for reason in ROOM_TROUBLES:
        ROOM_TROUBLE.labels(room, reason)


def show_queue(rooms: Iterable[str], standing: Mapping[str, Waiting], now: float) -> None:
    """Set the gauges of the queue."""
    for room in rooms:
        known = standing.get(room, Waiting(pending=0, oldest_at=0.0, dead=0))
        PENDING.labels(room).set(known.pending)
        OLDEST.labels(room).set(known.oldest_at)
        OLDEST_AGE.labels(room).set(max(0.0, now - known.oldest_at) if known.oldest_at else 0.0)
        DEAD.labels(room).set(known.dead)


def show_trouble(room: str, trouble: str) -> None:
    """Set what is wrong with a room; "" = nothing."""
    for reason in ROOM_TROUBLES:
        ROOM_TROUBLE.labels(room, reason).set(reason == trouble)
