"""Keeps to the homeserver's limit: its own word when it gives one, and the pace that can be learnt from it. Pure."""

from dataclasses import dataclass, replace

SPACING_MAX_SECONDS = 30.0
REMEMBERED_SECONDS = 120.0  # After this much quiet the bucket has filled: start without spacing.
AWAY_MAX_SECONDS = 5.0  # Soon after it is back, it is heard.
EASING = 0.98  # Of the spacing, after each success: a raised limit is found in time.


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """When the next event may go. Times are seconds of one clock."""

    ready_at: float = 0.0
    spacing: float = 0.0  # 0: no limit was met lately.
    waited: float = 0.0  # On purpose, since the last success.
    last_success_at: float = 0.0


def succeeded(pace: Pace, now: float) -> Pace:
    """Return the pace after an event that was taken."""
    if now - pace.last_success_at > REMEMBERED_SECONDS:
        return Pace(last_success_at=now)
    eased = pace.spacing * EASING
    return Pace(ready_at=now + pace.spacing, spacing=eased, waited=pace.spacing, last_success_at=now)


def away(pace: Pace, now: float, failures: int) -> Pace:
    """Return the pace after so many attempts in a row that reached nobody."""
    return replace(pace, ready_at=now + min(AWAY_MAX_SECONDS, 0.25 * 2 ** min(failures, 10)))


def limited(pace: Pace, now: float, wait: float) -> Pace:
    """Return the pace after a refusal that asked for `wait` seconds."""
    # What was waited on purpose was too little by `wait`; idle time says nothing of the limit.
    waited = min(pace.waited + wait, SPACING_MAX_SECONDS)
    return replace(pace, ready_at=now + wait, spacing=waited, waited=waited)
