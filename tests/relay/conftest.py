"""Real homeservers, a room with people in it, and a relay that can be started, killed and started again."""

import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from local import alertmanager, homeserver, person, processes, relay
from local.proxy import Proxy

NAMES = iter(range(10_000))


@pytest.fixture(scope="session")
def servers():
    with ExitStack() as stack:
        yield stack, {}


def _server(servers, folder, make):
    stack, running = servers
    if make not in running:
        start = {"synapse": homeserver.synapse, "dendrite": homeserver.dendrite}[make.partition(" ")[0]]
        more = {"is_limited": True} if make == "synapse limited" else {}
        running[make] = start(folder.mktemp(make.replace(" ", "-")), **more)
        stack.callback(_stop, running, make)
    return running[make]


def _stop(running, make):
    running[make].stop()  # The one that runs now: tests start it again.


@pytest.fixture
def synapse(servers, tmp_path_factory):
    return _server(servers, tmp_path_factory, "synapse")


@pytest.fixture
def limited(servers, tmp_path_factory):
    return _server(servers, tmp_path_factory, "synapse limited")


@pytest.fixture
def dendrite(servers, tmp_path_factory):
    return _server(servers, tmp_path_factory, "dendrite")


@pytest.fixture(params=["synapse", "dendrite"])
def server(request, servers, tmp_path_factory):
    """Return each make of homeserver, without limits."""
    return _server(servers, tmp_path_factory, request.param)


class Scene:
    """A room with an owner and the bot, and what is started in it."""

    def __init__(self, server, folder, stack):
        self.server, self.folder, self.stack = server, folder, stack
        number = next(NAMES)
        self.stamp = f"{number}-{int(time.time())}"
        self.alice = person.person(server, f"alice-{self.stamp}")
        self.bot = server.register(f"bot-{self.stamp}")
        self.room = self.alice.make_room(self.bot)
        self.port = processes.free_port()  # Known before the relay is there: Alertmanager is told first.
        self.relay = None
        self.proxy = None

    def start(self, *, through_proxy=False, is_ready=True, rooms=None, **settings):
        url = self.server.url
        if through_proxy:
            self.proxy = Proxy(self.server.port)
            self.stack.callback(self.proxy.close)
            url = self.proxy.url
        times = {"roomCheckSeconds": 1} | settings.pop("times", {})
        whole = {"homeserver": url, "rooms": rooms or {"ops": {"id": self.room}}, "defaultRooms": ["ops"]}
        whole |= {"times": times, **settings}
        self.relay = relay.start(self.folder / "relay", whole, self.bot.token, is_ready=is_ready, port=self.port)
        self.stack.callback(self._end)
        return self.relay

    def _end(self):
        self.relay.kill()

    def again(self, **more):
        self.relay = self.relay.again(**more)

    def alertmanagers(self, count=1, **more):
        hook = {
            "url": f"http://127.0.0.1:{self.port}/v1/alerts",
            "http_config": {"authorization": {"credentials": relay.INTAKE_TOKEN}},
        }
        route = {"receiver": "relay", "group_by": ["alertname"], "group_wait": "1s", "group_interval": "2s"}
        config = {"route": route | more, "receivers": [{"name": "relay", "webhook_configs": [hook]}]}
        started = alertmanager.start(self.folder / "alertmanager", config, count=count)
        for one in started:
            self.stack.callback(one.stop)
        return started

    def tell(self, *alerts, **more):
        status, answer = self.relay.post(webhook(*alerts, **more))
        assert status == 200, answer
        return answer

    def person(self, name):
        who = person.person(self.server, f"{name}-{self.stamp}")
        self.alice.invite(self.room, who.user)
        who.ask("POST", f"/join/{self.room}", {})
        return who

    def read(self, claim, what, seconds=20.0, room=None):
        return [
            one for one in self.alice.wait_for(room or self.room, claim, what, seconds) if one.sender == self.bot.id
        ]

    def steady(self, seconds=1.5):
        """Return the bot's messages after some quiet: what would be doubled has had its time."""
        time.sleep(seconds)
        return [one for one in self.alice.read(self.room) if one.sender == self.bot.id]


def alert(name="Down", *, status="firing", instance="a", severity="critical", **more):
    return {
        "status": status,
        "labels": {"alertname": name, "severity": severity, "instance": instance},
        "annotations": {"summary": f"{name} is wrong."},
        "startsAt": "2026-12-01T10:00:00Z",
        "endsAt": "2026-12-01T11:00:00Z" if status == "resolved" else "0001-01-01T00:00:00Z",
        "generatorURL": "",
        "fingerprint": f"{name}-{instance}",
        **more,
    }


def webhook(*alerts, name="Down", **more):
    return {
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{name}"}}',
        "status": "firing",
        "receiver": "relay",
        "groupLabels": {"alertname": name},
        "commonLabels": {"alertname": name},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager",
        "alerts": list(alerts),
        **more,
    }


@pytest.fixture
def open_scene(tmp_path: Path):
    """Return what opens a scene on a homeserver; all of it ends with the test."""
    with ExitStack() as stack:
        yield lambda server: Scene(server, tmp_path, stack)


@pytest.fixture
def scene(open_scene, server):
    return open_scene(server)


@pytest.fixture
def make():
    """Give tests the builders: `make.alert`, `make.webhook`."""

    class Make:
        pass

    Make.alert, Make.webhook = staticmethod(alert), staticmethod(webhook)
    return Make
