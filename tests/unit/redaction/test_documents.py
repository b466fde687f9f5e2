"""The documents say what the code does: all kinds are named, every example runs."""

import re
from pathlib import Path

import pytest
import re2

from memwarden_policy.redaction import Registry
from memwarden_policy.redaction.model import PLACEHOLDER, placeholder
from memwarden_policy.screening import SignalKind

DOCS = Path(__file__).parents[3] / "docs"


def test_all_kinds_are_named():
    named = (DOCS / "redaction.md").read_text().split("<!-- kinds -->")[1].split("<!-- /kinds -->")[0]
    assert re.findall(r"`([^`]+)`", named) == list(Registry().kinds())


def test_all_signals_are_named():
    rows = re.findall(r"^\| `([a-z-]+)` \|", (DOCS / "poisoning.md").read_text(), re.MULTILINE)
    assert set(rows) == {kind.value for kind in SignalKind}


@pytest.mark.parametrize("kind", Registry().kinds())
def test_a_placeholder_is_known_again(kind):
    assert re2.fullmatch(PLACEHOLDER, placeholder(kind))


@pytest.mark.parametrize("document", ["redaction.md", "poisoning.md"])
def test_the_examples_run(document):
    examples = re.findall(r"```python\n(.*?)```", (DOCS / document).read_text(), re.DOTALL)
    assert examples
    for example in examples:
        exec(example, {})  # noqa: S102  # Our own document.
