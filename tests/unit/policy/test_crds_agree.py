"""The CRDs and the core say the same of shapes and bounds; whoever changes one hears of the other."""

import re
from pathlib import Path

import pytest
import yaml

from memwarden_policy import (
    attributes,
    bounds,
    domains,
    granting,
    policies,
    retaining,
    ruling,
    shapes,
    sourcing,
    stores,
    structured,
)
from memwarden_policy.demands import By
from memwarden_policy.model import (
    Access,
    Action,
    Change,
    MemoryType,
    Mode,
    Point,
    Reads,
    Recall,
    SourceKind,
    SubjectKind,
)
from memwarden_policy.redaction.model import KIND_LENGTH_MAX
from memwarden_policy.redaction.registry import CUSTOM_PATTERN_LENGTH_MAX, CUSTOM_RULES_MAX
from memwarden_policy.rules import Contact

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
DOMAIN = spec_of("memorydomains")
CONFIRMATION = POLICY["admission"]["items"]["properties"]["confirmation"]["properties"]
PROVENANCE = POLICY["provenance"]["properties"]
RETENTION = POLICY["retention"]["properties"]
REDACTION = POLICY["redaction"]["properties"]


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (POLICY, (*policies.FIELDS, "storeRef")),
        (FLOOR, policies.FIELDS),
        (POLICY["selector"]["properties"], policies.SELECTOR_FIELDS),
        *((POLICY[point]["items"]["properties"], ruling.FIELDS_OF[point]) for point in Point),
        (CONFIRMATION, ruling.CONFIRMATION_FIELDS),
        (PROVENANCE, sourcing.PROVENANCE_FIELDS),
        (PROVENANCE["trust"]["properties"], tuple(SourceKind)),
        (PROVENANCE["protect"]["items"]["properties"], sourcing.PROTECTION_FIELDS),
        (POLICY["feedback"]["properties"], sourcing.FEEDBACK_FIELDS),
        (POLICY["sourceOfTruth"]["properties"], sourcing.TRUTH_FIELDS),
        (POLICY["sourceOfTruth"]["properties"]["detect"]["items"]["properties"], sourcing.DETECTION_FIELDS),
        (REDACTION, sourcing.REDACTION_FIELDS),
        (REDACTION["rules"]["items"]["properties"], sourcing.REDACTION_RULE_FIELDS),
        (RETENTION, retaining.FIELDS),
        (RETENTION["lowConfidence"]["properties"], retaining.LOW_FIELDS),
        (RETENTION["rules"]["items"]["properties"], retaining.RULE_FIELDS),
        (DOMAIN, domains.FIELDS),
        (DOMAIN["systemOfRecord"]["properties"], domains.RECORD_FIELDS),
        (DOMAIN["systemOfRecord"]["properties"]["webhook"]["properties"], domains.WEBHOOK_FIELDS),
        (
            DOMAIN["systemOfRecord"]["properties"]["table"]["properties"]["rows"]["items"]["properties"],
            domains.ROW_FIELDS,
        ),
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
        (POLICY, "recall.[].action", Recall),
        (POLICY, "update.[].action", Change),
        (POLICY, "delete.[].action", Change),
        (POLICY, "admission.[].confirmation.by", By),
        (POLICY, "provenance.protect.[].statedBy.[]", SourceKind),
        (POLICY, "provenance.protect.[].from.[]", SourceKind),
        (GRANT, "access", Access),
        (GRANT, "subjects.[].kind", SubjectKind),
        (GRANT, "mayClaim.[]", SourceKind),
        (POLICY, "redaction.ownerPII", Contact),
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
        *((POLICY, f"{point}", "maxItems", bounds.RULES_PER_POLICY_MAX) for point in Point),
        (POLICY, "admission.[].question", "maxLength", bounds.QUESTION_LENGTH_MAX),
        (POLICY, "admission.[].message", "maxLength", bounds.MESSAGE_LENGTH_MAX),
        (POLICY, "admission.[].confirmation.expiresAfter", "maxLength", bounds.DURATION_LENGTH_MAX),
        (POLICY, "admission.[].confirmation.role", "maxLength", bounds.ROLE_NAME_MAX),
        (POLICY, "provenance.allowedSources", "maxItems", bounds.SOURCES_MAX),
        (POLICY, "provenance.blockedSources", "maxItems", bounds.SOURCES_MAX),
        (POLICY, "provenance.blockedSources.[]", "maxLength", bounds.SOURCE_GLOB_LENGTH_MAX),
        (POLICY, "provenance.protect", "maxItems", bounds.PROTECTIONS_MAX),
        (POLICY, "provenance.protect.[].statedBy", "maxItems", bounds.SOURCE_KINDS_MAX),
        (POLICY, "sourceOfTruth.categories", "maxItems", bounds.TRUTH_CATEGORIES_MAX),
        (POLICY, "sourceOfTruth.detect", "maxItems", bounds.DETECTIONS_MAX),
        (POLICY, "redaction.rules", "maxItems", CUSTOM_RULES_MAX),
        (POLICY, "redaction.rules.[].kind", "maxLength", KIND_LENGTH_MAX),
        (POLICY, "redaction.rules.[].pattern", "maxLength", CUSTOM_PATTERN_LENGTH_MAX),
        (POLICY, "retention.rules", "maxItems", bounds.RETENTION_RULES_MAX),
        (POLICY, "retention.rules.[].name", "maxLength", bounds.RULE_NAME_MAX),
        (POLICY, "retention.ttl", "maxLength", bounds.DURATION_LENGTH_MAX),
        (DOMAIN, "domain", "maxLength", bounds.DOMAIN_LENGTH_MAX),
        (DOMAIN, "owner", "maxLength", bounds.PERSON_LENGTH_MAX),
        (DOMAIN, "systemOfRecord.webhook.url", "maxLength", bounds.ENDPOINT_URL_MAX),
        (DOMAIN, "systemOfRecord.webhook.timeoutSeconds", "maximum", bounds.WEBHOOK_TIMEOUT_SECONDS_MAX),
        (DOMAIN, "systemOfRecord.webhook.timeoutSeconds", "default", domains.TIMEOUT_SECONDS_DEFAULT),
        (DOMAIN, "systemOfRecord.table.rows", "maxItems", bounds.RECORD_ROWS_MAX),
        (DOMAIN, "systemOfRecord.table.rows.[].subject", "maxLength", bounds.SUBJECT_LENGTH_MAX),
        (DOMAIN, "systemOfRecord.table.rows.[].value", "maxLength", bounds.RECORD_VALUE_LENGTH_MAX),
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


