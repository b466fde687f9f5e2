"""`memwarden test`: runs files of cases against the resources they hold or name."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from memwarden.files import Source, read_source
from memwarden_policy import casefiles, corpus

RESOURCE = re.compile(r"^apiVersion:", re.MULTILINE)
CASES = re.compile(r"^cases:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Why a case failed, or why a file could not be run."""

    what: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport:
    """What came of one case."""

    name: str
    seconds: float
    complaints: tuple[Complaint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What came of one file."""

    file: str
    suite: str
    faults: tuple[str, ...]  # Why the file could not be run; there are no cases then.
    cases: tuple[CaseReport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What came of all files."""

    files: tuple[FileReport, ...]

    @property
    def passed(self) -> int:
        return sum(not case.complaints for file in self.files for case in file.cases)

    @property
    def failed(self) -> int:
        return sum(bool(case.complaints) for file in self.files for case in file.cases)

    @property
    def unusable(self) -> int:
        return sum(bool(file.faults) for file in self.files)

    @property
    def is_in_order(self) -> bool:
        return not self.failed and not self.unusable and self.passed > 0


def run(sources: Iterable[Source]) -> RunReport:
    """Run the cases of each source. Resources that lie in the same folder as files of cases are passed over."""
    return RunReport(files=tuple(_run_file(source) for source in sources if not _holds_resources(source)))


def _holds_resources(source: Source) -> bool:
    return source.is_found and bool(RESOURCE.search(source.text)) and not CASES.search(source.text)


def _run_file(source: Source) -> FileReport:
    if source.fault:
        return FileReport(file=source.name, suite="", faults=(source.fault,), cases=())
    named = {name: read_source(source.folder / name) for name in casefiles.files_of(source.text)}
    texts = {name: each.text for name, each in named.items() if not each.fault}
    suite = casefiles.read(source.text, texts)
    if isinstance(suite, casefiles.Unusable):
        faults = tuple(f"line {line}: {problem.path}: {problem.message}" for line, problem in suite.problems)
        return FileReport(file=source.name, suite="", faults=faults, cases=())
    return FileReport(file=source.name, suite=suite.name, faults=(), cases=tuple(_run_cases(suite)))


def _run_cases(suite: corpus.Suite) -> Iterable[CaseReport]:
    for case in suite.cases:
        start = time.perf_counter()
        result = corpus.run_case(suite, case)
        yield CaseReport(name=case.name, seconds=time.perf_counter() - start, complaints=tuple(_complaints(result)))


def _complaints(result: corpus.Result) -> Iterable[Complaint]:
    for problem in result.problems:
        yield Complaint(what=problem.path, message=problem.message)
    for difference in result.differences:
        yield Complaint(what=difference.what, message=f"expected {difference.expected}, got {difference.actual}")
    if result.differences and result.reason:
        yield Complaint(what="why", message=result.reason)
