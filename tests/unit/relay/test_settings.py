"""Settings are strict, and every metric is there at 0."""

from pathlib import Path

import pytest
import yaml
from prometheus_client import generate_latest

from memwarden_relay import health, metrics, settings

EXAMPLE = Path(__file__).parents[3] / "docs/examples/relay.yaml"
PAGE = Path(__file__).parents[3] / "docs/relay.md"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"homeserverr": "x"}, "homeserverr"),
        ({"homeserver": "ftp://x"}, "homeserver"),
        ({"rooms": {}}, "rooms"),
        ({"rooms": {"ops": {"id": "ops"}}}, "rooms.ops.id"),
        ({"rooms": {"ops": {"id": "!a:x", "mentions": {"loud": {}}}}, "routes": []}, "no such severity: loud"),
        ({"defaultRooms": ["nowhere"]}, "no such room: nowhere"),
        ({"times": {"roomCheckSeconds": -1}}, "times.roomCheckSeconds"),
        ({"permissions": {"silence": {"users": ["alice"]}}}, "permissions.silence.users"),
    ],
)
def test_a_mistake_is_told_with_its_path(tmp_path, change, named):
    path = tmp_path / "relay.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(EXAMPLE.read_text()) | change))
    with pytest.raises(settings.SettingsError, match=named.replace(".", r"\.")):
        settings.load(path)


@pytest.mark.parametrize("text", [None, "[", "[]", "just text"])
def test_what_are_no_settings_is_said_so(tmp_path, text):
    path = tmp_path / "relay.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(settings.SettingsError, match=r"relay\.yaml"):
        settings.load(path)


def test_every_field_stands_in_the_example():
    told = settings.load(EXAMPLE)
    unsaid = set(type(told).model_fields) - told.model_fields_set
    assert unsaid == {"homeserver_ca_file"}
    assert set(type(told.times).model_fields) == told.times.model_fields_set


def test_every_series_is_there_from_the_start():
    metrics.start(["ops"])
    shown = generate_latest().decode()
    for series in (
        'memwarden_relay_deliveries_total{kind="root",outcome="dead",room="ops"} 0.0',
        'memwarden_relay_notifications_total{outcome="accepted",room="ops"}',
        'memwarden_relay_refused_total{reason="unavailable"}',
        'memwarden_relay_dead_letters{room="ops"}',
        'memwarden_relay_room_trouble{reason="encrypted",room="ops"}',
        'memwarden_relay_look_backs_total{outcome="uncertain"}',
        'memwarden_relay_commands_total{outcome="failed",verb="silence"}',
        "memwarden_relay_watchdog_timestamp_seconds",
    ):
        assert series in shown


def test_the_page_names_every_metric():
    shown = generate_latest().decode()
    names = {line.split()[2] for line in shown.splitlines() if line.startswith("# TYPE memwarden_relay_")}
    names = {name for name in names if not name.endswith("_created")}
    text = PAGE.read_text()
    assert sorted(name for name in names if name.removesuffix("_total") not in text) == []


def test_readiness_says_every_reason():
    picture = health.Picture(
        is_token_valid=False,
        troubles={"ops": "encrypted"},
        oldest_at={"ops": 100.0, "security": 0.0},
        age_limit_seconds=300.0,
        heard_at=280.0,
        now=401.0,
    )
    assert health.problems(picture) == (
        "the homeserver has not accepted the token",
        "room ops: encrypted",
        "the rooms are not listened to",
        "room ops: the queue is not moving",
    )
