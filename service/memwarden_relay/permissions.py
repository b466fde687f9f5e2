"""Says who in a room may do what: by a list, or by the room's power levels. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

CREATORS_OUTRANK_FROM = 12  # Room version from which creators stand above all levels.
ABOVE_ALL = 2**53
LEVEL_OF_CREATOR = 100  # In older rooms without power levels.


class Right(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Who has a right: everybody listed, and everybody of this level. None: levels give nothing, only the list does."""

    users: tuple[str, ...] = ()
    power_level: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPowers:
    """What the room says of people's ranks."""

    version: str
    creators: tuple[str, ...]
    levels: Mapping[str, Any] | None  # None: the room has no power levels.


def may(user: str, rule: Rule, powers: RoomPowers) -> bool:
    """Say whether a user has the right."""
    if user in rule.users:
        return True
    return rule.power_level is not None and level(user, powers) >= rule.power_level


def level(user: str, powers: RoomPowers) -> int:
    """Return a user's rank in the room."""
    is_creator = user in powers.creators
    if is_creator and _number(powers.version, 0) >= CREATORS_OUTRANK_FROM:
        return ABOVE_ALL
    if powers.levels is None:
        return LEVEL_OF_CREATOR if is_creator else 0
    users = powers.levels.get("users")
    default = _number(powers.levels.get("users_default"), 0)
    return _number(users.get(user), default) if isinstance(users, Mapping) else default


def powers(create: Mapping[str, Any], levels: Mapping[str, Any] | None) -> RoomPowers:
    """Read the room's creation event and its power levels."""
    content = create.get("content", {})
    more = content.get("additional_creators")
    creators: Sequence[Any] = (
        create.get("sender"),
        content.get("creator"),
        *(more if isinstance(more, list) else ()),
    )
    return RoomPowers(
        version=str(content.get("room_version", "1")),
        creators=tuple(one for one in creators if isinstance(one, str)),
        levels=levels,
    )


def _number(value: object, otherwise: int) -> int:
    """Read a level; early rooms wrote them as text."""
    try:
        return int(value) if isinstance(value, int | str) else otherwise
    except ValueError:
        return otherwise
