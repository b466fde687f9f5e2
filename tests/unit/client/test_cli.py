"""The command line: what it prints, where it points, and its exit codes."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from memwarden.cli import main

MEMWARDEN = Path(sys.executable).parent / "memwarden"
CORPUS = Path(__file__).parents[2] / "corpus"

GOOD = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata: {name: good, namespace: support}
spec:
  admission:
    - name: sure
      when: candidate.confidence > 0.7
      action: Accept
"""
BAD = GOOD.replace("confidence", "confidnce").replace("name: good", "name: bad")
FOREIGN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
STORE = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryStore
metadata: {name: main, namespace: memwarden-system}
spec:
  endpoint: {url: "https://memwarden.memwarden-system.svc:8443"}
  allowedNamespaces: {from: Selector, selector: {matchLabels: {memory: governed}}}
  admissionDefault: RequireConfirmation
  access: {reads: Granted}
"""
CASES = """\
name: the good policy
workspace: support
files: [good.yaml]
resources:
  - kind: MemoryAccessGrant
    metadata: {name: writes}
    spec: {subjects: [{kind: ServiceAccount, name: agent}], domains: ["**"], access: Write}
cases:
  - name: what is sure is accepted
    as: {serviceAccount: agent}
    propose: {domain: notes, content: A fact., source: agent_extracted, confidence: 0.9}
    expect: {action: Accept, rules: [MemoryPolicy/good/sure]}
  - name: what is unsure is accepted
    as: {serviceAccount: agent}
    propose: {domain: notes, content: A fact., source: agent_extracted, confidence: 0.5}
    expect: {action: Accept, access: {notes: Admin}, roles: [lead], mayClaim: [imported], mayActFor: {bob: true}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)
    return tmp_path


def memwarden(*arguments, stdin=None):
    return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)


def test_the_version_is_that_of_the_distribution():
    assert memwarden("--version").output == f"memwarden {version('memwarden')}\n"


def test_help_is_given_without_being_wrong():
    for arguments in (["--help"], ["check", "-h"], ["test", "-h"]):
        assert memwarden(*arguments).exit_code == 0


def test_check_is_content_with_what_is_right(folder):
    result = memwarden("check", folder / "good.yaml")
    assert (result.exit_code, result.output) == (0, "1 resource: in order.\n")


def test_check_points_at_file_line_object_and_field(folder):
    result = memwarden("check", folder / "bad.yaml")
    assert result.exit_code == 1
    assert result.output.splitlines()[0] == (
        f"{folder}/bad.yaml:7: error: MemoryPolicy support/bad: spec.admission[0].when: line 1, column 10: "
        "unknown name `candidate.confidnce`, did you mean `candidate.confidence`? [UnknownAttribute]"
    )


def test_check_walks_folders(folder):
    result = memwarden("check", folder)
    assert result.exit_code == 1
    assert result.output.endswith("2 resources: 1 problem.\n")


def test_check_names_where_the_twin_of_an_object_stands(folder):
    (folder / "bad.yaml").write_text(f"{FOREIGN}---\n{GOOD}")
    result = memwarden("check", folder)
    assert result.exit_code == 1
    said = "metadata.name: another object of this kind has the same name"
    assert result.output.splitlines()[:2] == [
        f"{folder}/bad.yaml:7: error: MemoryPolicy support/good: {said}: {folder}/good.yaml:1 (document 1) [Duplicate]",
        f"{folder}/good.yaml:3: error: MemoryPolicy support/good: {said}: {folder}/bad.yaml:5 (document 2) [Duplicate]",
    ]


def test_check_reads_standard_input():
    assert memwarden("check", "-", stdin=GOOD).exit_code == 0
    result = memwarden("check", "-", stdin=BAD)
    assert result.exit_code == 1
    assert result.output.startswith("standard input:7: error")


def test_check_skips_resources_of_other_groups():
    assert (
        memwarden("check", "-", stdin=f"{FOREIGN}---\n{GOOD}").output
        == "1 resource: in order, 1 other object skipped.\n"
    )


def test_check_with_nothing_to_check_is_not_in_order():
    result = memwarden("check", "-", stdin=FOREIGN)
    assert result.exit_code == 1
    assert "Nothing to check" in result.output


def test_check_judges_stores():
    assert memwarden("check", "-", stdin=STORE).exit_code == 0
    for change in [
        ("https://memwarden", "http://memwarden"),
        ("from: Selector", "from: All"),
        ("from: Selector, ", ""),
        ("reads: Granted", "reads: Sometimes"),
        ("RequireConfirmation", "Redact"),
        ("endpoint:", "endpont:"),
    ]:
        assert memwarden("check", "-", stdin=STORE.replace(*change)).exit_code == 1, change


def test_check_judges_objects_of_several_files_together(folder):
    (folder / "again.yaml").write_text(GOOD)
    result = memwarden("check", folder / "good.yaml", folder / "again.yaml")
    assert result.exit_code == 1
    assert result.output.count("[Duplicate]") == 2


def test_check_keeps_namespaces_apart(folder):
    (folder / "other.yaml").write_text(GOOD.replace("namespace: support", "namespace: sales"))
    assert memwarden("check", folder / "good.yaml", folder / "other.yaml").exit_code == 0


def test_check_notes_contradictions_and_is_content(folder):
    (folder / "other.yaml").write_text(GOOD.replace("name: good", "name: other").replace("Accept", "Reject"))
    result = memwarden("check", folder / "good.yaml", folder / "other.yaml")
    assert result.exit_code == 0
    assert result.output.count("note:") == 2
    assert result.output.endswith("2 resources: in order, 2 notes.\n")


