"""Routes of decisions: why something was kept, held or refused."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import Row, text
from starlette.requests import Request

from memwarden_policy.model import Access
from memwarden_service import outcomes, reading, service
from memwarden_service.change_shapes import DecisionShape, Where
from memwarden_service.database import Acting, acting_as
from memwarden_service.knowing import Known
from memwarden_service.problems import hidden
from memwarden_service.spans import RowOf, Table

router = APIRouter(prefix="/v1/decisions", tags=["decisions"])
DECISION = text("""
  select t.*, d.name as domain from memwarden.decision t
  left join memwarden.domain d on d.workspace_id = t.workspace_id and d.id = t.domain_id
  where t.workspace_id = :workspace and t.id = :id
""")


@router.get("/{decision_id}", response_model=DecisionShape)
async def get_decision(
    request: Request, subject: Known, decision_id: UUID, wanted: Annotated[Where, Query()]
) -> DecisionShape:
    """Explain a decision to whom it answered, and to an Admin of the domain."""
    here = service.of(request)
    row_of = RowOf(Table.DECISION, decision_id)
    async with acting_as(here.database, subject, domain=wanted.domain, row=row_of) as acting:
        row = await reading.one(acting, DECISION, decision_id)
    reviews = _reviews(acting, row)
    if not (reviews or _is_own(acting, row)):
        raise hidden()
    return DecisionShape(**outcomes.shown(row._asdict(), reviews=reviews))


def _reviews(acting: Acting, row: Row[Any]) -> bool:
    if row.domain is None:
        return acting.rights.everything(Access.ADMIN)
    return acting.rights.access(row.domain) >= Access.ADMIN


def _is_own(acting: Acting, row: Row[Any]) -> bool:
    caller = acting.caller
    is_theirs = caller.is_person and row.principal == caller.principal
    return bool(is_theirs or (row.actor, row.principal) == (caller.actor, caller.principal))
