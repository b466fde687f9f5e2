"""The application: routes, and one rendering for everything that is no success."""

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from psycopg import errors as database_errors
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memwarden_service import bodies, openapi
from memwarden_service.problems import MEDIA_TYPE, Kind, ProblemError, document, headers
from memwarden_service.routes import (
    admin,
    candidates,
    decisions,
    memories,
    oversight,
    policies,
    search,
    settings,
    vault,
)
from memwarden_service.service import Service

BY_STATUS = {404: Kind.NOT_FOUND, 405: Kind.METHOD_NOT_ALLOWED, 413: Kind.TOO_LARGE, 415: Kind.MEDIA_TYPE}
# What passes by itself: the caller may try again.
PASSING = (
    database_errors.OperationalError,
    database_errors.QueryCanceled,
    database_errors.LockNotAvailable,
    database_errors.DeadlockDetected,
    database_errors.SerializationFailure,
    database_errors.IdleInTransactionSessionTimeout,
    database_errors.ReadOnlySqlTransaction,
)


def build(service: Service | None) -> FastAPI:
    """Return the application; None: to describe it, not to run it."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.service = service
    for module in (memories, vault, candidates, decisions, policies, oversight, admin, search, settings):
        app.include_router(module.router)
    app.exception_handler(ProblemError)(_problem)
    app.exception_handler(HTTPException)(_http)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(DBAPIError)(_database)
    app.exception_handler(PoolTimeoutError)(_unavailable)
    app.exception_handler(Exception)(_bug)
    return app


def routes(app: FastAPI) -> list[str]:
    """Return every route as metrics name it."""
    paths = openapi.document(app)["paths"]
    return sorted(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods)


def render(request: Request, problem: ProblemError) -> Response:
    """Return a problem as an answer."""
    body: dict[str, Any] = document(problem, getattr(request.state, "request_id", ""))
    return JSONResponse(body, int(problem.kind.status), headers=headers(problem), media_type=MEDIA_TYPE)


async def _problem(request: Request, error: ProblemError) -> Response:
    return render(request, error)


async def _http(request: Request, error: HTTPException) -> Response:
    kind = BY_STATUS.get(error.status_code, Kind.BAD_REQUEST)
    return render(request, ProblemError(kind, headers=error.headers or {}))


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    if all(each["loc"][:1] == ("path",) for each in error.errors()):
        # An id that is none names nothing.
        return render(request, ProblemError(Kind.NOT_FOUND))
    return render(request, ProblemError(Kind.INVALID, faults=tuple(bodies.faults(error.errors(), ""))))


async def _database(request: Request, error: DBAPIError) -> Response:
    if isinstance(error.orig, PASSING) or error.connection_invalidated:
        return await _unavailable(request, error)
    raise error


async def _unavailable(request: Request, _: Exception) -> Response:
    return render(request, ProblemError(Kind.UNAVAILABLE, "the database cannot be reached, or is too busy"))


async def _bug(request: Request, _: Exception) -> Response:
    return render(request, ProblemError(Kind.BUG))
