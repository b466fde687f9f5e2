"""What kopf does for us: it watches. Its handlers only put keys into the queue."""

from collections.abc import Awaitable, Callable
from typing import Any

import kopf

from memwarden_operator import metrics
from memwarden_operator.cluster import Cluster, Credentials
from memwarden_operator.gather import NAMESPACED, PLURALS
from memwarden_operator.inbox import Inbox
from memwarden_operator.shapes import GROUP, VERSION
from memwarden_policy.model import Kind

PAGE_ITEMS = 500
SERVER_SECONDS = 280
CLIENT_SECONDS = 320
CONNECT_SECONDS = 10
INACTIVITY_SECONDS = 70
RECONNECT_SECONDS = 1.0
REQUEST_SECONDS = 20
IDLE_SECONDS = 1.0
EXIT_SECONDS = 20


def registry(cluster: Cluster, inbox: Inbox, on_start: Callable[[], Awaitable[None]]) -> kopf.OperatorRegistry:
    """Return the handlers: event handlers only, so that kopf writes no annotation and no finalizer."""
    found = kopf.OperatorRegistry()

    @kopf.on.startup(registry=found)
    async def start(settings: kopf.OperatorSettings, **_: Any) -> None:
        configure(settings)
        await on_start()

    @kopf.on.login(registry=found)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        return connection(await cluster.credentials())

    for kind in NAMESPACED:
        _watch_policies(found, inbox, kind)

    @kopf.on.event(GROUP, VERSION, PLURALS[Kind.CLUSTER_MEMORY_POLICY], registry=found)
    async def floor(event: Any, **_: Any) -> None:
        _saw(inbox, Kind.CLUSTER_MEMORY_POLICY, event["object"])
        inbox.floor(event["type"], event["object"])

    @kopf.on.event(GROUP, VERSION, PLURALS[Kind.MEMORY_STORE], registry=found)
    async def store(event: Any, **_: Any) -> None:
        _saw(inbox, Kind.MEMORY_STORE, event["object"])
        inbox.store(event["type"], event["object"])

    @kopf.on.event("", "v1", "namespaces", registry=found)
    async def namespace(event: Any, **_: Any) -> None:
        inbox.namespace(event["type"], event["object"])

    return found


def _saw(inbox: Inbox, kind: Kind, document: Any) -> None:
    metrics.LAST_WATCH.labels(kind).set_to_current_time()
    inbox.state.freshness.saw(PLURALS[kind], document["metadata"]["resourceVersion"])


def configure(settings: kopf.OperatorSettings) -> None:
    """Set kopf up to watch and nothing else: no peering, no scanning, no events of its own, no storages."""
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.posting.enabled = False
    settings.queueing.worker_limit = None
    settings.queueing.idle_timeout = IDLE_SECONDS
    settings.watching.server_timeout = SERVER_SECONDS
    settings.watching.client_timeout = CLIENT_SECONDS
    settings.watching.connect_timeout = CONNECT_SECONDS
    settings.watching.inactivity_timeout = INACTIVITY_SECONDS
    settings.watching.reconnect_backoff = RECONNECT_SECONDS
    settings.watching.chunk_size = PAGE_ITEMS
    settings.networking.request_timeout = REQUEST_SECONDS
    settings.networking.connect_timeout = CONNECT_SECONDS
    settings.process.ultimate_exiting_timeout = EXIT_SECONDS


def connection(found: Credentials) -> kopf.ConnectionInfo:
    """Return the operator's credentials as kopf takes them."""
    return kopf.ConnectionInfo(
        server=found.server,
        ca_path=found.ca_path,
        insecure=not found.verify,
        token=found.token,
        certificate_path=found.certificate_path,
        private_key_path=found.key_path,
    )


def _watch_policies(found: kopf.OperatorRegistry, inbox: Inbox, kind: Kind) -> None:
    @kopf.on.event(GROUP, VERSION, PLURALS[kind], registry=found, id=kind)
    async def policy(event: Any, **_: Any) -> None:
        _saw(inbox, kind, event["object"])
        inbox.policy(kind, event["type"], event["object"])
