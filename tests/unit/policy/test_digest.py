"""Digests: blind to what does not count, and to nothing that does."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy.digest import object_digest, ruleset_digest
from memwarden_policy.model import Action, Reads, Resource, StoreDefaults

POLICY = Resource(
    kind="MemoryPolicy",
    namespace="support",
    name="a",
    uid="0b0b",
    generation=3,
    spec={"priority": 100, "admission": [{"name": "r", "action": "Accept", "where": {"confidence": {"gte": 0.8}}}]},
)
OTHER = replace(POLICY, name="b")
STORE = StoreDefaults(namespace="memwarden-system", name="main", uid="0c0c")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def test_the_canonical_form_does_not_change_unseen():
    # Stored digests are compared with new ones: whoever changes the form moves the format version.
    assert object_digest(POLICY) == "sha256:14d14f04d4ba1165f7481c29096aafab0a770bb62bdf69cf7aedaa96f148e6f4"
    assert (
        ruleset_digest([POLICY, OTHER], STORE)
        == "sha256:1d6661ccdce6fea625f2a6686f7388d608a641a755e323e8ce6f0b8978f5b200"
    )


@given(st.dictionaries(st.text(), JSON, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_count(spec, random):
    keys = list(spec)
    random.shuffle(keys)
    shuffled = {key: spec[key] for key in keys}
    assert object_digest(replace(POLICY, spec=spec)) == object_digest(replace(POLICY, spec=shuffled))


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_a_round_trip_through_json_does_not_count(spec):
    again = json.loads(json.dumps(spec))
    assert object_digest(replace(POLICY, spec=spec)) == object_digest(replace(POLICY, spec=again))


def test_the_generation_does_not_count():
    assert object_digest(POLICY) == object_digest(replace(POLICY, generation=4))


def test_the_order_of_objects_does_not_count():
    assert ruleset_digest([POLICY, OTHER], STORE) == ruleset_digest([OTHER, POLICY], STORE)


def test_a_number_is_the_same_as_an_integer_and_as_a_float():
    assert object_digest(replace(POLICY, spec={"a": 100})) == object_digest(replace(POLICY, spec={"a": 100.0}))


def test_a_large_number_is_the_same_as_its_digits():
    assert object_digest(replace(POLICY, spec={"a": 1e23})) == object_digest(replace(POLICY, spec={"a": 10**23}))


def test_a_spec_that_nests_without_end_does_not_exhaust_the_stack():
    spec = {}
    for _ in range(5_000):
        spec = {"a": [spec]}
    assert object_digest(replace(POLICY, spec=spec)).startswith("sha256:")


@pytest.mark.parametrize(
    "change", [{"kind": "ClusterMemoryPolicy"}, {"namespace": "x"}, {"name": "x"}, {"uid": "x"}, {"spec": {}}]
)
def test_everything_else_of_an_object_counts(change):
    assert object_digest(POLICY) != object_digest(replace(POLICY, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"namespace": "x"},
        {"name": "x"},
        {"uid": "x"},
        {"admission_default": Action.REJECT},
        {"reads": Reads.OPEN},
    ],
)
def test_everything_of_the_store_counts(change):
    assert ruleset_digest([POLICY], STORE) != ruleset_digest([POLICY], replace(STORE, **change))


def test_true_is_not_one_and_a_text_is_not_its_number():
    digests = {
        object_digest(replace(POLICY, spec={"a": value})) for value in (True, 1, "1", None, "None", [1], {"1": 1})
    }
    assert len(digests) == 7


def test_another_process_comes_to_the_same_digest():
    program = (
        "from memwarden_policy.digest import object_digest; from memwarden_policy.model import Resource;"
        "print(object_digest(Resource(kind='K', namespace='n', name='a', spec={'b': 1, 'a': {'d': [1.5], 'c': 'é'}})))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1
