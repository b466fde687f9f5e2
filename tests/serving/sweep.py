"""Every route of the OpenAPI document, with something for each of its parameters."""

import json
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from serving import stack

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text())


@dataclass(frozen=True)
class Door:
    """One method of one path."""

    method: str
    path: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_admin(self) -> bool:
        return self.path.startswith("/admin/")

    @property
    def ids(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)

    def at(self, **ids: str) -> str:
        return self.path.format(**{name: ids.get(name, str(uuid.uuid4())) for name in self.ids})


DOORS = sorted(
    (Door(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods),
    key=lambda door: door.name,
)


def body_of(door: Door, namespace: str = "support") -> dict | None:
    """Return a body that the route takes."""
    return {
        "POST /v1/memories": stack.proposal("Swept.", confidence=0.9),
        "POST /v1/search": {"query": "swept"},
        "POST /v1/vault/nearest": {"vector": [1], "embedder": "swept"},
        "PATCH /v1/memories/{memory_id}": {"content": "Swept over."},
        "POST /v1/memories/{memory_id}/feedback": {"feedback_id": "swept", "kind": "confirm"},
        "PUT /v1/memories/{memory_id}/hold": {"reason": "swept"},
        "PUT /v1/settings": {"auto_redact_pii": True},
        "POST /v1/candidates/{candidate_id}/edit": {"content": "Swept over."},
        "POST /v1/candidates/bulk": {"action": "confirm", "ids": [str(uuid.uuid4())]},
        "POST /v1/policies/plan": {"objects": [stack.policy("swept", "Reject")]},
        "POST /v1/api-keys": {"name": f"swept-{uuid.uuid4()}"},
        "POST /admin/v1/workspaces/{namespace}/api-keys": {"name": f"swept-{uuid.uuid4()}"},
    }.get(door.name)
