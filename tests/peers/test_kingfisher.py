"""What another scanner finds in our texts, ours finds: kingfisher, from a wheel installed for this test (slow)."""

import json
import subprocess
import sys
import venv

import pytest

from corpora import ordinary, secrets
from memwarden_policy.redaction import sanitize_server_write

WHEEL = "kingfisher-bin==2.14.0"
TEXTS = 330
FINDINGS_MIN = 100
INSTALL_SECONDS_MAX = 120
SCAN_SECONDS_MAX = 180


@pytest.fixture(scope="module")
def kingfisher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kingfisher")
    venv.create(folder, with_pip=True)
    install = [folder / "bin/python", "-m", "pip", "install", "--quiet", WHEEL]
    try:
        subprocess.run(install, capture_output=True, check=True, timeout=INSTALL_SECONDS_MAX)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{WHEEL} cannot be installed here: {type(error).__name__}")
    return folder / "bin/kingfisher"


def scan(kingfisher, folder):
    """Return (file, what was found) for each finding; nothing is validated, so nothing leaves the machine."""
    command = [
        kingfisher,
        "scan",
        folder,
        "--no-validate",
        "--no-dedup",
        "--format",
        "jsonl",
        "--jobs",
        "1",
        "--no-update-check",
        "--no-rule-cache",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SCAN_SECONDS_MAX)
    found = []
    for line in done.stdout.splitlines():
        if line.startswith("{") and "finding" in (row := json.loads(line)):
            finding = row["finding"]
            found.append((finding["path"].rsplit("/", 1)[-1], finding["snippet"], row["rule"]["id"]))
    return found


def test_what_kingfisher_finds_ours_finds(kingfisher, tmp_path):
    texts = [each.text for each in secrets.planted(41, TEXTS)] + ordinary.clean(42, 20)
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.md").write_text(text)
    found = scan(kingfisher, tmp_path)
    print(f"kingfisher found {len(found)} in {len(texts)} texts, python {sys.version_info.minor}")
    assert len(found) >= FINDINGS_MIN
    left = [
        (file, rule, snippet)
        for file, snippet, rule in found
        if snippet in sanitize_server_write(texts[int(file.removesuffix(".md"))]).text
    ]
    assert not left
