"""The queue has one door, and what decides does no I/O."""

import ast
from pathlib import Path

import pytest

import memwarden_relay

PACKAGE = Path(memwarden_relay.__file__).parent
PURE = "model severities sanitise redaction snapshots parse states routing sizes words render timeline plan wire outcomes pacing permissions commands answers timers".split()  # noqa: E501, SIM905 - a list of names
LIBRARIES = {"asyncio", "httpx2", "os", "pathlib", "socket", "sqlite3", "starlette", "subprocess", "time", "uvicorn"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("module", PURE)
def test_what_decides_does_no_io(module):
    assert not set(imported(PACKAGE / f"{module}.py")) & LIBRARIES


def test_what_decides_imports_nothing_that_acts():
    acting = {path.stem for path in PACKAGE.glob("*.py")} - set(PURE)
    for module in PURE:
        text = (PACKAGE / f"{module}.py").read_text()
        assert not [name for name in acting if f"memwarden_relay.{name} " in text or f"import {name}\n" in text]


def test_only_the_queue_opens_a_database():
    openers = [path.name for path in PACKAGE.glob("*.py") if "sqlite3.connect(" in path.read_text()]
    assert openers == ["queue.py"]
