"""The samples apply with kubectl as they are, and the core accepts every one of them."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from memwarden_policy import parse
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Kind, StoreDefaults

SAMPLES = Path(__file__).parents[2] / "manifests/samples"
FILES = sorted(path for path in SAMPLES.glob("*.yaml") if path.name != "kustomization.yaml")
BESIDE = {"store.yaml"}  # Made by whoever knows the address.


def resources(path):
    return [each for each in parse.documents(path.read_text()) if not each.foreign]


@pytest.fixture(scope="module")
def namespaces(api):
    api.kubectl("apply", "--server-side", "-f", SAMPLES / "namespaces.yaml")
    return api


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_applies(namespaces, path):
    namespaces.kubectl("apply", "--server-side", "-f", path)
    namespaces.kubectl("apply", "--dry-run=server", "-f", path)


def test_the_samples_apply_together(namespaces):
    namespaces.kubectl("apply", "--server-side", "-k", SAMPLES)


def test_every_sample_is_in_the_kustomization():
    listed = set(yaml.safe_load((SAMPLES / "kustomization.yaml").read_text())["resources"])
    assert listed == {path.name for path in FILES} - BESIDE


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_begins_with_what_it_is_for(path):
    assert path.read_text().startswith("# ")


def test_the_core_accepts_every_sample():
    found = [each for path in FILES for each in resources(path)]
    assert [each.problems for each in found if each.problems] == []
    objects = [each.resource for each in found if each.resource.kind != Kind.MEMORY_STORE]
    homes = {each.namespace for each in objects} - {""}
    for home in homes:
        mine = [each for each in objects if each.namespace in ("", home)]
        verdicts = compile_ruleset(mine, StoreDefaults(), workspace=home).verdicts
        assert {key: verdict.problems for key, verdict in verdicts.items() if verdict.problems} == {}


def test_there_is_a_sample_of_each_kind_and_use():
    found = [each.resource for path in FILES for each in resources(path)]
    assert set(Counter(each.kind for each in found)) == set(Kind)
    grants = [each.spec for each in found if each.kind == Kind.MEMORY_ACCESS_GRANT]
    for field in ("role", "domains", "mayClaim", "onBehalfOf", "notBefore", "expiresAt"):
        assert any(field in each for each in grants), field
    assert {each["access"] for each in grants if "access" in each} == {"None", "Read", "Write", "Admin"}
    assert any(each.spec.get("mode") == "Audit" for each in found)


def test_the_baseline_has_the_strict_threshold():
    rules = [rule for each in resources(SAMPLES / "baseline.yaml") for rule in each.resource.spec["admission"]]
    assert "candidate.confidence > 0.7" in {rule.get("when") for rule in rules}
