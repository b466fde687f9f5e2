"""The route of vaults: what of the caller's own, sealed, lies nearest to a vector that the caller made."""

from fastapi import APIRouter
from starlette.requests import Request

from memwarden_service import bodies, nearest, reading, service
from memwarden_service.database import acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.shapes import Memory
from memwarden_service.vault_shapes import Near, Nearest, NearMemories

router = APIRouter(prefix="/v1/vault", tags=["vault"])


@router.post("/nearest", response_model=NearMemories, openapi_extra=takes(Nearest))
async def find_nearest(request: Request, subject: Known) -> NearMemories:
    """Return the caller's own vault memories that opted in, nearest first, sealed as they are."""
    wanted = bodies.parse(await bodies.read(request), Nearest)
    async with acting_as(service.of(request).database, subject, domain=wanted.domain) as acting:
        found = await nearest.find(acting, wanted)
    return NearMemories(memories=[Near(score=score, memory=Memory(**reading.flagged(each))) for each, score in found])
