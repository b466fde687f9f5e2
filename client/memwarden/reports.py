"""How the commands report: text for people, JSON and JUnit for machines."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET  # Only written here, never read.

import click

from memwarden.checking import CheckReport, Finding
from memwarden.testing import FileReport, RunReport


def check_as_text(report: CheckReport) -> str:
    """One line for each finding, and a summary."""
    return "\n".join(
        [
            *(_line(found, click.style("error", fg="red")) for found in report.problems),
            *(_line(found, click.style("note", fg="yellow")) for found in report.notes),
            _summary(report),
        ]
    )


def _line(found: Finding, level: str) -> str:
    place = f"{found.file}:{found.line}" if found.line else found.file
    about = ": ".join(part for part in (found.object, found.problem.path) if part)
    return f"{place}: {level}: {about + ': ' if about else ''}{found.problem.message} [{found.problem.reason}]"


def _summary(report: CheckReport) -> str:
    skipped = f", {counted(report.skipped, 'other object')} skipped" if report.skipped else ""
    if not report.resources and not report.problems:
        return f"Nothing to check: no resource of memwarden.dev{skipped}."
    found = counted(len(report.problems), "problem") if report.problems else "in order"
    notes = f", {counted(len(report.notes), 'note')}" if report.notes else ""
    return f"{counted(report.resources, 'resource')}: {found}{notes}{skipped}."


def counted(number: int, word: str) -> str:
    """Return the number with its word, in the plural where there are several or none."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def check_as_json(report: CheckReport) -> str:
    """One object with `inOrder`, `resources`, `skipped`, `problems` and `notes`."""
    return _json(
        {
            "inOrder": report.is_in_order,
            "resources": report.resources,
            "skipped": report.skipped,
            "problems": [_flat(found) for found in report.problems],
            "notes": [_flat(found) for found in report.notes],
        }
    )


def _flat(found: Finding) -> dict[str, Any]:
    return {"file": found.file, "line": found.line, "object": found.object, **asdict(found.problem)}


def run_as_text(report: RunReport) -> str:
    """A line for each case, what differs below it, and a summary."""
    return "\n".join(line for file in report.files for line in _file_lines(file)) + "\n" + _tally(report)


def _file_lines(file: FileReport) -> Iterator[str]:
    yield f"{file.file}{': ' + file.suite if file.suite else ''}"
    for fault in file.faults:
        yield f"  {click.style('cannot run', fg='red')}  {fault}"
    for case in file.cases:
        mark = click.style("FAIL", fg="red") if case.complaints else click.style("pass", fg="green")
        yield f"  {mark}  {case.name}"
        for complaint in case.complaints:
            yield f"        {complaint.what}: {complaint.message}"


def _tally(report: RunReport) -> str:
    unusable = f", {counted(report.unusable, 'file')} could not be run" if report.unusable else ""
    return f"{report.passed} passed, {report.failed} failed{unusable}."


def run_as_json(report: RunReport) -> str:
    """One object with `inOrder`, `passed`, `failed` and `files`."""
    counts = {"inOrder": report.is_in_order, "passed": report.passed, "failed": report.failed}
    return _json({**counts, "files": [asdict(file) for file in report.files]})


def run_as_junit(report: RunReport) -> str:
    """One test suite for each file, in the form that CI systems read."""
    root = ET.Element("testsuites")
    for file in report.files:
        failures = sum(bool(case.complaints) for case in file.cases)
        counts = {"tests": len(file.cases), "failures": failures, "errors": len(file.faults)}
        attributes = {"name": _printable(file.suite or file.file)} | {
            name: str(count) for name, count in counts.items()
        }
        suite = ET.SubElement(root, "testsuite", attributes)
        for fault in file.faults:
            broken = ET.SubElement(suite, "testcase", name="the file can be run", classname=_printable(file.file))
            ET.SubElement(broken, "error", message=_printable(fault))
        for case in file.cases:
            seconds = f"{case.seconds:.6f}"
            names = {"name": _printable(case.name), "classname": _printable(file.file)}
            element = ET.SubElement(suite, "testcase", names, time=seconds)
            if case.complaints:
                text = "\n".join(f"{complaint.what}: {complaint.message}" for complaint in case.complaints)
                failure = ET.SubElement(element, "failure", message=_printable(case.complaints[0].message))
                failure.text = _printable(text)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _printable(text: str) -> str:
    """Return the text without the characters that XML cannot hold."""
    return "".join(character if character.isprintable() or character in "\n\t" else " " for character in text)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
