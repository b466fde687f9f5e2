"""Builders for the relay's pure tests."""

import json

import pytest

from memwarden_relay import parse, plan
from memwarden_relay.model import NOBODY, Mentions, Notification, Severity, Waiting

TIMES = plan.Times(repeat_after=600, reopen_within=300)


def entry(name="Down", *, status="firing", instance="a", severity="critical", starts="2026-12-01T10:00:00Z", **more):
    return {
        "status": status,
        "labels": {"alertname": name, "severity": severity, "instance": instance},
        "annotations": {
            "summary": "It is down.",
            "description": "Look at it.",
            "runbook_url": "https://r.example/Down",
        },
        "startsAt": starts,
        "endsAt": "2026-12-01T11:00:00Z" if status == "resolved" else "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus/graph",
        "fingerprint": f"{name}-{instance}",
        **more,
    }


def webhook(*alerts, **more):
    return {
        "version": "4",
        "groupKey": '{}:{alertname="Down"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "relay",
        "groupLabels": {"alertname": "Down"},
        "commonLabels": {"alertname": "Down"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager",
        "alerts": list(alerts),
        **more,
    }


def read(document) -> Notification:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    found = parse.notification(body, lambda text: text)
    assert isinstance(found, Notification), found
    return found


def mentions_of(severity):
    return Mentions(room=True) if severity is Severity.CRITICAL else NOBODY


class Story:
    """One group through time: each `tell` is a notification, each answer the plan."""

    def __init__(self):
        self.group = None
        self.waiting = Waiting()
        self.now = 1_000.0

    def tell(self, *alerts, after=10.0, **more):
        self.now += after
        seen = plan.Seen(
            notification=read(webhook(*alerts, **more)),
            room="ops",
            group=self.group,
            waiting=self.waiting,
            next_id=7,
            now=self.now,
            times=TIMES,
            mentions_of=mentions_of,
        )
        made = plan.plan(seen)
        self.group = made.group or self.group
        return made


@pytest.fixture
def story():
    return Story()


@pytest.fixture
def make():
    """Give tests the builders: `make.entry`, `make.webhook`, `make.read`."""

    class Make:
        pass

    Make.entry, Make.webhook, Make.read = staticmethod(entry), staticmethod(webhook), staticmethod(read)
    return Make
