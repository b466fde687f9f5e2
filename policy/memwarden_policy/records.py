"""Systems of record: which one speaks for a domain, what it is asked, and what its answer means."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from memwarden_policy import bounds, values
from memwarden_policy.globs import Glob
from memwarden_policy.model import Candidate, RecordAnswer

NOTE_LENGTH_MAX = bounds.MESSAGE_LENGTH_MAX
OK: Final = 200

Said = tuple[RecordAnswer, str]  # The answer, and why, in one line.


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A system of record that is asked over HTTP."""

    url: str
    timeout_seconds: int
    ca_bundle: str = ""  # "": the system's own authorities.


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: of this subject and topic, this is true."""

    subject: str
    value: str
    topic: str = ""  # "": whatever the topic.


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A system of record that is written down in the resource."""

    rows: tuple[Row, ...]


SystemOfRecord = Webhook | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """One MemoryDomain in force."""

    name: str
    glob: Glob
    owner: str | None = None  # None: nobody in particular.
    record: SystemOfRecord | None = field(default=None)  # None: people alone know.


def domain_of(domains: Iterable[Domain], domain: str) -> Domain | None:
    """Return what is said of a domain: of several globs that cover it, the longest, then the first by name."""
    covering = [each for each in domains if each.glob.matches(domain)]
    return min(covering, key=lambda each: (-len(each.glob.pattern), each.name), default=None)


def look_up(table: Table, candidate: Candidate) -> Said:
    """Ask a table: it agrees where a row of the same subject and topic holds the candidate's value or text."""
    rows = [row for row in table.rows if row.subject == candidate.subject and row.topic in ("", candidate.topic)]
    if not rows:
        return RecordAnswer.SILENT, f"it has no row of the subject {candidate.subject or 'nothing'}"
    if any(_says(row, candidate) for row in rows):
        return RecordAnswer.AGREES, ""
    return RecordAnswer.DIFFERS, f"of {candidate.subject} it says {rows[0].value}"[:NOTE_LENGTH_MAX]


def _says(row: Row, candidate: Candidate) -> bool:
    if not candidate.value:
        return row.value.strip() == candidate.content.strip()
    return candidate.value in (values.canonical(row.value), _canonical_text(row.value))


def _canonical_text(text: str) -> str | values.Refused:
    """Return a text that holds JSON, such as a number, in the canonical form of what it holds."""
    try:
        return values.canonical(json.loads(text))
    except (ValueError, RecursionError):
        return values.Refused("not JSON")


def question(candidate: Candidate) -> dict[str, Any]:
    """Return the JSON that a webhook is sent."""
    return {
        "domain": candidate.domain,
        "topic": candidate.topic,
        "subject": candidate.subject,
        "category": candidate.category,
        "content": candidate.content,
        "value": json.loads(candidate.value) if candidate.value else None,
        "source_uri": candidate.source_uri,
    }


def answer(status: int, body: bytes) -> Said:
    """Read what a webhook answered: 200 and `{"agrees": true or false, "reason": "..."}`; all else is silence."""
    if status != OK:
        return RecordAnswer.SILENT, f"it answered with status {status}"
    if len(body) > bounds.RECORD_ANSWER_BYTES_MAX:
        return RecordAnswer.SILENT, "its answer is too large"
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return RecordAnswer.SILENT, "its answer is no JSON"
    agrees = said.get("agrees") if isinstance(said, dict) else None
    if not isinstance(agrees, bool):
        return RecordAnswer.SILENT, "its answer does not say `agrees`"
    reason = said.get("reason")
    note = " ".join(reason.split())[:NOTE_LENGTH_MAX] if isinstance(reason, str) else ""
    return (RecordAnswer.AGREES if agrees else RecordAnswer.DIFFERS), note