POINTS = {Point.ADMISSION: attributes.Matter.CANDIDATE} | dict.fromkeys(
    [Point.RECALL, Point.UPDATE, Point.DELETE], attributes.Matter.MEMORY
)


def where_at(point):
    return POLICY[point]["items"]["properties"]["where"]["properties"]


def spoken_of(point):
    table = attributes.TABLES[POINTS[point]]
    return {name: each for name, each in table.by_short_name.items() if structured.OPERATORS_OF[each.type]}


@pytest.mark.parametrize("point", POINTS)
def test_where_speaks_of_the_same_attributes(point):
    assert sorted(where_at(point)) == sorted(spoken_of(point))


def test_a_detection_speaks_of_what_admission_speaks_of():
    detection = POLICY["sourceOfTruth"]["properties"]["detect"]["items"]["properties"]
    assert detection["where"] == POLICY["admission"]["items"]["properties"]["where"]


def test_the_floor_takes_the_same_as_a_policy():
    assert {name: schema for name, schema in POLICY.items() if name != "storeRef"} == FLOOR


@pytest.mark.parametrize(("point", "name"), [(point, name) for point in POINTS for name in spoken_of(point)])
def test_where_takes_the_same_operators_and_values(point, name):
    attribute, schema = spoken_of(point)[name], where_at(point)[name]["properties"]
    assert sorted(schema) == sorted(structured.OPERATORS_OF[attribute.type])
    if attribute.type == attributes.Type.STRING:
        assert schema["in"]["maxItems"] == attribute.choices_max
        assert sorted(schema["eq"].get("enum", [])) == sorted(attribute.words)
        assert attribute.words or schema["eq"]["maxLength"] == attribute.longest
    if attribute.type == attributes.Type.DOUBLE:
        assert (schema["gte"]["minimum"], schema["gte"]["maximum"]) == (0, 1)
    if attribute.type == attributes.Type.TIMESTAMP:
        assert schema["lt"]["maxLength"] == bounds.TIME_LENGTH_MAX


@pytest.mark.parametrize(
    ("text", "is_taken"), [("30d", True), ("1w", True), ("45m", True), ("0d", False), ("30", False), ("1y", False)]
)
def test_durations_look_alike_to_both(text, is_taken):
    assert (shapes.duration(text) is not None) == is_taken
    assert (re.fullmatch(CONFIRMATION["expiresAfter"]["pattern"], text) is not None) == is_taken
