"""Starts the parts: PostgreSQL, an API server, services; and the callers who speak to them."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg

from local import control_plane, postgres, processes
from memwarden_service.migrate import migrate

ROOT = Path(__file__).parents[2]
OPERATOR = "memwarden-system/memwarden-operator"
SERVICE_ACCOUNT = "memwarden-service"
STORE_UID = "5f0c0a52-6d0c-4a86-9f6c-1d3c0f6a7a10"
HASH_KEY = "k" * 48
APP_PASSWORD = "app-password-of-the-tests"
READY_SECONDS = 120.0  # On a busy machine.
RBAC = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: memwarden-service-tests}
rules:
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {nonResourceURLs: [/openid/v1/jwks, /.well-known/openid-configuration], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: memwarden-service-tests}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: memwarden-service-tests}
subjects: [{kind: ServiceAccount, namespace: memwarden-system, name: memwarden-service}]
"""


def folder(name: str) -> Path:
    """Return a new folder that PostgreSQL's own account can reach too."""
    made = Path(tempfile.mkdtemp(prefix=f"memwarden-{name}-", dir="/var/tmp"))
    made.chmod(0o755)
    return made


@dataclass
class Cluster:
    """An API server with the accounts of the tests."""

    plane: control_plane.ControlPlane
    kubeconfig: Path
    tokens: dict = field(default_factory=dict)

    def token(self, namespace: str, name: str, audience: str = "memwarden", duration: str = "1h") -> str:
        """Return a token of an account; the namespace and the account are made on first use."""
        key = (namespace, name, audience, duration)
        if key not in self.tokens:
            self.ensure(namespace, name)
            self.tokens[key] = self.new_token(namespace, name, audience, duration)
        return self.tokens[key]

    def new_token(self, namespace: str, name: str, audience: str = "memwarden", duration: str = "1h") -> str:
        arguments = ("create", "token", name, "-n", namespace, f"--audience={audience}", f"--duration={duration}")
        return self.plane.kubectl(*arguments).strip()

    def ensure(self, namespace: str, name: str) -> None:
        documents = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}},
        ]
        text = "\n---\n".join(json.dumps(each) for each in documents)
        self.plane.kubectl("apply", "-f", "-", stdin=text)


def start_cluster(where: Path) -> Cluster:
    plane = control_plane.start(where)
    cluster = Cluster(plane=plane, kubeconfig=where / "service.conf")
    cluster.ensure("memwarden-system", "memwarden-operator")
    cluster.ensure("memwarden-system", SERVICE_ACCOUNT)
    plane.kubectl("apply", "-f", "-", stdin=RBAC)
    plane.kubeconfig_for("memwarden-system", SERVICE_ACCOUNT, cluster.kubeconfig)
    return cluster


@dataclass
class Database:
    """One database of the server, migrated."""

    admin_url: str
    url: str

    def admin(self, **options):
        return psycopg.connect(self.admin_url, **options)

    def app(self, **options):
        return psycopg.connect(self.url, **options)


def make_database(server: postgres.Postgres, name: str) -> Database:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    migrate(server.url(name), APP_PASSWORD)
    return Database(admin_url=server.url(name), url=app_url(server, name))


def app_url(server: postgres.Postgres, name: str) -> str:
    return f"postgresql://mw_app:{APP_PASSWORD}@127.0.0.1:{server.port}/{name}"


