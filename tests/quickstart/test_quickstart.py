"""The quickstart as a newcomer types it: up from nothing, up again in seconds, down with nothing left."""

import fcntl
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from local import postgres, processes

ROOT = Path(__file__).parents[2]
AGAIN_SECONDS = 20.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quickstart")
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o711)  # PostgreSQL runs as another account when we are root.
    yield folder / "state"
    run(folder / "state", "--down")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "MEMWARDEN_STATE": str(folder)}
    return subprocess.run(
        [ROOT / "scripts/quickstart", *arguments], capture_output=True, text=True, env=env, timeout=900
    )


def pids(folder: Path) -> dict[str, int]:
    return json.loads((folder / "quickstart.json").read_text())["pids"]


@pytest.fixture(scope="module")
def first(folder):
    done = run(folder, "--local")
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_it_shows_a_memory_accepted_one_held_one_refused(first):
    assert re.findall(r"^  (\d{3})  \"", first.stdout, re.MULTILINE) == ["201", "202", "403"]


def test_it_shows_a_person_confirming_what_was_held(first):
    assert re.search(r"confirms what was held.*\nThe agent of support reads 2;", first.stdout)


def test_it_shows_that_another_namespace_sees_nothing(first):
    assert re.search(r"The agent of support reads [1-9]\d*; the agent of research reads 0 of them", first.stdout)


def test_the_commands_it_offers_next_work(first, folder):
    offered = re.findall(r"^  ((?:kubectl (?:get|explain)|\.venv).*?)(?:   .*)?$", first.stdout, re.MULTILINE)
    assert len(offered) >= 3
    env = {**os.environ, "KUBECONFIG": re.search(r"export KUBECONFIG=(\S+)", first.stdout)[1]}
    for command in offered:
        done = subprocess.run(command.split(), cwd=ROOT, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_again_takes_seconds_and_keeps_what_runs(first, folder):
    before, started = pids(folder), time.monotonic()
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert pids(folder) == before
    assert time.monotonic() - started < AGAIN_SECONDS


def test_a_process_that_died_is_started_again(first, folder):
    processes.stop(pids(folder)["service"])
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(processes.is_running(pid) for pid in pids(folder).values())


def test_a_database_that_crashed_is_started_again_where_it_was(first, folder):
    server = postgres.running(folder / "postgres")
    server.stop(immediately=True)
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert postgres.running(folder / "postgres").port == server.port


def test_it_refuses_to_change_clusters_under_a_running_one(first, folder):
    done = run(folder, "--context", "elsewhere")
    assert done.returncode == 2
    assert "--down removes it first" in done.stderr


def test_two_at_once_do_not_meet(first, folder):
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(folder)
    assert done.returncode == 1
    assert "Another quickstart is at work" in done.stderr


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = run(tmp_path, "--local")
    assert done.returncode == 2
    assert "holds other files" in done.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_down_leaves_no_process_and_no_file(first, folder):
    before = pids(folder)
    (folder / "mine.txt").write_text("mine")
    done = run(folder, "--down")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert not any(processes.is_running(pid) for pid in before.values())
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(folder) in read(path)]


def read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
