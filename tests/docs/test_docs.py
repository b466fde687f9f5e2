"""What the documents show: links that lead somewhere, resources that pass, commands that exist."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    ROOT / line
    for line in subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    if (ROOT / line).exists()
)
LINK = re.compile(r"\[[^\]]+\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
GROUP = "memwarden.dev/"


def blocks(language: str) -> list:
    """Return each fenced block of a language with the page it stands on."""
    found = [(page, text) for page in PAGES for kind, text in BLOCK.findall(page.read_text()) if kind == language]
    return [pytest.param(page, text, id=f"{page.relative_to(ROOT)}-{n}") for n, (page, text) in enumerate(found)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    targets = LINK.findall(page.read_text())
    assert not [target for target in targets if not (page.parent / target).exists()]


@pytest.mark.parametrize(("page", "text"), blocks("yaml"))
def test_every_resource_shown_is_one_that_check_accepts(page, text, tmp_path):
    documents = [document for document in yaml.safe_load_all(text) if document]
    ours = [one for one in documents if isinstance(one, dict) and str(one.get("apiVersion", "")).startswith(GROUP)]
    if not ours:
        assert documents, f"a YAML block of {page} is empty"
        return
    shown = tmp_path / "shown.yaml"
    shown.write_text(yaml.safe_dump_all(ours))
    done = subprocess.run([ROOT / ".venv/bin/memwarden", "check", shown], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("page", "text"), blocks("sh"))
def test_every_script_shown_is_there(page, text):
    named = set(re.findall(r"\bscripts/[a-z-]+", text))
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_module_that_a_map_names_is_there(page):
    named = set(re.findall(r"`(?:[a-z_]+/)*([a-z_]+\.py)`", (ROOT / page).read_text()))
    there = {path.name for root in ("policy", "operator", "service", "client") for path in (ROOT / root).rglob("*.py")}
    assert named
    assert not named - there


def test_every_suite_that_help_names_has_its_tests():
    printed = subprocess.run([ROOT / "scripts/test", "--help"], capture_output=True, text=True, check=True).stdout
    suites = re.findall(r"^  (\w+) ", printed, re.MULTILINE)
    assert len(suites) >= 5
    assert not [suite for suite in suites if not list((ROOT / "tests" / suite).rglob("test_*.py"))]


def test_every_test_folder_is_a_suite_that_help_names():
    printed = subprocess.run([ROOT / "scripts/test", "--help"], capture_output=True, text=True, check=True).stdout
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")}
    assert not [name for name in folders if f"\n  {name} " not in printed]


def test_decisions_are_numbered_without_gaps_and_name_their_check():
    decisions = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    assert not [path.name for path in decisions if "Held by:" not in path.read_text()]
