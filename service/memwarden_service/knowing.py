"""Who calls, as the routes ask for it: before anything else of the request is looked at."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from memwarden_service import service
from memwarden_service.picture import Subject


async def _subject(request: Request) -> Subject:
    return await service.of(request).authenticator.subject(request)


async def _operator(request: Request) -> str:
    return await service.of(request).authenticator.operator(request)


Known = Annotated[Subject, Depends(_subject)]
Operator = Annotated[str, Depends(_operator)]
