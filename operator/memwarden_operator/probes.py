"""The second port: probes and metrics, for the kubelet and Prometheus."""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

ADDRESS = "0.0.0.0"  # noqa: S104  (the kubelet and Prometheus come from outside the pod)


@dataclass(slots=True)
class Health:
    """Whether the operator is ready: it has seen everything once, or it stands by while another one works."""

    has_swept: bool = False
    stands_by: Callable[[], bool] = lambda: False

    def sweep_is_over(self) -> None:
        """Everything was seen once."""
        self.has_swept = True

    @property
    def is_ready(self) -> bool:
        return self.has_swept or self.stands_by()


async def serve(port: int, health: Health, registry: CollectorRegistry) -> web.AppRunner:
    """Serve until the runner is cleaned up. A loop that stands still does not answer, which is what /livez is for."""

    async def livez(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        ready = health.is_ready
        return web.Response(status=200 if ready else 503, text="ok\n" if ready else "not every resource was seen yet\n")

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes([web.get("/livez", livez), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, ADDRESS, port).start()
    return runner
