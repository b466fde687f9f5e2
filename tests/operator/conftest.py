"""A stage for all tests of the operator; each test has namespaces and operators of its own."""

import shutil

import pytest

from local import postgres
from staging import stage as staging


def pytest_configure(config):
    # The parts run on by themselves and are stopped by process id: nobody holds their Popen.
    config.addinivalue_line("filterwarnings", "ignore:subprocess .* is still running:ResourceWarning")


@pytest.fixture(scope="session")
def whole_stage():
    where = staging.folder("operator")
    server = postgres.start(where / "postgres", durable=False)
    api = staging.start_plane(where / "plane")
    stage = staging.Stage(api=api, server=server, folder=where)
    try:
        stage.set_up()
        yield stage
    finally:
        stage.tear_down_operators()
        stage.stop_service()
        staging.stop_plane(where / "plane")
        server.stop(immediately=True)
        shutil.rmtree(where, ignore_errors=True)


@pytest.fixture
def stage(whole_stage):
    yield whole_stage
    whole_stage.tidy_up()
