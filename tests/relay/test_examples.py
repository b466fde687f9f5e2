"""The configurations that the documents show, judged by the programs that read them."""

import subprocess
import sys
from pathlib import Path

import pytest

from local import alertmanager

EXAMPLES = Path(__file__).parents[2] / "docs/examples"


def test_alertmanager_takes_the_example():
    command = [alertmanager.program("amtool"), "check-config", EXAMPLES / "alertmanager.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (["alertname=MemwardenDown", "severity=critical"], "matrix"),
        (["alertname=RelayDeliveryFailing", "severity=critical"], "fallback"),
        (["alertname=RelayDown", "severity=critical"], "fallback"),
        (["alertname=MemwardenWatchdog", "severity=none"], "watchdog"),
        (["alertname=MemwardenPoisoningSuspected", "component=security"], "matrix"),
    ],
)
def test_each_alert_goes_where_it_is_heard(labels, receiver):
    test = [
        "config",
        "routes",
        "test",
        f"--config.file={EXAMPLES / 'alertmanager.yml'}",
        f"--verify.receivers={receiver}",
    ]
    done = subprocess.run([alertmanager.program("amtool"), *test, *labels], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_relay_takes_the_example():
    command = [sys.executable, "-m", "memwarden_relay.main", "check", "--config", EXAMPLES / "relay.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
