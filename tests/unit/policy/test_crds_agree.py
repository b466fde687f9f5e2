"""The CRDs and the core say the same of shapes and bounds; whoever changes one hears of the other."""

from pathlib import Path

import pytest
import yaml

from memwarden_policy import attributes, bounds, granting, policies, stores, structured
from memwarden_policy.model import Access, Action, MemoryType, Mode, Reads, SourceKind, SubjectKind

CRDS = Path(__file__).parents[3] / "crds"


def spec_of(plural):
    crd = yaml.safe_load((CRDS / f"{plural}.yaml").read_text())
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def at(schema, path):
    for part in path.split("."):
        schema = schema["items"] if part == "[]" else schema.get("properties", schema)[part]
    return schema


POLICY = spec_of("memorypolicies")
FLOOR = spec_of("clustermemorypolicies")
GRANT = spec_of("memoryaccessgrants")
STORE = spec_of("memorystores")


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (POLICY, (*policies.FIELDS, "storeRef")),
        (FLOOR, policies.FIELDS),
        (POLICY["selector"]["properties"], policies.SELECTOR_FIELDS),
        (POLICY["admission"]["items"]["properties"], policies.RULE_FIELDS),
        (GRANT, granting.FIELDS),
        (GRANT["subjects"]["items"]["properties"], granting.SUBJECT_FIELDS),
        (STORE, stores.FIELDS),
    ],
)
def test_the_same_fields_are_known(schema, fields):
    assert sorted(schema) == sorted(fields)


@pytest.mark.parametrize(
    ("schema", "path", "kind"),
    [
        (POLICY, "mode", Mode),
        (POLICY, "selector.memoryTypes.[]", MemoryType),
        (POLICY, "admission.[].action", Action),
        (GRANT, "access", Access),
        (GRANT, "subjects.[].kind", SubjectKind),
        (GRANT, "mayClaim.[]", SourceKind),
        (STORE, "admissionDefault", Action),
        (STORE, "access.reads", Reads),
        (STORE, "allowedNamespaces.from", stores.Scope),
    ],
)
def test_the_same_words_are_known(schema, path, kind):
    assert sorted(at(schema, path)["enum"]) == sorted(each.value for each in kind)


@pytest.mark.parametrize(
    ("schema", "path", "bound", "number"),
    [
        (POLICY, "priority", "minimum", bounds.PRIORITY_MIN),
        (POLICY, "priority", "maximum", bounds.PRIORITY_MAX),
        (POLICY, "admission", "maxItems", bounds.RULES_PER_POLICY_MAX),
        (POLICY, "admission.[].name", "maxLength", bounds.RULE_NAME_MAX),
        (POLICY, "admission.[].when", "maxLength", bounds.EXPRESSION_LENGTH_MAX),
        (POLICY, "selector.domains", "maxItems", bounds.SELECTOR_DOMAINS_MAX),
        (POLICY, "selector.domains.[]", "maxLength", bounds.DOMAIN_LENGTH_MAX),
        (POLICY, "selector.memoryTypes", "maxItems", bounds.SELECTOR_MEMORY_TYPES_MAX),
        (POLICY, "selector.categories", "maxItems", bounds.SELECTOR_CATEGORIES_MAX),
        (POLICY, "selector.categories.[]", "maxLength", bounds.CATEGORY_LENGTH_MAX),
        (POLICY, "selector.roles", "maxItems", bounds.SELECTOR_ROLES_MAX),
        (POLICY, "selector.roles.[]", "maxLength", bounds.ROLE_NAME_MAX),
        (POLICY, "storeRef.name", "maxLength", bounds.NAME_MAX),
        (POLICY, "storeRef.namespace", "maxLength", bounds.NAMESPACE_MAX),
        (GRANT, "subjects", "maxItems", bounds.GRANT_SUBJECTS_MAX),
        (GRANT, "subjects.[].name", "maxLength", bounds.NAME_MAX),
        (GRANT, "domains", "maxItems", bounds.GRANT_DOMAINS_MAX),
        (GRANT, "domains.[]", "maxLength", bounds.DOMAIN_LENGTH_MAX),
        (GRANT, "mayClaim", "maxItems", bounds.GRANT_MAY_CLAIM_MAX),
        (GRANT, "onBehalfOf", "maxItems", bounds.GRANT_ON_BEHALF_OF_MAX),
        (GRANT, "onBehalfOf.[]", "maxLength", bounds.PERSON_LENGTH_MAX),
        (GRANT, "role", "maxLength", bounds.ROLE_NAME_MAX),
        (GRANT, "reason", "maxLength", bounds.GRANT_REASON_MAX),
        (STORE, "endpoint.url", "maxLength", bounds.ENDPOINT_URL_MAX),
        (STORE, "endpoint.caBundle", "maxLength", bounds.CA_BUNDLE_MAX),
        (STORE, "allowedNamespaces.selector.matchLabels", "maxProperties", bounds.NAMESPACE_LABELS_MAX),
        (STORE, "allowedNamespaces.selector.matchExpressions", "maxItems", bounds.NAMESPACE_LABELS_MAX),
    ],
)
def test_the_same_bounds_hold(schema, path, bound, number):
    assert at(schema, path)[bound] == number


WHERE = POLICY["admission"]["items"]["properties"]["where"]["properties"]
SPOKEN_OF = {
    attribute.short_name: attribute
    for attribute in attributes.BY_SHORT_NAME.values()
    if structured.OPERATORS_OF[attribute.type]
}


def test_where_speaks_of_the_same_attributes():
    assert sorted(WHERE) == sorted(SPOKEN_OF)
    assert FLOOR["admission"]["items"]["properties"]["where"]["properties"] == WHERE


@pytest.mark.parametrize("name", SPOKEN_OF)
def test_where_takes_the_same_operators_and_values(name):
    attribute, schema = SPOKEN_OF[name], WHERE[name]["properties"]
    assert sorted(schema) == sorted(structured.OPERATORS_OF[attribute.type])
    if attribute.type == attributes.Type.STRING:
        assert schema["in"]["maxItems"] == attribute.choices_max
        assert sorted(schema["eq"].get("enum", [])) == sorted(attribute.words)
        assert attribute.words or schema["eq"]["maxLength"] == attribute.longest
    if attribute.type == attributes.Type.DOUBLE:
        assert (schema["gte"]["minimum"], schema["gte"]["maximum"]) == (0, 1)
    if attribute.type == attributes.Type.TIMESTAMP:
        assert schema["lt"]["maxLength"] == bounds.TIME_LENGTH_MAX
