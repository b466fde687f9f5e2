"""Says whether everything that comes in also goes out, and serves probes and metrics on the second port."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memwarden_relay import metrics

LISTENING_SECONDS_MAX = 120.0  # Several rounds of waiting for news.


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What readiness is judged by."""

    is_token_valid: bool
    troubles: Mapping[str, str]  # By room.
    oldest_at: Mapping[str, float]  # By room; 0: nothing waits.
    age_limit_seconds: float
    heard_at: float  # When the rooms were last listened to; 0: never.
    now: float


def problems(picture: Picture) -> tuple[str, ...]:
    """Return why the relay is not ready, a line each; none when it is."""
    found = [] if picture.is_token_valid else ["the homeserver has not accepted the token"]
    found += [f"room {room}: {trouble}" for room, trouble in sorted(picture.troubles.items())]
    if picture.now - picture.heard_at > LISTENING_SECONDS_MAX:
        found.append("the rooms are not listened to")
    late = [room for room, at in picture.oldest_at.items() if at and picture.now - at > picture.age_limit_seconds]
    found += [f"room {room}: the queue is not moving" for room in sorted(late)]
    return tuple(found)


def app(gather: Callable[[float], Picture]) -> Starlette:
    """Return what answers /livez, /readyz and /metrics."""

    async def livez(_: Request) -> Response:
        return JSONResponse({"alive": True})

    async def readyz(_: Request) -> Response:
        found = problems(gather(time.time()))
        metrics.READY.set(not found)
        return JSONResponse({"ready": not found, "problems": list(found)}, 503 if found else 200)

    async def shown(_: Request) -> Response:
        metrics.READY.set(not problems(gather(time.time())))
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", shown)])
