"""Reading documents: strict, bounded, and with lines that lead a person to the spot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_policy import bounds, parse
from memwarden_policy.model import Resource

GOOD = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata:
  name: a
  namespace: support
  uid: 0b0b
  generation: 3
  labels: {team: red}
spec:
  admission:
    - name: accept
      action: Accept
"""


def problems(text):
    return [(each.path, each.reason) for document in parse.documents(text) for each in document.problems]


def test_a_document_becomes_a_resource():
    (document,) = parse.documents(GOOD)
    expected = Resource(
        kind="MemoryPolicy",
        namespace="support",
        name="a",
        uid="0b0b",
        generation=3,
        spec={"admission": [{"name": "accept", "action": "Accept"}]},
    )
    assert document.resource == expected


def test_several_documents_are_read_and_empty_ones_skipped():
    assert len(parse.documents(f"---\n{GOOD}---\n---\n{GOOD}")) == 2


def test_a_list_is_read_item_by_item():
    item = GOOD.replace("\n", "\n    ")
    (document,) = parse.documents(f"apiVersion: v1\nkind: List\nitems:\n  - {item}")
    assert document.resource is not None
    assert document.line_of("spec.admission[0].action") == 15


def test_lines_lead_to_the_spot_or_to_the_nearest_part_of_it():
    (_, document) = parse.documents(f"{GOOD}---\n{GOOD}")
    assert document.line == 14
    assert document.line_of("spec.admission[0].action") == 25
    assert document.line_of("spec.admission[0].when") == 24
    assert document.line_of("spec.selector.domains[3]") == 22
    assert document.line_of("") == 14


def test_another_group_is_none_of_ours():
    (document,) = parse.documents("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n")
    assert (document.resource, document.problems, document.foreign) == (None, (), "apps/v1 Deployment")


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (("v1alpha1", "v1"), "apiVersion", "WrongVersion"),
        (("memwarden.dev", "memwardn.dev"), "apiVersion", "WrongVersion"),
        (("MemoryPolicy", "MemoryPolice"), "kind", "UnknownKind"),
        (("spec:", "spce:"), "spce", "UnknownField"),
        (("spec:", "spce:"), "spec", "Required"),
        (("  name: a\n", "  nam: a\n"), "metadata.name", "Required"),
        (("name: a\n", "name: 1\n"), "metadata.name", "InvalidType"),
        (("name: a\n", "name: A b\n"), "metadata.name", "InvalidName"),
        (("namespace: support", "namespace: a.b"), "metadata.namespace", "InvalidName"),
        (("kind: MemoryPolicy", "kind: ClusterMemoryPolicy"), "metadata.namespace", "NotApplicable"),
        (("      action: Accept", "      action: Accept\n      action: Reject"), "", "DuplicateKey"),
    ],
)
def test_a_misfit_is_reported(change, path, reason):
    assert (path, reason) in problems(GOOD.replace(*change))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "InvalidYAML"),
        ("\x00", "InvalidYAML"),
        ("a: \ud800", "InvalidYAML"),
        ("a: " + "1" * 5_000, "InvalidYAML"),
        ("? [1]\n: 2", "InvalidYAML"),
        ("a: !!binary aGk=", "InvalidYAML"),
        ("a: !!python/name:os.system ''", "InvalidYAML"),
        ("a: &a [*a]", "TooLarge"),
        ("[" * 100 + "]" * 100, "TooLarge"),
        ("x" * (bounds.TEXT_LENGTH_MAX + 1), "TooLong"),
        ("just a text", "InvalidType"),
        ("- a list", "InvalidType"),
    ],
)
def test_a_text_that_cannot_be_read_is_a_problem(text, reason):
    ((path, found),) = problems(text)
    assert (path, found) == ("", reason)


def test_a_small_text_that_would_grow_is_refused_before_it_grows():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert problems("\n".join(lines)) == [("", "TooLarge")]


def test_a_date_is_a_text_as_in_kubernetes():
    (document,) = parse.documents(GOOD.replace("action: Accept", "action: 2026-12-01"))
    assert document.resource.spec["admission"][0]["action"] == "2026-12-01"


@given(st.text(max_size=100))
def test_no_text_raises(text):
    parse.documents(text)
