"""`memwarden plan`: what a policy would do to the memories that exist, asked of a file or of the service."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from memwarden import workspaces
from memwarden.workspaces import Loaded
from memwarden_policy import bounds, plan, proposals
from memwarden_policy.model import Memory

# A memory as one line of JSON: its content escaped at worst, and the rest.
LINE_LENGTH_MAX = 8 * bounds.CONTENT_LENGTH_MAX
FAULTS_MAX = 20
ANSWER_SECONDS = 120
ANSWER_BYTES_MAX = 1024 * 1024


class PlanFailedError(Exception):
    """The service did not give a plan."""


@dataclass(slots=True)
class Export:
    """Memories out of a file of lines of JSON, one at a time; lines that are none are remembered as faults."""

    path: Path
    now: datetime
    faults: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Memory]:
        with self.path.open(encoding="utf-8") as file:
            for number in count(1):
                line = file.readline(LINE_LENGTH_MAX + 1)
                if not line:
                    return
                read = self._read(line) if line.strip() else None
                if isinstance(read, Memory):
                    yield read
                elif read is not None and len(self.faults) < FAULTS_MAX:
                    self.faults.append(f"{self.path}:{number}: {read}")
                if len(line) > LINE_LENGTH_MAX:
                    return

    def _read(self, line: str) -> Memory | str:
        if len(line) > LINE_LENGTH_MAX:
            return f"a line holds at most {LINE_LENGTH_MAX} characters; nothing was read from here on"
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            return "expected one memory as JSON"
        if not isinstance(document, dict):
            return "expected one memory as a JSON object"
        found = proposals.read(document, self.now)
        return found if isinstance(found, Memory) else f"{found[0].path}: {found[0].message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan, or why there is none."""

    impact: dict[str, Any]
    faults: tuple[str, ...]


def offline(current: Loaded, wanted: Loaded, export: Path) -> Planned:
    """Compare the workspace as it is with what it would be, over the memories of an export."""
    now = datetime.now(UTC)
    before, _ = workspaces.ruled(current)
    after, faults = workspaces.ruled(workspaces.replaced(current, wanted))
    if faults:
        return Planned(impact={}, faults=faults)
    memories = Export(export, now)
    impact = plan.impact(before, after, memories, now)
    return Planned(impact=impact.as_json(), faults=tuple(memories.faults))


def online(wanted: Loaded, url: str, token: str, ca_file: Path | None) -> dict[str, Any]:
    """Ask the service for the plan.

    Raises:
        PlanFailedError: it cannot be reached, or refuses.
    """
    objects = [{"kind": each.kind, "name": each.name, "spec": each.spec} for each in wanted.resources]
    headers = {"Authorization": f"Bearer {token}", "Memwarden-Workspace": wanted.workspace}
    verify = str(ca_file) if ca_file else True
    try:
        answer = httpx2.post(
            f"{url.rstrip('/')}/v1/policies/plan",
            json={"objects": objects},
            headers=headers,
            timeout=ANSWER_SECONDS,
            verify=verify,
        )
    except httpx2.HTTPError as error:
        raise PlanFailedError(f"{url} does not answer: {error}") from error
    if answer.status_code != httpx2.codes.OK or len(answer.content) > ANSWER_BYTES_MAX:
        raise PlanFailedError(f"{url} answered {answer.status_code}: {answer.text[:500]}")
    read: dict[str, Any] = answer.json()
    return read
