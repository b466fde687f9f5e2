"""The route of search."""

from fastapi import APIRouter
from starlette.requests import Request

from memwarden_service import bodies, reading, service
from memwarden_service.database import acting_as
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.search_shapes import Explanation, Found, FoundMemory, SearchBody
from memwarden_service.searching import search
from memwarden_service.shapes import Memory

router = APIRouter(prefix="/v1/search", tags=["search"])


@router.post("", response_model=Found, openapi_extra=takes(SearchBody))
async def search_memories(request: Request, subject: Known) -> Found:
    """Find the memories in force that answer best, of those that the caller may read. Calls no language model."""
    here = service.of(request)
    wanted = bodies.parse(await bodies.read(request), SearchBody)
    cursors = here.cursors(request, subject, wanted.model_copy(update={"cursor": None}).model_dump_json())
    offset = int(cursors.last(wanted.cursor) or 0)
    async with acting_as(here.database, subject, domain=wanted.domain) as acting:
        page = await search(acting, wanted, offset)
        await reading.note_sensitive(acting, [each.row for _, each in page.hits])
    hits = [
        FoundMemory(
            memory=Memory(**reading.flagged(each)),
            score=hit.score,
            explanation=Explanation(because=dict(hit.because), strength=hit.strength) if wanted.explain else None,
        )
        for hit, each in page.hits
    ]
    return Found(hits=hits, mode=wanted.mode, next=cursors.after(str(page.next)) if page.next is not None else None)
