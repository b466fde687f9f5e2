"""What the status of a MemoryStore should say. Pure."""

from datetime import datetime
from typing import Any

from memwarden_operator import conditions
from memwarden_operator.conditions import Condition
from memwarden_operator.reasons import Reason
from memwarden_operator.shapes import Store
from memwarden_operator.statuses import Outage


def status(store: Store, outage: Outage | None, workspaces: int, now: datetime) -> dict[str, Any]:
    """Return the whole status of a store."""
    observed = store.status.get("conditions") or []
    return {
        "observedGeneration": store.generation,
        "address": store.url,
        "workspaces": workspaces,
        "conditions": conditions.rendered(_conditions(outage), observed, store.generation, now),
    }


def _conditions(outage: Outage | None) -> tuple[Condition, ...]:
    if outage is None:
        text = "The service answers and takes rulesets"
        return (Condition(type="Ready", status="True", reason=Reason.SERVICE_READY, message=text),)
    return (
        Condition(type="Ready", status="False", reason=outage.reason, message=conditions.one_line(outage.message)),
        Condition(
            type="Reconciling", status="True", reason=outage.reason, message="It is tried again until it succeeds"
        ),
    )
