"""Every shape a webhook can have is a notification, or a reason why it can never be one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_relay import parse, redaction, render, sanitise
from memwarden_relay.model import NOBODY, Group, Notification, Status


def reading(body):
    return parse.notification(body, redaction.redactor())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "NotJSON"),
        (b"{", "NotJSON"),
        (b"\xff\xfe\x00", "NotJSON"),
        (b"[]", "NotAnObject"),
        (b"null", "NotAnObject"),
        (b'{"text": "a payload somebody made up"}', "NoAlerts"),
        (b'{"alerts": null}', "NoAlerts"),
        (b'{"alerts": {"a": 1}}', "NoAlerts"),
        (b"[" * 100_000, "TooDeep"),
        (b'{"alerts": [' + b"1" * 5_000 + b"]}", "NotJSON"),
    ],
)
def test_what_can_never_be_shown_is_refused_with_a_reason(body, reason):
    assert reading(body).reason == reason


@pytest.mark.parametrize(
    "field", ["labels", "annotations", "startsAt", "endsAt", "fingerprint", "generatorURL", "status"]
)
@pytest.mark.parametrize("change", ["missing", "null", "number", "list"])
def test_an_alert_with_a_strange_field_stands_beside_the_others(make, field, change):
    strange = make.entry(instance="strange")
    if change == "missing":
        del strange[field]
    else:
        strange[field] = {"null": None, "number": 5, "list": ["x"]}[change]
    found = make.read(make.webhook(make.entry(instance="well"), strange))
    assert len(found.alerts) == 2
    assert all(alert.status is Status.FIRING for alert in found.alerts)


WHOLE = [
    "groupKey",
    "groupLabels",
    "commonLabels",
    "commonAnnotations",
    "receiver",
    "externalURL",
    "version",
    "truncatedAlerts",
    "status",
]


@pytest.mark.parametrize("field", WHOLE)
def test_a_missing_or_null_field_of_the_whole_is_filled_in(make, field):
    document = make.webhook(make.entry())
    null = make.read({**document, field: None})
    del document[field]
    assert len(make.read(document).alerts) == len(null.alerts) == 1


def test_entries_that_are_no_alerts_are_passed_over(make):
    document = make.webhook(make.entry())
    document["alerts"] += [None, 5, "text", []]
    assert len(make.read(document).alerts) == 1


def test_a_group_without_its_key_is_known_by_its_labels(make):
    one, other = make.webhook(make.entry()), make.webhook(make.entry(instance="b"))
    del one["groupKey"], other["groupKey"]
    assert make.read(one).group_key == make.read(other).group_key


def test_values_that_are_no_numbers_in_json_are_read(make):
    body = json.dumps(make.webhook(make.entry(annotations={"value": float("nan")}))).encode()
    assert make.read(body).alerts[0].annotations == {"value": "NaN"}


def test_alertmanager_s_cut_is_counted(make):
    assert make.read(make.webhook(make.entry(), truncatedAlerts=12)).omitted == 12


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("a\x00b\x07c", "abc"),
        ("pay \u202egnp.exe", "pay gnp.exe"),
        ("tag \U000e0041\U000e007f", "tag "),
        ("line\r\nline\ttab", "line\nline\ttab"),
        ("日本語 🧑‍💻 é Ω", "日本語 🧑‍💻 é Ω"),
        ("\ufeffbom\u2060", "bom"),
    ],
)
def test_text_is_made_fit_to_be_shown(text, clean):
    assert sanitise.clean(text) == clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2hunter2", "password=[redacted]"),
        ('DB_PASSWORD: "correct-horse"', 'DB_PASSWORD: "[redacted]"'),
        ("postgresql://mw:pa55word@db/x", "postgresql://mw:[redacted]@db/x"),
        ("Authorization: Bearer abcdefghijklmnopqrstuv", "Authorization: Bearer [redacted]"),
        ("key AKIAIOSFODNN7EXAMPLE used", "key [redacted] used"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "[redacted]"),
        ("the token expires in 5 minutes", "the token expires in 5 minutes"),
        ("instance=db-0, job=postgres", "instance=db-0, job=postgres"),
    ],
)
def test_credentials_are_taken_out(text, shown):
    assert redaction.redactor()(text) == shown


def test_redaction_reaches_every_text_of_a_notification(make):
    secret = "password=hunter2hunter2"
    alert = make.entry(
        labels={"alertname": "x", "l": secret}, annotations={"a": secret}, generatorURL=f"http://x/?{secret}"
    )
    labels = {"groupLabels": {"g": secret}, "commonLabels": {"c": secret}}
    document = make.webhook(alert, **labels, receiver=secret, externalURL=f"http://x/?{secret}")
    assert "hunter2" not in repr(reading(json.dumps(document).encode()))


TEXT = st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
ALERT = st.dictionaries(
    st.sampled_from(["status", "labels", "annotations", "startsAt", "endsAt", "fingerprint", "generatorURL"]),
    VALUES | st.dictionaries(st.sampled_from(["alertname", "severity", "summary"]) | TEXT, VALUES, max_size=5),
)
FIELDS = st.sampled_from(["groupKey", "groupLabels", "commonLabels", "status", "receiver", "truncatedAlerts"])


@given(st.dictionaries(FIELDS, VALUES), st.lists(ALERT | VALUES, max_size=5))
def test_whatever_comes_is_read_and_shown_within_the_size_of_an_event(fields, alerts):
    found = reading(json.dumps({**fields, "alerts": alerts}).encode())
    assert isinstance(found, Notification)
    group = Group(
        id=1,
        room="ops",
        group_key="k",
        receiver="",
        group_labels=found.group_labels,
        common_labels=found.common_labels,
        alerts=found.alerts,
        omitted=found.omitted,
        external_url="",
        opened_at=0,
        changed_at=0,
        seen_at=0,
    )
    payload = render.message(group, NOBODY).payload
    payload.body.encode()  # A lone surrogate would end here.
    assert len(payload.body.encode()) <= 14_000
