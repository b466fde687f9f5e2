"""The corpus holds the core to its answers; tests/service holds the database and HTTP to the same ones."""

from pathlib import Path

import pytest

from memwarden_policy import casefiles, corpus

FOLDER = Path(__file__).parents[2] / "corpus"
CASES_MIN = 120


def suites():
    for path in sorted(FOLDER.glob("*.yaml")):
        text = path.read_text()
        files = {name: (path.parent / name).read_text() for name in casefiles.files_of(text)}
        yield path.stem, casefiles.read(text, files)


def cases():
    for name, suite in suites():
        assert isinstance(suite, corpus.Suite), (name, suite)
        for case in suite.cases:
            yield pytest.param(suite, case, id=f"{name}: {case.name}")


@pytest.mark.parametrize(("suite", "case"), list(cases()))
def test_core_agrees(suite, case):
    result = corpus.run_case(suite, case)
    assert result.problems == ()
    assert result.differences == (), result.reason


def test_no_two_cases_of_a_file_have_one_name():
    for _, suite in suites():
        names = [case.name for case in suite.cases]
        assert sorted(names) == sorted(set(names))


def test_the_corpus_is_there():
    assert sum(len(suite.cases) for _, suite in suites()) >= CASES_MIN
