"""Status conditions as kstatus reads them: what holds, for which generation, since when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

MESSAGE_LENGTH_MAX = 1024

Truth = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One statement on an object. The reason is for machines, the message one line for people, without a clock."""

    type: str
    status: Truth
    reason: str
    message: str


def rendered(
    conditions: Iterable[Condition], observed: Sequence[Mapping[str, Any]], generation: int, now: datetime
) -> list[dict[str, Any]]:
    """Return the conditions as a status holds them; `lastTransitionTime` moves only where `status` flips."""
    before = {each.get("type"): each for each in observed}
    return [_rendered(each, before.get(each.type), generation, now) for each in conditions]


def _rendered(condition: Condition, before: Mapping[str, Any] | None, generation: int, now: datetime) -> dict[str, Any]:
    stays = before is not None and before.get("status") == condition.status
    since = before.get("lastTransitionTime") if before is not None and stays else None
    return {
        "type": condition.type,
        "status": condition.status,
        "observedGeneration": generation,
        "lastTransitionTime": since or now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": condition.reason,
        "message": one_line(condition.message),
    }


def one_line(text: str) -> str:
    """Return a text without line breaks and within the bound of a message."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_LENGTH_MAX else f"{line[: MESSAGE_LENGTH_MAX - 3]}..."


def find(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return a condition of a stored status; empty when it is not there."""
    found: Iterable[Mapping[str, Any]] = status.get("conditions") or ()
    return next((each for each in found if each.get("type") == kind), {})
