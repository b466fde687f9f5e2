"""The committed OpenAPI document is the one the routes make, and nobody is served it."""

import json
from pathlib import Path

import pytest

from memwarden_service import app, openapi
from memwarden_service.problems import Kind

DOCUMENT = Path(__file__).parents[2] / "docs/openapi.json"


def test_the_committed_document_is_the_current_one():
    made = json.dumps(openapi.document(app.build(None)), indent=2, sort_keys=True)
    assert DOCUMENT.read_text().strip() == made, "run: .venv/bin/memwarden-service openapi > docs/openapi.json"


@pytest.mark.parametrize(
    "path", ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect", "/metrics", "/livez", "/"]
)
def test_nothing_is_served_without_a_credential(service, path):
    with service.client() as nobody:
        assert nobody.get(path).status_code == 404


def test_every_problem_says_what_to_do_about_it():
    rows = [line.split("|") for line in (DOCUMENT.parent / "api.md").read_text().splitlines() if line.startswith("| `")]
    written = {(row[1].strip().strip("`"), int(row[2])) for row in rows if row[2].strip().isdigit()}
    assert written == {(kind.slug, int(kind.status)) for kind in Kind}
