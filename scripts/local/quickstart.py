"""The quickstart: from nothing to policies at work on this machine, again in seconds, and away with --down."""

import fcntl
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from local import binaries, cluster, demo, folders, postgres, processes, stack

STATE_FILE = "quickstart.json"
LOCK_FILE = "lock"
WELL_SECONDS = 5.0
TOKEN_RENEWAL_SECONDS = 12 * 3600
OUR_FOLDERS = {"control-plane", "postgres"}
OUR_FILES = {
    demo.REVIEWER_KEY,
    "admin-url",
    "app-password",
    "database-url",
    "hash-key",
    STATE_FILE,
    f"{STATE_FILE}.part",
    LOCK_FILE,
}
OUR_SUFFIXES = {".conf", ".log"}
OURS = ("support", "research", stack.NAMESPACE)


@dataclass(kw_only=True)
class State:
    """What a running quickstart is made of, as kept between runs."""

    cluster: cluster.Kind
    context: str | None = None
    database_url: str | None = None  # None: the embedded PostgreSQL.
    port: int = 0
    started_at: float = 0.0
    is_shown: bool = False  # The samples were applied and did what they say; from then on they are the person's.
    pids: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, int] = field(default_factory=dict)  # The ports of the probes.


@click.command(
    help=f"{__doc__}\n\nEverything it keeps lies in {folders.state()} (MEMWARDEN_STATE names another folder)."
)
@click.option("--context", help="use the cluster of this kubectl context")
@click.option(
    "--kind", "use_kind", is_flag=True, help="use kind (needs Docker), also where a local API server would do"
)
@click.option("--local", "use_local", is_flag=True, help="use an API server of our own, also where Docker answers")
@click.option(
    "--database-url",
    envvar="MEMWARDEN_ADMIN_URL",
    help="the admin URL of your own PostgreSQL with pgvector; embedded unless given",
)
@click.option("--down", is_flag=True, help="remove what the quickstart made")
def main(*, context: str | None, use_kind: bool, use_local: bool, database_url: str | None, down: bool) -> None:
    folder = folders.state()
    wanted: cluster.Kind | None = "context" if context else "kind" if use_kind else "local" if use_local else None
    if down and not folder.exists():
        click.echo("There is no quickstart on this machine.")
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o711)
    try:
        with alone(folder):
            if down:
                _down(folder)
            else:
                _up(folder, _state(folder, wanted, context, database_url))
    except (processes.NotReadyError, binaries.BuildError, cluster.NoClusterError, demo.SurpriseError) as error:
        raise click.ClickException(str(error)) from error
    except subprocess.CalledProcessError as error:
        raise click.ClickException(f"kubectl {' '.join(error.cmd)} failed: {error.stderr.strip()}") from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep a second quickstart out of the folder while this one works in it."""
    with (folder / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise click.ClickException(f"Another quickstart is at work in {folder}; wait for it to end") from error
        yield


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show what is being done, and how long it took when it is done."""
    started = time.monotonic()
    click.echo(f"{title} ... ", nl=not sys.stdout.isatty())
    yield
    took = f"{time.monotonic() - started:.1f} s"
    click.echo(f"done ({took})" if sys.stdout.isatty() else f"  done ({took})")


def _state(folder: Path, wanted: cluster.Kind | None, context: str | None, database_url: str | None) -> State:
    kept = _kept(folder)
    if kept is None:
        if any(entry.name != LOCK_FILE for entry in folder.iterdir()):
            raise click.UsageError(f"{folder} holds other files; set MEMWARDEN_STATE to a folder of its own")
        return State(
            cluster=cluster.choose(wanted), context=context, database_url=database_url, port=processes.free_port()
        )
    if (wanted and wanted != kept.cluster) or (context and context != kept.context):
        raise click.UsageError(
            f"A quickstart on {kept.context or kept.cluster} is there already: --down removes it first"
        )
    if database_url and database_url != kept.database_url:
        raise click.UsageError("A quickstart with another database is there already: --down removes it first")
    return kept


def _up(folder: Path, state: State) -> None:
    began = time.monotonic()
    _keep(folder, state)
    with step(f"Kubernetes API server ({state.context or state.cluster})"):
        api = cluster.up(state.cluster, folder, state.context)
    with step("PostgreSQL with pgvector" + ("" if state.database_url else " (embedded)")):
        url = state.database_url or postgres.start(folder / "postgres").url()
        stack.write_secrets(folder, url)
    with step("Resource definitions, accounts, admission policy"):
        stack.install(api)
        store_uid = stack.apply_store(api, f"http://127.0.0.1:{state.port}")
    with step("Memory service and operator"):
        _start_processes(api, folder, state, store_uid)
    if not state.is_shown:
        with step("Two namespaces, their policies and grants"):
            demo.apply(api)
    demo.show(api, state.port, folder, is_first=not state.is_shown)
    state.is_shown = True
    _keep(folder, state)
    _say_what_next(folder, api, state, time.monotonic() - began)


