"""Routes of a person's own settings."""

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_service import bodies, service, wishes
from memwarden_service.knowing import Known
from memwarden_service.openapi import takes
from memwarden_service.shapes import Strict

router = APIRouter(prefix="/v1/settings", tags=["settings"])


class WantedSettings(Strict):
    """What a person wants for their own private memories."""

    auto_redact_pii: bool = Field(strict=True, description="Cut e-mail addresses and phone numbers out of what is new.")


class Settings(BaseModel):
    """What a person wants for their own private memories."""

    auto_redact_pii: bool


@router.get("", response_model=Settings)
async def get_settings(request: Request, subject: Known) -> Response:
    """Return the caller's own settings, with an ETag. Takes a person."""
    return _shown(await wishes.get(service.of(request).database, subject))


@router.put("", response_model=Settings, openapi_extra=takes(WantedSettings))
async def put_settings(request: Request, subject: Known) -> Response:
    """Put the caller's own settings (If-Match, if wanted). Takes a person."""
    wanted = bodies.parse(await bodies.read(request), WantedSettings)
    database, if_match = service.of(request).database, request.headers.get("if-match")
    return _shown(await wishes.put(database, subject, wanted.auto_redact_pii, if_match))


def _shown(held: wishes.Wishes) -> Response:
    return JSONResponse({"auto_redact_pii": held.auto_redact_pii}, headers={"ETag": held.etag})
