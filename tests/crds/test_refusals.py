"""What the API server refuses at apply, each with words that tell what to do."""

import json
import subprocess

import pytest
import yaml

from local import processes
from staging.stage import floor, grant, policy, rule


def store(**spec):
    endpoint = spec.pop("url", "https://memwarden.example.svc:8443")
    metadata = {"name": "s", "namespace": "default"}
    spec = {"endpoint": {"url": endpoint}, **spec}
    return {"apiVersion": "memwarden.dev/v1alpha1", "kind": "MemoryStore", "metadata": metadata, "spec": spec}


def domain(**spec):
    metadata = {"name": "d", "namespace": "default"}
    spec = {"domain": "prices/**", **spec}
    return {"apiVersion": "memwarden.dev/v1alpha1", "kind": "MemoryDomain", "metadata": metadata, "spec": spec}


def where(**conditions):
    return policy("p", "default", {"name": "r", "action": "Reject", "where": conditions})


def subject(kind="ServiceAccount", name="a", **more):
    return [{"kind": kind, "name": name, **more}]


ACCOUNT = {"kind": "ServiceAccount", "name": "a"}
RULE = rule("r", "Reject")
REFUSED = {
    "a condition in both forms": (
        policy("p", "default", {"name": "r", "action": "Reject", "when": "true", "where": {"topic": {"eq": "x"}}}),
        "give the condition as `when` or as `where`, not as both",
    ),
    "a policy that says nothing": (
        policy("p", "default", admission=[]),
        "a policy without rules in `admission` says nothing",
    ),
    "a floor that says nothing": (floor("p"), "a policy without rules in `admission` says nothing"),
    "a question without anything that waits": (
        policy("p", "default", rule("r", "Reject") | {"question": "Is it so?"}),
        "`question` and `confirmation` go with an action that waits",
    ),
    "advice without a refusal": (
        policy("p", "default", rule("r", "Accept") | {"message": "log it"}),
        "`message` goes with the action Reject",
    ),
    "a reference to what is refused": (
        policy("p", "default", rule("r", "Reject") | {"reference": True}),
        "`reference` says how to keep",
    ),
    "a role that nobody is asked for": (
        policy("p", "default", rule("r", "RequireConfirmation") | {"confirmation": {"by": "Admin", "role": "lead"}}),
        "`role` goes with by: Role",
    ),
    "a time without a unit": (
        policy("p", "default", rule("r", "RequireConfirmation") | {"confirmation": {"expiresAfter": "30"}}),
        "expiresAfter in body should match",
    ),
    "an action of writing on reading": (
        policy("p", "default", RULE, recall=[rule("r", "Reject")]),
        'supported values: "Allow", "Flag", "Hide"',
    ),
    "a detection that knows nothing": (
        policy("p", "default", RULE, sourceOfTruth={"categories": ["price"], "detect": [{"category": "price"}]}),
        "say by `when` or by `where` how the category is known",
    ),
    "a term and none": (
        policy("p", "default", retention={"ttl": "7d", "permanentUntilRevoked": True}),
        "`ttl` gives a term",
    ),
    "a term in words": (policy("p", "default", retention={"ttl": "7 days"}), "retention.ttl in body should match"),
    "an end for whom it was proposed by": (
        policy("p", "default", selector={"roles": ["lead"]}, retention={"ttl": "7d"}),
        "leave `selector.roles` out",
    ),
    "an ending that hides": (
        policy("p", "default", retention={"lowConfidence": {"action": "Hide"}}),
        'supported values: "Delete"',
    ),
    "an end without a condition": (
        policy("p", "default", retention={"rules": [{"name": "r", "action": "Delete"}]}),
        "rules[0].where: Required value",
    ),
    "trust above certainty": (
        policy("p", "default", RULE, provenance={"trust": {"imported": 1.1}}),
        "should be less than or equal to 1",
    ),
    "a domain that says nothing": (domain(), "name an owner, a systemOfRecord, or both"),
    "two systems of record": (
        domain(systemOfRecord={"webhook": {"url": "https://x"}, "table": {"rows": [{"subject": "a", "value": "b"}]}}),
        "say one of `webhook` and `table`",
    ),
    "a system of record in plain text": (domain(systemOfRecord={"webhook": {"url": "http://erp"}}), "should match"),
    "two rules of one name": (policy("p", "default", RULE, RULE), "Duplicate value"),
    "an unknown action": (
        policy("p", "default", rule("r", "Redact")),
        'supported values: "Accept", "RequireConfirmation"',
    ),
    "an unknown mode": (policy("p", "default", mode="Off"), 'supported values: "Enforce", "Audit"'),
    "a rule without a name": (policy("p", "default", {"action": "Reject"}), "admission[0].name: Required value"),
    "a rule name in capitals": (policy("p", "default", rule("No", "Reject")), "admission[0].name in body should match"),
    "an expression beyond the bound": (
        policy("p", "default", rule("r", "Reject", "true ||" * 300 + "true")),
        "may not be more than 2048",
    ),
    "an empty expression": (
        policy("p", "default", {**RULE, "when": ""}),
        "should be at least 1 chars",
    ),
    "65 rules": (policy("p", "default", *(rule(f"r{n}", "Reject") for n in range(65))), "must have at most 64 items"),
    "a priority beyond the bound": (policy("p", "default", priority=2_000_000), "less than or equal to 1000000"),
    "a text where a number belongs": (where(confidence={"gt": "0.7"}), "must be of type number"),
    "a confidence above 1": (where(confidence={"gt": 7}), "less than or equal to 1"),
    "a text where a bool belongs": (where(is_sensitive={"eq": "yes"}), "must be of type boolean"),
    "an unknown attribute": (where(confidense={"gt": 0.7}), 'unknown field "spec.admission[0].where.confidense"'),
    "an operator that does not fit": (
        where(is_sensitive={"gt": True}),
        'unknown field "spec.admission[0].where.is_sensitive.gt"',
    ),
    "an unknown source": (where(source={"eq": "gossip"}), "Unsupported value"),
    "an empty where": (where(), "should have at least 1 properties"),
    "an empty comparison": (where(topic={}), "should have at least 1 properties"),
    "an unknown field": (policy("p", "default", guidance="be nice"), 'unknown field "spec.guidance"'),
    "a floor that names a store": (
        {**floor("p", RULE), "spec": {"admission": [RULE], "storeRef": {"name": "main"}}},
        'unknown field "spec.storeRef"',
    ),
    "a store reference without a name": (
        policy("p", "default", ref={"namespace": "x"}),
        "storeRef.name: Required value",
    ),
    "a grant of nothing": (
        grant("g", "default", reason="why", access=None, domains=None),
        "a grant must give something",
    ),
    "domains without access": (
        grant("g", "default", mayClaim=["imported"], domains=["**"]),
        "domains and access go together",
    ),
    "access without domains": (grant("g", "default", access="Read"), "domains and access go together"),
    "a role of a role": (
        grant("g", "default", role="lead", subjects=subject("Role")),
        "a role cannot be given to a Role",
    ),
    "a namespace of a user": (
        grant("g", "default", subjects=subject("User", namespace="x")),
        "namespace goes with kind ServiceAccount only",
    ),
    "an account in its long form": (
        grant("g", "default", subjects=subject(name="system:serviceaccount:x:y")),
        "give its namespace in `namespace`",
    ),
    "nobody": (
        grant("g", "default", subjects=subject("Group", "system:unauthenticated")),
        "nobody can be given rights without a credential",
    ),
    "a name with a space at its end": (
        grant("g", "default", subjects=subject("User", "bob ")),
        "must not begin or end with a space",
    ),
    "no subjects": (grant("g", "default", subjects=[]), "should have at least 1 items"),
    "65 subjects": (
        grant("g", "default", subjects=[{"kind": "User", "name": f"u{n}"} for n in range(65)]),
        "at most 64 items",
    ),
    "a user who acts for others": (
        grant("g", "default", onBehalfOf=["*"], subjects=subject("User")),
        "onBehalfOf is for agents; a User or Group acts for nobody else",
    ),
    "a claim of confirmation": (
        grant("g", "default", mayClaim=["user_confirmed"]),
        "it comes from a person's confirmation alone",
    ),
    "a claim of a system rule": (grant("g", "default", mayClaim=["system_rule"]), "it comes from a policy alone"),
    "an end before the beginning": (
        grant("g", "default", notBefore="2026-12-02T00:00:00Z", expiresAt="2026-12-01T00:00:00Z"),
        "expiresAt must be after notBefore",
    ),
    "an end that is no time": (grant("g", "default", expiresAt="tomorrow"), "must be of type date-time"),
    "an unknown access": (
        grant("g", "default", access="Owner", domains=["**"]),
        'supported values: "None", "Read", "Write", "Admin"',
    ),
    "a store by plain http": (store(url="http://memwarden.example.svc:8080"), "must be https"),
    "a store that is no URL": (store(url="memwarden.example.svc"), "must be a URL with a host"),
    "a store of another scheme": (store(url="file:///etc/passwd"), "must be a URL with a host"),
    "a store with a path": (store(url="https://example.com/api"), "must have no path and no query"),
    "a store with a password": (store(url="https://me:pw@example.com"), "must hold no user, password or fragment"),
    "certificates that are none": (
        {**store(), "spec": {"endpoint": {"url": "https://a.example", "caBundle": "abc"}}},
        "must be PEM text",
    ),
    "a selector that is not asked for": (
        store(allowedNamespaces={"from": "All", "selector": {"matchLabels": {"a": "b"}}}),
        "selector goes with `from` Selector",
    ),
    "a selector that is missing": (store(allowedNamespaces={"from": "Selector"}), "selector goes with `from` Selector"),
    "In without values": (
        store(
            allowedNamespaces={"from": "Selector", "selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
        ),
        "values go with the operators In and NotIn",
    ),
    "a store without an address": ({**store(), "spec": {}}, "spec.endpoint: Required value"),
    "a reserved name": (policy("builtin-x", "default", RULE), "stand for Memwarden's own rules in decisions"),
    "a namespace of Kubernetes": (policy("p", "kube-system", RULE), "a namespace of Kubernetes itself is no workspace"),
}


def strip(document):
    """Leave out what a row sets to None."""
    return {**document, "spec": {name: value for name, value in document["spec"].items() if value is not None}}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_words_that_tell_what_to_do(api, name):
    document, message = REFUSED[name]
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        api.kubectl("create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(strip(document)))
    assert message in refusal.value.stderr


def test_server_side_apply_refuses_unknown_fields_too(api):
    text = yaml.safe_dump(policy("p", "default", guidance="be nice"))
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        api.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", stdin=text)
    assert ".spec.guidance: field not declared in schema" in refusal.value.stderr


def test_defaults_are_filled_in_and_a_status_speaks_of_no_generation_yet(api):
    api.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(policy("defaults", "default", RULE)))
    document = json.loads(api.kubectl("get", "mpol", "defaults", "-o", "json"))
    assert document["status"] == {"observedGeneration": -1}
    assert (document["spec"]["mode"], document["spec"]["active"], document["spec"]["priority"]) == ("Enforce", True, 0)


def is_taken(api, document):
    try:
        api.kubectl("create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(document))
    except subprocess.CalledProcessError:
        return False
    return True


def replace_rules(api, rules):
    """Put other rules on the spec of a grant, and return those that were there."""
    definition = json.loads(api.kubectl("get", "crd", "memoryaccessgrants.memwarden.dev", "-o", "json"))
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    before, spec["x-kubernetes-validations"] = spec.get("x-kubernetes-validations", []), rules
    api.kubectl("replace", "-f", "-", stdin=json.dumps(definition))
    return before


def test_an_object_that_a_later_schema_refuses_still_takes_its_status(api):
    """Rules sit on the parts that they judge, so that a status write never judges the spec again."""
    bad = grant("old", "default", mayClaim=["system_rule"])
    rules = replace_rules(api, [])
    try:
        processes.wait_for(lambda: is_taken(api, bad), "A schema without rules", 10)
        api.kubectl("create", "-f", "-", stdin=yaml.safe_dump(bad))
    finally:
        replace_rules(api, rules)
    other = {**bad, "metadata": {"name": "new", "namespace": "default"}}
    processes.wait_for(lambda: not is_taken(api, other), "A schema with rules", 10)
    patch = '{"status": {"observedGeneration": 1}}'
    api.kubectl("patch", "mgrant", "old", "--subresource=status", "--type=merge", "-p", patch)
    api.kubectl("label", "mgrant", "old", "colour=red")
    api.kubectl("delete", "mgrant", "old")
