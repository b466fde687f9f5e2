"""Decides what an answer of the homeserver, or its silence, means for a delivery. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SHRINKS_MAX = 3
SERVER_ERRORS_MAX = 8  # Answers of 500 to one event, while others get through, before it is given up.
SERVER_ERRORS_ALONE_MAX = 240  # ... or while nothing else does: about an hour.
BACKOFF_FIRST_SECONDS = 1.0
BACKOFF_MAX_SECONDS = 15.0
SETTLE_SECONDS = 2.0  # A request whose answer was lost may still be at work in the homeserver.
LIMIT_DEFAULT_SECONDS = 5.0
LIMIT_MAX_SECONDS = 300.0
ROOM_TROUBLE_CODES = frozenset({"M_UNSUPPORTED_ROOM_VERSION", "M_NOT_FOUND", "M_UNKNOWN_ROOM"})


class Next(StrEnum):
    """What happens to the delivery now."""

    SENT = "sent"
    RETRY = "retry"
    LIMITED = "limited"  # The whole homeserver is to be left alone for a while.
    SHRINK = "shrink"
    PAUSE_ROOM = "pause_room"
    PAUSE_ALL = "pause_all"
    DEAD = "dead"


PAUSES: Mapping[int, Next] = {401: Next.PAUSE_ALL, 403: Next.PAUSE_ROOM, 404: Next.PAUSE_ROOM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back from one request; status 0: nothing did."""

    status: int
    body: Mapping[str, Any]
    retry_after: float = 0.0  # Seconds of the header; 0: none.
    was_sent: bool = True  # False: no connection was made, so the homeserver cannot have it.

    @property
    def code(self) -> str:
        return str(self.body.get("errcode", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is known of the delivery so far; `attempts` counts this one."""

    attempts: int
    shrinks: int
    server_errors: int  # Answers of 500 before this one.
    others_got_through: bool  # Since the first attempt.


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to do, after how many seconds, and whether the room may have the event all the same."""

    next: Next
    event: str = ""
    wait: float = 0.0
    is_unclear: bool = False
    is_server_error: bool = False  # It answered 500: the event itself may be what it cannot take.
    is_away: bool = False  # The homeserver cannot be reached at all.
    why: str = ""  # For logs and the list of dead letters: status and code, never content.


def judge(answer: Answer, history: History) -> Verdict:
    """Decide what one answer means."""
    why = f"{answer.status} {answer.code}".strip() if answer.status else "no answer"
    if answer.status == 200:
        return Verdict(next=Next.SENT, event=str(answer.body.get("event_id", "")))
    if answer.status == 429:
        return Verdict(next=Next.LIMITED, wait=limit_seconds(answer), why=why)
    if answer.status in PAUSES:
        return Verdict(next=PAUSES[answer.status], why=why)
    if answer.status == 0 or answer.status >= 500:
        return _failed(answer, history, why)
    return _refused(answer, history, why)


def backoff(attempts: int) -> float:
    """Return the seconds to wait after so many attempts."""
    return float(min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2 ** min(attempts - 1, 10)))


def limit_seconds(answer: Answer) -> float:
    """Return how long the homeserver wants to be left alone: the header first, then the older field."""
    field = answer.body.get("retry_after_ms")
    told = answer.retry_after or (field / 1000 if isinstance(field, int | float) else 0.0) or LIMIT_DEFAULT_SECONDS
    return float(min(max(told, 0.1), LIMIT_MAX_SECONDS))


def _failed(answer: Answer, history: History, why: str) -> Verdict:
    if answer.status == 500 and _is_hopeless(history):
        return Verdict(next=Next.DEAD, is_unclear=True, why=why)
    if not answer.was_sent:  # Nothing is wrong with the delivery: the sender waits, not the row.
        return Verdict(next=Next.RETRY, is_away=True, why=why)
    wait = max(backoff(history.attempts), SETTLE_SECONDS)
    return Verdict(next=Next.RETRY, wait=wait, is_unclear=True, is_server_error=answer.status == 500, why=why)


def _refused(answer: Answer, history: History, why: str) -> Verdict:
    if answer.code == "M_DUPLICATE_ANNOTATION":
        return Verdict(next=Next.SENT, why=why)
    if answer.code in ROOM_TROUBLE_CODES:
        return Verdict(next=Next.PAUSE_ROOM, why=why)
    # Something in the markup may be what it does not take: the plain text is tried once.
    shrinks_max = {413: SHRINKS_MAX, 400: 1}.get(answer.status, 0)
    return Verdict(next=Next.SHRINK if history.shrinks < shrinks_max else Next.DEAD, why=why)


def _is_hopeless(history: History) -> bool:
    errors = history.server_errors + 1
    return errors >= (SERVER_ERRORS_MAX if history.others_got_through else SERVER_ERRORS_ALONE_MAX)
