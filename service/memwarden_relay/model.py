"""What the relay speaks of: alerts, notifications, the group that one message shows, and what waits to be sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How bad it is; lower comes first."""

    CRITICAL = 1
    WARNING = 2
    INFO = 3
    NONE = 4


class Status(StrEnum):
    FIRING = "firing"
    RESOLVED = "resolved"


class Kind(StrEnum):
    """What a delivery is in the room."""

    ROOT = "root"  # The one message of a group.
    EDIT = "edit"  # The root as it should read now.
    NOTE = "note"  # A line of the history, in the thread.
    REACT = "react"  # A mark on the root.
    UNREACT = "unreact"  # The mark taken back.
    FILE = "file"  # What did not fit, as an attachment in the thread.
    ANSWER = "answer"  # To a person; in the thread of the root where there is one.
    NOTICE = "notice"  # The relay itself speaks; belongs to no group.


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert as Alertmanager told it; texts are sanitised and redacted."""

    status: Status
    fingerprint: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: str
    ends_at: str
    source_url: str = ""

    @property
    def name(self) -> str:
        return self.labels.get("alertname") or "alert without a name"

    @property
    def is_firing(self) -> bool:
        return self.status is Status.FIRING


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One webhook of Alertmanager."""

    receiver: str
    group_key: str  # A digest: the original holds label values.
    group_labels: Mapping[str, str]
    common_labels: Mapping[str, str]
    alerts: tuple[Alert, ...]
    omitted: int  # Alerts that Alertmanager or our own bounds left out.
    reason: str
    external_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Who is called."""

    room: bool = False
    users: tuple[str, ...] = ()

    def __or__(self, other: "Mentions") -> "Mentions":
        users = dict.fromkeys((*self.users, *other.users))
        return Mentions(room=self.room or other.room, users=tuple(users))

    def __bool__(self) -> bool:
        return self.room or bool(self.users)


NOBODY = Mentions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The words of one delivery, before they become a Matrix event."""

    body: str = ""
    html: str = ""
    mentions: Mentions = NOBODY
    lines: tuple[str, ...] = ()  # Of a note: joined by later ones while it waits.
    key: str = ""  # Of a reaction: the mark. Of a file: its name.
    target: str = ""  # An event: what is taken back, or what is answered.


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Have this sent for the group: in place of one of its kind that still waits, else as a new one."""

    kind: Kind
    payload: Payload
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Drop what waits of this kind and was never tried."""

    kind: Kind


Write = Put | Cancel


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One incident in one room: what its message shows now. Times are seconds since the epoch, 0 = never."""

    id: int = 0  # 0: not stored yet.
    room: str
    group_key: str
    receiver: str
    group_labels: Mapping[str, str]
    common_labels: Mapping[str, str]
    alerts: tuple[Alert, ...]
    omitted: int
    external_url: str
    opened_at: float
    changed_at: float
    seen_at: float
    closed_at: float = 0.0
    state_key: str = ""
    root_event: str = ""  # "": not in the room yet.
    root_room: str = ""  # The id of the room that holds the root.
    mark_event: str = ""  # The reaction that says resolved.
    acknowledged_by: str = ""
    acknowledged_at: float = 0.0
    silence: str = ""  # Alertmanager's id.
    silenced_by: str = ""
    silenced_until: float = 0.0  # With no silence: one ended, and what fires by now is to be asked.
    reminders: int = 0
    reminded_at: float = 0.0

    @property
    def firing(self) -> tuple[Alert, ...]:
        return tuple(alert for alert in self.alerts if alert.is_firing)

    @property
    def is_closed(self) -> bool:
        return self.closed_at > 0


class RootState(StrEnum):
    """Where the message of a group is."""

    NONE = "none"  # Never put, or given up.
    WAITING = "waiting"  # May still be replaced.
    UNCLEAR = "unclear"  # Tried; whether the room has it is not known.
    SENT = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What of a group is on its way."""

    root: RootState = RootState.NONE
    note: Payload | None = None  # None: none that may still be joined.


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row of the queue."""

    id: str  # Also the transaction id and the mark inside the event.
    seq: int
    room: str
    kind: Kind
    payload: Payload
    rank: int
    group_id: int | None  # None: belongs to no group.
    attempts: int
    created_at: float
    first_attempt_at: float
    was_unclear: bool
    shrinks: int
    server_errors: int  # Answers of 500 so far.
    root_event: str = ""
