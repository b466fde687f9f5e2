"""The OpenAPI document: our bodies, our problems, our credentials; it is committed and served to nobody."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from memwarden_service.problems import MEDIA_TYPE, Kind

REF = "#/components/schemas/{model}"
VERSION = "v1"
TAKES = "x-takes"
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "request_id"],
    "properties": {
        "type": {"type": "string", "enum": [kind.uri for kind in Kind]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("path", "reason", "message")},
            },
        },
        "decision": {"type": "string", "format": "uuid"},
        "rules": {"type": "array", "items": {"type": "string"}},
        "redactions": {"type": "array", "items": {"$ref": REF.format(model="Redacted")}},
        "request_id": {"type": "string"},
    },
}
_TAKEN: dict[str, type[BaseModel]] = {}


def takes(shape: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return what tells the document of a body that we read ourselves."""
    _TAKEN[shape.__name__] = shape
    schema = {"$ref": REF.format(model=shape.__name__)}
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of the application."""
    found = get_openapi(title="Memwarden", version=VERSION, routes=app.routes)
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for name, shape in sorted(_TAKEN.items()):
        schema = shape.model_json_schema(ref_template=REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[name] = schema
    schemas["Problem"] = PROBLEM
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"bearer": []}]
    problem = {"description": "A problem", "content": {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="Problem")}}}}
    for methods in found["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = problem
    return found
