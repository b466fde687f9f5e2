"""Starts the parts as the quickstart does, and looks at what they did."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psycopg
import yaml

from local import control_plane, postgres, processes, stack
from local.cluster import Cluster

STORE_REF = {"namespace": stack.NAMESPACE, "name": stack.STORE}
API = "memwarden.dev/v1alpha1"
WAIT_SECONDS = 60.0  # Many times what a quiet machine needs; a busy one is no failure.
RELEASE = '{"spec": {"holderIdentity": ""}}'


def folder(name: str) -> Path:
    """Return a new folder that PostgreSQL's own account can reach too."""
    made = Path(tempfile.mkdtemp(prefix=f"memwarden-{name}-", dir="/var/tmp"))
    made.chmod(0o755)
    return made


def start_plane(where: Path) -> Cluster:
    """Start an API server with our resources, accounts and admission policies."""
    plane = control_plane.start(where)
    authority = (plane.folder / "ca.crt").read_text()
    api = Cluster(kind="local", kubeconfig=plane.kubeconfig, server=plane.server, authority=authority)
    stack.install(api)
    return api


def stop_plane(where: Path) -> None:
    running = control_plane.running(where)
    if running:
        running.stop()
    shutil.rmtree(where, ignore_errors=True)


@dataclass
class Operator:
    """An operator as a process of its own."""

    process: subprocess.Popen
    log: Path
    metrics_port: int

    def is_ready(self) -> bool:
        return stack.answers(f"http://127.0.0.1:{self.metrics_port}/readyz")

    def metrics(self) -> dict[str, float]:
        """Return the value of each sample by its name with labels; none before it listens."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics") as answer:
                lines = answer.read().decode().splitlines()
        except urllib.error.URLError:
            return {}
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}

    def leads(self) -> bool:
        return self.metrics().get("memwarden_operator_leader") == 1

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)


@dataclass
class Stage:
    """All parts, and how to act on them."""

    api: Cluster
    server: postgres.Postgres
    folder: Path
    port: int = field(default_factory=processes.free_port)
    store_uid: str = ""
    service: stack.Running | None = None
    operators: list[Operator] = field(default_factory=list)

    def set_up(self) -> None:
        self.store_uid = stack.apply_store(self.api, self.url)
        self.new_database()
        self.start_service()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def new_database(self) -> None:
        """Give the service an empty database in place of the one it has, as after a disaster."""
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute("drop database if exists memwarden with (force)")
            connection.execute("create database memwarden")
        stack.write_secrets(self.folder, self.server.url("memwarden"))
        stack.migrate(self.folder)

    def start_service(self) -> None:
        self.service = stack.start_service(self.api, self.folder, port=self.port, store_uid=self.store_uid)

    def stop_service(self) -> None:
        if self.service:
            processes.stop(self.service.pid)
            self.service = None

    def start_operator(self, *, is_ready: bool = True) -> Operator:
        kubeconfig = self.api.kubeconfig_for(stack.NAMESPACE, stack.OPERATOR, self.folder / "operator.conf")
        port = processes.free_port()
        log = self.folder / f"operator-{port}.log"
        command = [stack.COMMANDS / "memwarden-operator", "run", f"--kubeconfig={kubeconfig}"]
        command += [f"--namespace={stack.NAMESPACE}", f"--metrics-port={port}"]
        operator = Operator(processes.start(command, log), log, port)
        self.operators.append(operator)
        if is_ready:
            self.wait(operator.is_ready, f"the operator: {processes.tail(log)}")
        return operator

    def tidy_up(self) -> None:
        """Take away what reaches beyond the namespaces of one test."""
        self.tear_down_operators()
        self.kubectl("delete", "cmpol", "--all")
        for each in json.loads(self.kubectl("get", "mstore", "-A", "-o", "json"))["items"]:
            metadata = each["metadata"]
            if metadata["name"] != stack.STORE:
                self.kubectl("delete", "mstore", metadata["name"], "-n", metadata["namespace"])

    def tear_down_operators(self) -> None:
        """Stop what a test left running, and let the next one lead at once."""
        for operator in self.operators:
            if operator.process.poll() is None:
                operator.thaw()
                operator.stop()
        self.operators.clear()
        with contextlib.suppress(subprocess.CalledProcessError):
            self.kubectl("patch", "lease", stack.OPERATOR, "-n", stack.NAMESPACE, "--type=merge", "-p", RELEASE)

    def kubectl(self, *arguments: str | Path, stdin: str | None = None) -> str:
        return self.api.kubectl(*arguments, stdin=stdin)

    def apply(self, *documents: dict) -> None:
        self.kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(documents))

    def namespace(self, name: str, **labels: str) -> str:
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        return name

    def get(self, kind: str, namespace: str, name: str) -> dict:
        where = ("-n", namespace) if namespace else ()
        return json.loads(self.kubectl("get", kind, name, *where, "-o", "json"))

    def condition(self, kind: str, namespace: str, name: str, type_: str = "Ready") -> tuple[str, str]:
        """Return status and reason of a condition that speaks of the newest generation; otherwise ("", "")."""
        document = self.get(kind, namespace, name)
        generation = document["metadata"]["generation"]
        for each in document["status"].get("conditions", ()):
            if each["type"] == type_ and each["observedGeneration"] == generation:
                return each["status"], each["reason"]
        return "", ""

    def ready(self, kind: str, namespace: str) -> set[str]:
        """Return the names of the objects that are Ready in their newest generation."""
        found = json.loads(self.kubectl("get", kind, "-n", namespace, "-o", "json"))["items"]
        return {each["metadata"]["name"] for each in found if _is_ready(each)}

    def versions(self) -> dict[tuple[str, ...], str]:
        """Return the resourceVersion of everything that the operator may write, but for its Lease."""
        kinds = "mstore,mpol,cmpol,mgrant,events,namespaces"
        found = json.loads(self.kubectl("get", kinds, "-A", "-o", "json"))["items"]
        return {
            (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each["metadata"][
                "resourceVersion"
            ]
            for each in found
        }

    def await_condition(self, kind: str, namespace: str, name: str, reason: str, type_: str = "Ready") -> dict:
        """Wait for the reason of a condition, and return the whole object."""

        def state() -> str:
            return json.dumps(self.get(kind, namespace, name)["status"])

        self.wait(lambda: self.condition(kind, namespace, name, type_)[1] == reason, f"{reason}; it is", state)
        return self.get(kind, namespace, name)

    def wait(self, is_so, what: str, more=lambda: "", seconds: float = WAIT_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, f"After {seconds} s there was no {what} {more()}"
            time.sleep(0.1)

    def held(self, namespace: str) -> dict:
        """Return the objects in force of a workspace by kind and name, as the service says; {} when there is none."""
        document = self.ruleset(namespace)
        return {
            (each["kind"], each["name"]): each["in_force"] for each in document.get("objects", ()) if each["in_force"]
        }

    def ruleset(self, namespace: str) -> dict:
        arguments = ("create", "token", stack.OPERATOR, "-n", stack.NAMESPACE)
        token = self.kubectl(*arguments, f"--audience=memwarden:{self.store_uid}").strip()
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx2.get(f"{self.url}/admin/v1/workspaces/{namespace}/ruleset", headers=headers)
        assert answer.status_code in (200, 404), answer.text
        return answer.json() if answer.status_code == 200 else {}

    def admin(self, statement: str, *parameters: object) -> int:
        """Run a statement as the database's administrator, and return how many rows it touched."""
        with psycopg.connect(self.server.url("memwarden")) as connection:
            return connection.execute(statement, parameters).rowcount

    def events(self, namespace: str, name: str) -> list[dict]:
        """Return the events about an object."""
        found = json.loads(self.kubectl("get", "events", "-n", namespace, "-o", "json"))["items"]
        return [each for each in found if each["involvedObject"]["name"] == name]

    def propose(self, namespace: str, account: str, **body: object) -> httpx2.Response:
        """Propose a memory as a ServiceAccount."""
        token = self.kubectl("create", "token", account, "-n", namespace, "--audience=memwarden").strip()
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.post(f"{self.url}/v1/memories", headers=headers, json=body)


