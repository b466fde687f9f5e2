"""The schemas by themselves: bounded, described, and of one mind with the core."""

from pathlib import Path

import pytest
import yaml

from memwarden_policy import attributes, bounds
from memwarden_policy.model import Access, Action, MemoryType, Mode, Reads, SourceKind, SubjectKind
from memwarden_policy.structured import OPERATORS_OF

CRDS = {path.stem: yaml.safe_load(path.read_text()) for path in (Path(__file__).parents[2] / "crds").glob("*.yaml")}
SHORT = {
    "memorystores": "mstore",
    "memorypolicies": "mpol",
    "clustermemorypolicies": "cmpol",
    "memoryaccessgrants": "mgrant",
    "memorydomains": "mdom",
}
JSON_TYPES = {"string": "string", "bool": "boolean", "int": "integer", "double": "number", "timestamp": "string"}
FILE_BYTES_MAX = 200 * 1024


def version(plural):
    return CRDS[plural]["spec"]["versions"][0]


def schema(plural):
    return version(plural)["schema"]["openAPIV3Schema"]


def spec_of(plural):
    return schema(plural)["properties"]["spec"]["properties"]


def nodes(node, path=""):
    """Yield every schema with its path."""
    yield path, node
    for name, each in (node.get("properties") or {}).items():
        yield from nodes(each, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(node.get(inner), dict):
            yield from nodes(node[inner], f"{path}[]")


EVERY_NODE = [(plural, path, node) for plural in CRDS for path, node in nodes(schema(plural)) if path != ".metadata"]


def test_the_resources_are_there_with_names_that_are_easy_to_type():
    assert set(CRDS) == set(SHORT)
    for plural, definition in CRDS.items():
        names = definition["spec"]["names"]
        assert (names["shortNames"], names["categories"]) == ([SHORT[plural]], ["memwarden"])


def test_everything_is_bounded():
    unbounded = []
    for plural, path, node in EVERY_NODE:
        needed = {
            "string": ["maxLength"],
            "array": ["maxItems"],
            "integer": ["minimum"],
            "number": ["minimum", "maximum"],
        }
        unbounded += [(plural, path, each) for each in needed.get(node.get("type"), []) if each not in node]
        if isinstance(node.get("additionalProperties"), dict) and "maxProperties" not in node:
            unbounded.append((plural, path, "maxProperties"))
    assert unbounded == []


def test_nothing_is_left_without_a_type_or_kept_without_being_known():
    for plural, path, node in EVERY_NODE:
        assert "type" in node, (plural, path)
        assert "x-kubernetes-preserve-unknown-fields" not in node, (plural, path)


def test_every_field_has_a_description_that_is_a_sentence():
    for plural, path, node in EVERY_NODE:
        if not path.endswith("[]"):
            assert node.get("description", "")[-1:] == ".", (plural, path)


def test_every_rule_has_a_message():
    for plural, path, node in EVERY_NODE:
        for rule in node.get("x-kubernetes-validations", ()):
            assert len(rule["message"]) > 20, (plural, path)


def test_a_status_begins_at_generation_minus_one_and_columns_tell_the_state():
    for plural in CRDS:
        assert schema(plural)["properties"]["status"]["default"] == {"observedGeneration": -1}
        assert version(plural)["subresources"] == {"status": {}}
        columns = {each["name"]: each.get("priority", 0) for each in version(plural)["additionalPrinterColumns"]}
        assert [name for name in columns if columns[name] == 0][:2] == ["Ready", "Reason"]
        assert columns["Message"] == 1
        assert list(columns)[-1] == "Age"


def test_a_file_fits_into_the_annotation_of_a_plain_apply():
    for path in (Path(__file__).parents[2] / "crds").glob("*.yaml"):
        assert path.stat().st_size < FILE_BYTES_MAX


def test_the_floor_has_the_fields_of_a_policy_but_for_its_store():
    policy = dict(spec_of("memorypolicies"))
    del policy["storeRef"]
    assert policy == spec_of("clustermemorypolicies")
    rules = "x-kubernetes-validations"
    assert (
        schema("memorypolicies")["properties"]["spec"][rules]
        == schema("clustermemorypolicies")["properties"]["spec"][rules]
    )


def test_all_conditions_have_one_shape():
    shapes = [schema(plural)["properties"]["status"]["properties"]["conditions"]["items"] for plural in CRDS]
    assert all(each == shapes[0] for each in shapes)


def values(node):
    return set(node["enum"])


def test_words_are_those_of_the_core():
    policy, grant, store = (spec_of(each) for each in ("memorypolicies", "memoryaccessgrants", "memorystores"))
    assert values(policy["mode"]) == set(Mode)
    assert values(policy["selector"]["properties"]["memoryTypes"]["items"]) == set(MemoryType)
    assert values(policy["admission"]["items"]["properties"]["action"]) == set(Action)
    assert values(grant["subjects"]["items"]["properties"]["kind"]) == set(SubjectKind)
    assert values(grant["access"]) == set(Access)
    assert values(grant["mayClaim"]["items"]) == set(SourceKind)
    assert values(store["admissionDefault"]) == set(Action)
    assert values(store["access"]["properties"]["reads"]) == set(Reads)


def test_bounds_are_those_of_the_core():
    policy, grant, store = (spec_of(each) for each in ("memorypolicies", "memoryaccessgrants", "memorystores"))
    selector, rule = policy["selector"]["properties"], policy["admission"]["items"]["properties"]
    subject, allowed = grant["subjects"]["items"]["properties"], store["allowedNamespaces"]["properties"]["selector"]
    expression = allowed["properties"]["matchExpressions"]
    found = {
        "RULES_PER_POLICY_MAX": policy["admission"]["maxItems"],
        "PRIORITY_MIN": policy["priority"]["minimum"],
        "PRIORITY_MAX": policy["priority"]["maximum"],
        "SELECTOR_DOMAINS_MAX": selector["domains"]["maxItems"],
        "SELECTOR_MEMORY_TYPES_MAX": selector["memoryTypes"]["maxItems"],
        "SELECTOR_CATEGORIES_MAX": selector["categories"]["maxItems"],
        "SELECTOR_ROLES_MAX": selector["roles"]["maxItems"],
        "CATEGORY_LENGTH_MAX": selector["categories"]["items"]["maxLength"],
        "ROLE_NAME_MAX": selector["roles"]["items"]["maxLength"],
        "RULE_NAME_MAX": rule["name"]["maxLength"],
        "EXPRESSION_LENGTH_MAX": rule["when"]["maxLength"],
        "GRANT_SUBJECTS_MAX": grant["subjects"]["maxItems"],
        "GRANT_DOMAINS_MAX": grant["domains"]["maxItems"],
        "DOMAIN_LENGTH_MAX": grant["domains"]["items"]["maxLength"],
        "GRANT_MAY_CLAIM_MAX": grant["mayClaim"]["maxItems"],
        "GRANT_ON_BEHALF_OF_MAX": grant["onBehalfOf"]["maxItems"],
        "PERSON_LENGTH_MAX": grant["onBehalfOf"]["items"]["maxLength"],
        "GRANT_REASON_MAX": grant["reason"]["maxLength"],
        "NAME_MAX": subject["name"]["maxLength"],
        "NAMESPACE_MAX": subject["namespace"]["maxLength"],
        "ENDPOINT_URL_MAX": store["endpoint"]["properties"]["url"]["maxLength"],
        "CA_BUNDLE_MAX": store["endpoint"]["properties"]["caBundle"]["maxLength"],
        "NAMESPACE_LABELS_MAX": expression["maxItems"],
        "NAMESPACE_LABEL_VALUES_MAX": expression["items"]["properties"]["values"]["maxItems"],
        "LABEL_KEY_MAX": expression["items"]["properties"]["key"]["maxLength"],
        "LABEL_VALUE_MAX": expression["items"]["properties"]["values"]["items"]["maxLength"],
    }
    assert found == {name: getattr(bounds, name) for name in found}


def test_where_knows_the_attributes_and_operators_of_the_core():
    found = spec_of("memorypolicies")["admission"]["items"]["properties"]["where"]["properties"]
    known = {
        name: each
        for name, each in attributes.TABLES[attributes.Matter.CANDIDATE].by_short_name.items()
        if OPERATORS_OF[each.type]
    }
    assert set(found) == set(known)
    for name, attribute in known.items():
        operators = found[name]["properties"]
        assert set(operators) == set(OPERATORS_OF[attribute.type]), name
        for word, operand in operators.items():
            value = operand["items"] if word == "in" else operand
            assert value["type"] == JSON_TYPES[attribute.type], (name, word)
            if word == "in":
                assert operand["maxItems"] == attribute.choices_max, name
            if attribute.words:
                assert values(value) == set(attribute.words)
            elif attribute.longest:
                assert value["maxLength"] == attribute.longest, name


@pytest.mark.parametrize("plural", SHORT)
def test_explain_has_a_text_for_every_field(api, plural):
    for path, node in nodes(schema(plural)):
        # The API server says by itself what these three are.
        if path in ("", ".metadata", ".apiVersion", ".kind") or "[]" in path:
            continue
        text = api.kubectl("explain", f"{SHORT[plural]}{path}")
        first = node["description"].split()[0]
        assert f"DESCRIPTION:\n    {first}" in text, path
