"""One API server with our resources and admission policies for all tests of this folder."""

import pytest

from staging import stage as staging


def pytest_configure(config):
    # The parts run on by themselves and are stopped by process id: nobody holds their Popen.
    config.addinivalue_line("filterwarnings", "ignore:subprocess .* is still running:ResourceWarning")


@pytest.fixture(scope="session")
def api():
    where = staging.folder("crds")
    started = staging.start_plane(where)
    yield started
    staging.stop_plane(where)