def _is_ready(document: dict) -> bool:
    generation = document["metadata"]["generation"]
    return any(
        each["type"] == "Ready" and each["status"] == "True" and each["observedGeneration"] == generation
        for each in document["status"].get("conditions", ())
    )


def policy(name: str, namespace: str, *rules: dict, ref: dict | None = STORE_REF, **spec: object) -> dict:
    """Return a MemoryPolicy whose rules are given, or that accepts what is sure enough."""
    admission = list(rules) or [{"name": "sure", "when": "candidate.confidence > 0.7", "action": "Accept"}]
    return _document("MemoryPolicy", name, namespace, {**_ref(ref), "admission": admission, **spec})


def grant(name: str, namespace: str, ref: dict | None = STORE_REF, **spec: object) -> dict:
    """Return a MemoryAccessGrant of the account `agent`, to write everywhere unless the spec says otherwise."""
    rights = (
        {"domains": ["**"], "access": "Write"} if not spec.keys() & {"role", "mayClaim", "onBehalfOf", "access"} else {}
    )
    subjects = {"subjects": [{"kind": "ServiceAccount", "name": "agent"}]}
    return _document("MemoryAccessGrant", name, namespace, {**_ref(ref), **subjects, **rights, **spec})


def floor(name: str, *rules: dict) -> dict:
    """Return a ClusterMemoryPolicy."""
    document = _document("ClusterMemoryPolicy", name, "", {"admission": list(rules)})
    del document["metadata"]["namespace"]
    return document


def rule(name: str, action: str, when: str | None = None) -> dict:
    return {"name": name, "action": action, **({"when": when} if when else {})}


def account(namespace: str, name: str = "agent") -> dict:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}


def _ref(ref: dict | None) -> dict:
    return {"storeRef": ref} if ref else {}


def _document(kind: str, name: str, namespace: str, spec: dict) -> dict:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}
