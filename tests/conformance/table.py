"""The sections of the public cases that the language of policies answers, as a table for people.

Run as a program (`PYTHONPATH=tests .venv/bin/python -m conformance.table`) it writes the table anew.
"""

from collections import Counter
from pathlib import Path

from conformance import cases

FILE = Path(__file__).parent / "sections.txt"


def table(answers):
    """Return a line for each section of which at least one case is answered, and a sum."""
    counts = {}
    for answer in answers:
        counts.setdefault(answer.section, Counter())[answer.outcome] += 1
    answered = {section: count for section, count in counts.items() if count[cases.HOLDS] or count[cases.WRONG]}
    lines = [_line(section, count) for section, count in answered.items()]
    total = _line("all sections, also those not listed", sum(counts.values(), Counter()))
    return "\n".join([f"{'section':<44}{'holds':>7}{'refused':>9}{'wrong':>7}", *lines, total]) + "\n"


def _line(section, count):
    return f"{section:<44}{count[cases.HOLDS]:>7}{count[cases.REFUSED]:>9}{count[cases.WRONG]:>7}"


if __name__ == "__main__":
    FILE.write_text(table(cases.answers()))
