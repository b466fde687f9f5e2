"""The relay: 1,000 alerts in 50 groups through Alertmanager against default limits, and what a single alert takes.

The floor is the homeserver's own: 10 events at once, then one in 5 s, so 200 s for 50 messages. Ratios are to it.
"""

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import Figure
from local import alertmanager, homeserver, person, processes, relay

GROUPS = 50
ALERTS_EACH = 20
BURST, EVERY_SECONDS = 10, 5.0
FLOOR_SECONDS = (GROUPS - BURST) * EVERY_SECONDS
GIVE_UP_SECONDS = 3 * FLOOR_SECONDS
SINGLES = 10


def run() -> list[Figure]:
    """Measure; about five minutes."""
    with tempfile.TemporaryDirectory(prefix="memwarden-relay-bench-") as folder:
        return [*_flood(Path(folder) / "flood"), *_single(Path(folder) / "single")]


def _flood(folder: Path) -> list[Figure]:
    with _scene(folder, is_limited=True) as scene:
        before = _resident(scene.relay.pid)
        started = time.monotonic()
        # The warnings come first, so that the order of severities is the relay's doing.
        for severity in ("warning", "critical"):
            scene.manager.post(_alerts(severity))
        _wait(partial(scene.holds, GROUPS), every=0.5)
        seconds = time.monotonic() - started
        memory = _resident(scene.relay.pid) / before
        time.sleep(2 * EVERY_SECONDS)  # What is doubled would come now.
        messages = [one for one in scene.alice.read(scene.room) if one.sender == scene.bot]
        bodies = [one.body for one in sorted(messages, key=lambda one: one.at)]
        names = {body.split(" · ")[1] for body in bodies}
        limited = scene.relay.metric("memwarden_relay_deliveries_total", outcome="limited")
        return [
            _figure("50 groups of 20 in the room, ratio to the floor of 200 s", seconds / FLOOR_SECONDS, "x", 1.1),
            _figure("groups lost", GROUPS - len(names), "groups", 0),
            _figure("messages doubled", len(bodies) - len(names), "messages", 0),
            _figure("alerts not counted in their message", _missing(bodies), "alerts", 0),
            _figure("critical groups behind a warning sent after them", _out_of_line(bodies), "groups", 0),
            _figure("requests the homeserver refused, an event", limited / GROUPS, "requests", None),
            _figure("memory after, ratio to before", memory, "x", 1.25),
        ]


def _single(folder: Path) -> list[Figure]:
    with _scene(folder, is_limited=False) as scene:
        took, waited = [], []
        for number in range(SINGLES):
            started = time.monotonic()
            scene.manager.post([_alert(f"Single{number}", "a", "critical")])
            _wait(partial(scene.holds, number + 1))
            took.append(time.monotonic() - started)
            waited.append(scene.relay.metric("memwarden_relay_delivery_seconds_sum", kind="root"))
        each = [now - before for before, now in zip([0.0, *waited], waited, strict=False)]
        return [
            _figure("alert posted to message read, group_wait 0: median", median(took) * 1000, "ms", 1000),
            _figure("webhook to event in the room: median", median(each) * 1000, "ms", 500),
        ]


class _Scene:
    """A homeserver with a room, a relay and an Alertmanager."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack, *, is_limited: bool) -> None:
        server = homeserver.synapse(folder / "homeserver", is_limited=is_limited)
        stack.callback(server.stop)
        self.alice = person.person(server, "alice")
        bot = server.register("bot")
        self.bot = bot.id
        self.room = self.alice.make_room(bot)
        rooms = {"ops": {"id": self.room}}
        settings = {"homeserver": server.url, "rooms": rooms, "defaultRooms": ["ops"]}
        self.relay = relay.start(folder / "relay", settings, bot.token)
        stack.callback(self.relay.stop)
        hook = {
            "url": f"{self.relay.url}/v1/alerts",
            "http_config": {"authorization": {"credentials": relay.INTAKE_TOKEN}},
        }
        # An alert that began longer ago than this is told at once, alone: these begin when they are posted.
        wait = "3s" if is_limited else "0s"
        route = {"receiver": "relay", "group_by": ["alertname"], "group_wait": wait, "group_interval": "10m"}
        config = {"route": route, "receivers": [{"name": "relay", "webhook_configs": [hook]}]}
        (self.manager,) = alertmanager.start(folder / "alertmanager", config)
        stack.callback(self.manager.stop)

    def holds(self, count: int) -> bool:
        """Say whether the room has so many messages of the relay."""
        return sum(one.sender == self.bot for one in self.alice.read(self.room)) >= count


@contextlib.contextmanager
def _scene(folder: Path, *, is_limited: bool) -> Iterator[_Scene]:
    with contextlib.ExitStack() as stack:
        yield _Scene(folder, stack, is_limited=is_limited)


def _alert(name: str, instance: str, severity: str) -> dict[str, object]:
    labels = {"alertname": name, "instance": instance, "severity": severity}
    annotations = {"summary": f"{name} is wrong.", "description": "What it means and what to do. " * 10}
    return {"labels": labels, "annotations": annotations}


def _alerts(severity: str) -> list[dict[str, object]]:
    names = [f"{severity.title()}{number:02}" for number in range(GROUPS // 2)]
    return [_alert(name, f"host-{n}", severity) for name in names for n in range(ALERTS_EACH)]


def _missing(bodies: list[str]) -> int:
    return sum(f"{ALERTS_EACH} firing" not in body for body in bodies) * ALERTS_EACH


def _out_of_line(bodies: list[str]) -> int:
    """Count the critical messages after the first limited one that stand behind a warning: the burst may go first."""
    after = ["CRITICAL" in body for body in bodies[BURST + 1 :]]
    return sum(is_critical and not all(after[:place]) for place, is_critical in enumerate(after))


def _resident(pid: int) -> float:
    text = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return float(text) * 4096 / 1024 / 1024


def _wait(claim: Callable[[], bool], every: float = 0.05) -> None:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not claim():
        if time.monotonic() > deadline:
            raise processes.NotReadyError("the room does not fill")
        time.sleep(every)


def _figure(name: str, value: float, unit: str, goal: float | None) -> Figure:
    print(f"{name}: {value:.3f} {unit}", file=sys.stderr)
    return Figure(name=name, value=value, unit=unit, better="lower", goal=goal)