@dataclass
class Running:
    """A service as a process of its own."""

    process: subprocess.Popen
    log: Path
    port: int
    metrics_port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = None, **headers) -> httpx2.Client:
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers={**sent, **headers}, timeout=30)

    def metrics(self) -> str:
        return httpx2.get(f"http://127.0.0.1:{self.metrics_port}/metrics").text

    def stop(self) -> None:
        processes.stop(self.process.pid)
        self.process.wait()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def start_service(
    database: Database, cluster: Cluster, where: Path, port: int | None = None, more: tuple = ()
) -> Running:
    where.mkdir(exist_ok=True)
    (where / "url").write_text(database.url)
    (where / "hash-key").write_text(HASH_KEY)
    port, metrics_port = port or processes.free_port(), processes.free_port()
    log = where / f"service-{port}.log"
    log.unlink(missing_ok=True)  # Of one that was killed: it said "ready" too.
    command = [Path(sys.executable).parent / "memwarden-service", "serve"]
    command += ["--database-url-file", where / "url", "--hash-key-file", where / "hash-key"]
    command += ["--store-uid", STORE_UID, "--operator", OPERATOR, "--kubeconfig", cluster.kubeconfig]
    command += ["--port", str(port), "--metrics-port", str(metrics_port), *more]
    running = Running(processes.start(command, log, env={"PYTHONUNBUFFERED": "1"}), log, port, metrics_port)

    def is_ready() -> bool:
        if running.process.poll() is not None:
            raise processes.NotReadyError(processes.tail(log))
        return '"message": "ready"' in log.read_text()

    processes.wait_for(is_ready, "The service", READY_SECONDS, log)
    return running


@dataclass
class Operator:
    """Speaks the admin API as the operator does."""

    cluster: Cluster
    client: httpx2.Client
    counter: int = 0
    uids: dict = field(default_factory=dict)

    def uid(self, namespace: str) -> str:
        return self.uids.setdefault(namespace, str(uuid.uuid4()))

    def body(self, namespace: str, objects=(), *, term=1, **store) -> dict:
        self.counter += 1
        defaults = {"admission_default": "RequireConfirmation", "reads": "Granted"}
        return {
            "namespace": {"name": namespace, "uid": self.uid(namespace)},
            "fence": {"term": term, "counter": self.counter},
            "store": {"namespace": "memwarden-system", "name": "main", "uid": STORE_UID, **defaults, **store},
            "objects": [offered(namespace, each) for each in objects],
        }

    def put(self, namespace: str, objects=(), *, term=1, **store) -> dict:
        answer = self.client.put(
            f"/admin/v1/workspaces/{namespace}/ruleset", json=self.body(namespace, objects, term=term, **store)
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def key(self, namespace: str, name: str, user: str | None = None) -> str:
        body = {"name": name, **({"user": user} if user else {})}
        answer = self.client.post(f"/admin/v1/workspaces/{namespace}/api-keys", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["key"]


def offered(namespace: str, document: dict) -> dict:
    """Return an object as the operator offers it, from {kind, name, spec}."""
    is_cluster = document["kind"] == "ClusterMemoryPolicy"
    name = document["name"]
    return {
        "kind": document["kind"],
        "namespace": "" if is_cluster else namespace,
        "name": name,
        "uid": document.get("uid", f"uid-{document['kind']}-{name}"[:63]),
        "generation": document.get("generation", 1),
        "spec": document["spec"],
    }


def grant(name: str, subjects, *, access=None, domains=None, **more) -> dict:
    spec = {"subjects": subjects, **more}
    if access:
        spec |= {"access": access, "domains": domains or ["**"]}
    return {"kind": "MemoryAccessGrant", "name": name, "spec": spec}


def account(name: str, namespace: str | None = None) -> dict:
    return {"kind": "ServiceAccount", "name": name, **({"namespace": namespace} if namespace else {})}


def user(name: str) -> dict:
    return {"kind": "User", "name": name}


def policy(name: str, action: str, when: str | None = None, **spec) -> dict:
    rule = {"name": "rule", "action": action, **({"when": when} if when else {})}
    return {"kind": "MemoryPolicy", "name": name, "spec": {"admission": [rule], **spec}}


def proposal(content: str = "Likes tea.", domain: str = "customers/acme", **more) -> dict:
    return {"domain": domain, "content": content, "source": "agent_extracted", **more}


def claims(token: str) -> dict:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def remove(where: Path) -> None:
    if not os.environ.get("MEMWARDEN_KEEP"):
        shutil.rmtree(where, ignore_errors=True)