def _start_processes(api: cluster.Cluster, folder: Path, state: State, store_uid: str) -> None:
    tokens_are_old = time.time() - state.started_at > TOKEN_RENEWAL_SECONDS
    if not tokens_are_old and all(_is_well(folder, state, name) for name in ("service", "operator")):
        return
    _stop_processes(folder, state)
    stack.migrate(folder)
    _note(folder, state, stack.start_service(api, folder, port=state.port, store_uid=store_uid))
    _note(folder, state, stack.start_operator(api, folder))
    state.started_at = time.time()
    _keep(folder, state)


def _is_well(folder: Path, state: State, name: str) -> bool:
    """Say whether a process of ours runs and is ready; one that is not within a moment is started again."""
    if not processes.is_ours(state.pids.get(name, 0), str(folder)):
        return False
    deadline = time.monotonic() + WELL_SECONDS
    while not stack.answers(f"http://127.0.0.1:{state.metrics.get(name, 0)}/readyz"):
        if time.monotonic() > deadline:
            return False
        time.sleep(processes.POLL_SECONDS)
    return True


def _note(folder: Path, state: State, running: stack.Running) -> None:
    state.pids[running.name], state.metrics[running.name] = running.pid, running.metrics
    _keep(folder, state)


def _stop_processes(folder: Path, state: State) -> None:
    for name in ("operator", "service"):
        pid = state.pids.pop(name, 0)
        if pid and processes.is_ours(pid, str(folder)):
            processes.stop(pid)


def _down(folder: Path) -> None:
    state = _kept(folder)
    if state is None:
        click.echo("There is no quickstart on this machine.")
        return
    with step("Stopping operator and service"):
        _stop_processes(folder, state)
    if state.cluster == "context":
        with step(f"Removing ours from {state.context}"):
            _remove_from(cluster.up(state.cluster, folder, state.context))
    with step("Stopping the API server and PostgreSQL"):
        cluster.down(state.cluster, folder)
        server = postgres.running(folder / "postgres")
        if server:
            server.stop()
    _forget(folder)
    if state.database_url:
        click.echo(
            "Your database keeps the schema memwarden and the roles mw_app and mw_owner, with what was remembered:"
        )
        click.echo("  drop schema memwarden cascade; drop role mw_app; drop role mw_owner;   removes them")


def _remove_from(api: cluster.Cluster) -> None:
    api.kubectl("delete", "namespace", *OURS, "--ignore-not-found", "--wait=false")
    api.kubectl("delete", "-k", folders.REPOSITORY / "manifests", "--ignore-not-found", "--wait=false")
    api.kubectl("delete", "-f", folders.REPOSITORY / "crds", "--ignore-not-found", "--wait=false")


def _kept(folder: Path) -> State | None:
    """Return the state of the quickstart that is there; None: there is none."""
    path = folder / STATE_FILE
    return State(**json.loads(path.read_text())) if path.exists() else None


def _keep(folder: Path, state: State) -> None:
    part = folder / f"{STATE_FILE}.part"
    part.touch(mode=0o600)
    part.write_text(json.dumps(asdict(state), indent=2))
    part.replace(folder / STATE_FILE)  # A reader finds the old state or the new one, never half of one.


def _forget(folder: Path) -> None:
    """Remove what the quickstart wrote, the state last, and the folder when nothing else is in it."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name == STATE_FILE):
        if entry.name in OUR_FOLDERS:
            shutil.rmtree(entry)
        elif entry.suffix in OUR_SUFFIXES or entry.name in OUR_FILES:
            entry.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _say_what_next(folder: Path, api: cluster.Cluster, state: State, seconds: float) -> None:
    click.echo(
        f"""
Up in {seconds:.0f} s. Service http://127.0.0.1:{state.port}, logs in {folder}

Try next:
  export KUBECONFIG={api.kubeconfig}
  kubectl get memwarden -A                                   what is in force, and why not
  kubectl explain memorypolicy.spec.admission                what a rule can say
  kubectl edit memorypolicy customer-facts -n support        in force within a second
  TOKEN=$(kubectl create token support-agent -n support --audience memwarden)
  curl -H "authorization: Bearer $TOKEN" http://127.0.0.1:{state.port}/v1/memories
  curl -H "authorization: Bearer $(cat {folder / demo.REVIEWER_KEY})" http://127.0.0.1:{state.port}/v1/candidates
                                                             what waits, as a person who may review
  .venv/bin/memwarden test manifests/cases/support-desk.yaml      your policies, tested before they are merged
  scripts/quickstart --down                                  remove all of it"""
    )


if __name__ == "__main__":
    main(prog_name="scripts/quickstart")
