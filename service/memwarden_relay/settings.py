"""Reads the settings file: strict, every field with its bound; a mistake is told with its path."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from memwarden_relay.model import NOBODY, Mentions, Severity
from memwarden_relay.permissions import Right, Rule
from memwarden_relay.plan import Times
from memwarden_relay.routing import Route
from memwarden_relay.timers import Reminding

ROOMS_MAX = 50
ROUTES_MAX = 200
USERS_MAX = 50

User = Annotated[str, Field(pattern=r"^@[^:\s]+:\S+$", max_length=255)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2048)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Seconds = Annotated[float, Field(ge=0, le=30 * 86_400)]


class SettingsError(ValueError):
    """The settings cannot be used; the message names every field that is wrong."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class MentionSettings(_Section):
    room: bool = False
    users: tuple[User, ...] = Field(default=(), max_length=USERS_MAX)

    def value(self) -> Mentions:
        return Mentions(room=self.room, users=self.users)


class RoomSettings(_Section):
    id: Annotated[str, Field(pattern=r"^[!#]\S+$", max_length=255)]
    mentions: Mapping[str, MentionSettings] = {}  # By severity: critical, warning, info, none.

    def mentions_of(self, severity: Severity) -> Mentions:
        found = self.mentions.get(severity.name.lower())
        return found.value() if found else NOBODY


class RouteSettings(_Section):
    match: Mapping[str, str] = Field(min_length=1, max_length=20)
    rooms: tuple[Name, ...] = Field(min_length=1, max_length=ROOMS_MAX)


class RuleSettings(_Section):
    power_level: int | None = None
    users: tuple[User, ...] = Field(default=(), max_length=USERS_MAX)

    def value(self) -> Rule:
        return Rule(users=self.users, power_level=self.power_level)


class PermissionSettings(_Section):
    acknowledge: RuleSettings = RuleSettings(power_level=0)
    silence: RuleSettings = RuleSettings(power_level=50)


class AlertmanagerSettings(_Section):
    urls: tuple[Url, ...] = Field(min_length=1, max_length=10)
    token_file: Path | None = None


class ReminderSettings(_Section):
    after_seconds: Seconds = 900.0  # 0: no reminders.
    mentions: MentionSettings = MentionSettings()


class TimeSettings(_Section):
    repeat_after_seconds: Seconds = 600.0
    reopen_within_seconds: Seconds = 300.0
    queue_age_ready_seconds: Seconds = 300.0  # Not ready when something waits for longer.
    watchdog_quiet_seconds: Seconds = 300.0  # 0: the heartbeat is not watched.
    room_check_seconds: Annotated[float, Field(ge=0.1, le=600)] = 30.0


class Settings(_Section):
    """All that the relay is told."""

    homeserver: Url
    homeserver_ca_file: Path | None = None
    token_file: Path
    intake_token_file: Path  # Up to two lines: the token in use, and the one before or after it.
    queue_file: Path
    rooms: Mapping[Name, RoomSettings] = Field(min_length=1, max_length=ROOMS_MAX)
    default_rooms: tuple[Name, ...] = Field(min_length=1, max_length=ROOMS_MAX)
    routes: tuple[RouteSettings, ...] = Field(default=(), max_length=ROUTES_MAX)
    alertmanager: AlertmanagerSettings | None = None  # None: nothing can be silenced from the room.
    permissions: PermissionSettings = PermissionSettings()
    reminder: ReminderSettings = ReminderSettings()
    times: TimeSettings = TimeSettings()

    @model_validator(mode="after")
    def _names_are_known(self) -> "Settings":
        named = {name for route in self.routes for name in route.rooms} | set(self.default_rooms)
        if named - set(self.rooms):
            raise ValueError(f"no such room: {', '.join(sorted(named - set(self.rooms)))}")
        places = {place.name.lower() for place in Severity}
        wrong = {name for room in self.rooms.values() for name in room.mentions} - places
        if wrong:
            raise ValueError(f"no such severity: {', '.join(sorted(wrong))}")
        return self

    def routing(self) -> tuple[Route, ...]:
        return tuple(Route(match=route.match, rooms=route.rooms) for route in self.routes)

    def rights(self) -> dict[Right, Rule]:
        return {
            Right.ACKNOWLEDGE: self.permissions.acknowledge.value(),
            Right.SILENCE: self.permissions.silence.value(),
        }

    def judged_by(self) -> Times:
        times = self.times
        return Times(
            repeat_after=times.repeat_after_seconds,
            reopen_within=times.reopen_within_seconds,
        )

    def reminding(self) -> Reminding:
        return Reminding(after_seconds=self.reminder.after_seconds, mentions=self.reminder.mentions.value())


def load(path: Path) -> Settings:
    """Read a settings file.

    Raises:
        SettingsError: it is not there, no YAML, or says something that is not understood.
    """
    try:
        return Settings.model_validate(yaml.safe_load(path.read_text()))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, one['loc'])) or 'settings'}: {one['msg']}" for one in error.errors()]
        raise SettingsError(f"{path}: {'; '.join(wrong)}") from error