def test_check_reports_as_json(folder):
    result = memwarden("check", folder / "bad.yaml", "-o", "json")
    report = json.loads(result.output)
    assert result.exit_code == 1
    assert report["inOrder"] is False
    (problem,) = report["problems"]
    assert (problem["line"], problem["object"], problem["path"], problem["reason"]) == (
        7,
        "MemoryPolicy support/bad",
        "spec.admission[0].when",
        "UnknownAttribute",
    )


@pytest.mark.parametrize("command", ["check", "test"])
def test_wrong_usage_is_exit_code_two(command, tmp_path):
    assert memwarden(command).exit_code == 2
    assert memwarden(command, tmp_path / "nowhere.yaml").exit_code == 2
    assert memwarden(command, tmp_path).exit_code == 2  # A folder without YAML.
    assert memwarden(command, "-", "-o", "xml").exit_code == 2


@pytest.mark.parametrize("command", ["check", "test"])
def test_a_file_that_cannot_be_read_is_a_problem(command, folder):
    (folder / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (folder / "broken.yaml").write_text("a: [")
    for name in ("binary.yaml", "broken.yaml"):
        result = memwarden(command, folder / name)
        assert result.exit_code == 1
        assert name in result.output


def test_test_shows_what_differs(folder):
    (folder / "cases.yaml").write_text(CASES)
    result = memwarden("test", folder / "cases.yaml")
    assert result.exit_code == 1
    assert result.output == (
        f"{folder}/cases.yaml: the good policy\n"
        "  pass  what is sure is accepted\n"
        "  FAIL  what is unsure is accepted\n"
        "        action: expected Accept, got RequireConfirmation\n"
        "        access to notes: expected Admin, got Write\n"
        "        may act for bob: expected True, got False\n"
        "        roles: expected lead, got none\n"
        "        mayClaim: expected imported, got agent_extracted, reasoning, retrieval, tool_result\n"
        "        why: Waits for a person by the store's default, since no rule of the workspace matches.\n"
        "1 passed, 1 failed.\n"
    )


def test_test_reports_as_junit(folder):
    (folder / "cases.yaml").write_text(CASES)
    result = memwarden("test", folder / "cases.yaml", "-o", "junit")
    (suite,) = ET.fromstring(result.output)  # noqa: S314 - our own output
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [len(case) for case in suite] == [0, 1]


def test_test_reports_as_json(folder):
    (folder / "cases.yaml").write_text(CASES)
    report = json.loads(memwarden("test", folder / "cases.yaml", "-o", "json").output)
    assert (report["inOrder"], report["passed"], report["failed"]) == (False, 1, 1)


def test_a_case_whose_resources_are_wrong_fails_with_their_problem(folder):
    (folder / "cases.yaml").write_text(CASES.replace("good.yaml", "bad.yaml"))
    result = memwarden("test", folder / "cases.yaml")
    assert result.exit_code == 1
    assert "MemoryPolicy/bad: spec.admission[0].when: line 1, column 10: unknown name" in result.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("good.yaml", "nowhere.yaml"), "there is no readable file nowhere.yaml"),
        (("expect: {action: Accept, rules", "expect: {acton: Accept, rules"), "did you mean `action`?"),
        (("action: Accept, access", "action: Acept, access"), "`Acept` is not one of Accept"),
        (("content: A fact., source: agent_extracted, confidence: 0.9", "content: A fact."), "`source` is required"),
        (("confidence: 0.9", "confidence: 90"), "from 0 to 1"),
        (("confidence: 0.9", "observed_at: yesterday"), "expected a time"),
        (("confidence: 0.9", "private: true"), "a private memory needs a person"),
        (("as: {serviceAccount: agent}", "as: {}"), "say one of serviceAccount, user or apiKey"),
        (
            ("    propose: {domain: notes, content: A fact., source: agent_extracted, confidence: 0.9}\n", ""),
            "nothing is",
        ),
        (("kind: MemoryAccessGrant", "kind: MemoryGrant"), "is not one of MemoryStore"),
        (("cases:", "case:"), "`cases` is required"),
    ],
)
def test_a_misspelled_file_of_cases_is_not_run(folder, change, words):
    text = CASES.replace(*change)
    assert text != CASES
    (folder / "cases.yaml").write_text(text)
    result = memwarden("test", folder / "cases.yaml")
    assert result.exit_code == 1
    assert words in result.output
    assert "0 passed, 0 failed, 1 file could not be run." in result.output


def test_resources_and_cases_may_lie_in_one_folder(folder):
    (folder / "bad.yaml").unlink()
    (folder / "cases.yaml").write_text(CASES.split("  - name: what is unsure", maxsplit=1)[0])
    assert memwarden("check", folder).output == "1 resource: in order, 1 other object skipped.\n"
    assert memwarden("test", folder).output.endswith("\n1 passed, 0 failed.\n")
    assert memwarden("test", folder / "good.yaml").exit_code == 1  # Named, so it is meant.


def test_the_corpus_of_this_project_passes():
    result = memwarden("test", CORPUS)
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith("passed, 0 failed.")


def test_the_command_is_installed_and_does_not_colour_a_pipe(folder):
    run = subprocess.run([MEMWARDEN, "check", folder / "bad.yaml"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "\x1b" not in run.stdout
    assert run.stderr == ""


def test_a_terminal_gets_colours(folder):
    result = CliRunner().invoke(main, ["check", str(folder / "bad.yaml")], color=True)
    assert "\x1b[31m" in result.output
