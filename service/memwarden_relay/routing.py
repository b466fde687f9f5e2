"""Chooses the rooms of a notification by its labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memwarden_relay.model import Notification


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Notifications with all of these labels go to these rooms."""

    match: Mapping[str, str]
    rooms: tuple[str, ...]


def rooms(notification: Notification, routes: Sequence[Route], default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rooms of the first route that matches what the alerts have in common."""
    labels = {**notification.common_labels, **notification.group_labels}
    for route in routes:
        if all(labels.get(name) == value for name, value in route.match.items()):
            return route.rooms
    return default
