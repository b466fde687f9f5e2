"""effective, plan and import: what they print, what they say is wrong, and their exit codes."""

import json

import pytest
import yaml
from click.testing import CliRunner

from memwarden.cli import main

GRANT = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryAccessGrant
metadata: {name: writes, namespace: support}
spec: {subjects: [{kind: ServiceAccount, name: agent}], role: desk, domains: ["customers/**"], access: Write}
"""
POLICY = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata: {name: facts, namespace: support}
spec:
  priority: 5
  selector: {domains: ["customers/*"]}
  admission:
    - {name: sure, when: candidate.confidence > 0.7, action: Accept}
    - {name: stale, where: {observed_at: {lt: now() - 30d}, source: {in: [retrieval, imported]}}, action: Reject}
  feedback: {confirm: 0.2}
---
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata: {name: others, namespace: support}
spec: {selector: {roles: [night]}, recall: [{name: hide, action: Hide}]}
---
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata: {name: elsewhere, namespace: sales}
spec: {admission: [{name: no-sales, action: Reject}]}
---
apiVersion: memwarden.dev/v1alpha1
kind: ClusterMemoryPolicy
metadata: {name: floor}
spec: {mode: Audit, recall: [{name: mark, action: Flag}]}
"""
STRICT = """\
apiVersion: memwarden.dev/v1alpha1
kind: MemoryPolicy
metadata: {name: strict, namespace: support}
spec:
  admission: [{name: no-guesses, where: {source: {eq: reasoning}}, action: Reject}]
  recall: [{name: old, where: {created_at: {lt: now() - 365d}}, action: Hide}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "grant.yaml").write_text(GRANT)
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "strict.yml").write_text(STRICT)
    return tmp_path


def memwarden(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def test_the_effective_policy_is_printed_layer_by_layer(folder):
    result = memwarden(
        "effective", folder / "grant.yaml", folder / "policy.yaml", "--as", "serviceAccount:support/agent"
    )
    assert result.exit_code == 0
    assert result.output == (
        "ServiceAccount:support/agent\n"
        "  roles: desk\n"
        "  access: Write in customers/**\n"
        "  may claim: agent_extracted, reasoning, retrieval, tool_result\n"
        "  may act for: none\n"
        "\n"
        "floor:\n"
        "  ClusterMemoryPolicy/floor (priority 0, on trial): everything\n"
        "    recall mark: Flag when always\n"
        "\n"
        "namespace:\n"
        "  MemoryPolicy/facts (priority 5): domains customers/*\n"
        "    admission sure: Accept when candidate.confidence > 0.7\n"
        "    admission stale: Reject when observed_at lt now() - 30d and source in [imported, retrieval]\n"
        "    and feedback\n"
        "\n"
        "where no rule of the namespace matches: RequireConfirmation\n"
    )


def test_the_effective_policy_of_a_domain_is_what_can_speak_there(folder):
    arguments = ["--as", "serviceAccount:support/agent", "--domain", "board", "-o", "json"]
    shown = json.loads(memwarden("effective", folder, *arguments).output)
    assert [each["policy"] for each in shown["policies"]] == ["ClusterMemoryPolicy/floor", "MemoryPolicy/strict"]
    assert shown["access_here"] == "None"
    assert shown["access"] == [{"domains": "customers/**", "access": "Write"}]


def test_who_is_asked_about_must_be_somebody(folder):
    assert memwarden("effective", folder, "--as", "agent").exit_code == 2


def test_a_broken_resource_is_told_beside_the_rest(folder):
    (folder / "policy.yaml").write_text(POLICY.replace("candidate.confidence", "candidate.confidnce"))
    result = memwarden("effective", folder, "--as", "user:alice", "-n", "support")
    assert result.exit_code == 1
    assert "did you mean `candidate.confidence`" in result.output


def memories(folder, *changes):
    usual = {
        "domain": "customers/acme",
        "content": "Acme pays by invoice.",
        "source": "agent_extracted",
        "created_at": "2026-11-01T00:00:00Z",
    }
    lines = [json.dumps(usual | {"id": f"m{number}"} | change) for number, change in enumerate(changes)]
    (folder / "memories.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "memories.jsonl"


def test_a_plan_counts_what_would_change(folder):
    export = memories(folder, {}, {"source": "reasoning"}, {"created_at": "2020-01-01T00:00:00Z"})
    result = memwarden("plan", "-f", folder / "strict.yml", "-n", "support", "--against", export)
    assert result.exit_code == 0
    assert result.output == (
        "3 memories looked at\n"
        "  wouldReject: 1\n"
        "  wouldHide: 1\n"
        "for example:\n"
        "  wouldHide: m2 in customers/acme: Hide by MemoryPolicy/strict/old\n"
        "  wouldReject: m1 in customers/acme: Reject by MemoryPolicy/strict/no-guesses\n"
    )


def test_a_plan_is_made_against_what_is_in_force(folder):
    export = memories(folder, {"source": "reasoning"})
    result = memwarden(
        *("plan", "-f", folder / "strict.yml", "--current", folder / "strict.yml", "-n", "support"),
        *("--against", export, "-o", "json"),
    )
    plan = json.loads(result.output)
    assert plan["memories"] == 1
    assert set(plan["counts"].values()) == {0}


def test_lines_that_are_no_memory_are_told_with_their_number(folder):
    export = folder / "memories.jsonl"
    export.write_text('{"domain": "a"}\nnot json\n\n[]\n')
    result = memwarden("plan", "-f", folder / "strict.yml", "-n", "support", "--against", export)
    assert result.exit_code == 1
    assert "memories.jsonl:1: content: `content` is required" in result.output
    assert "memories.jsonl:2: expected one memory as JSON" in result.output
    assert "memories.jsonl:4: expected one memory as a JSON object" in result.output


def test_a_plan_needs_memories_or_a_service(folder):
    assert memwarden("plan", "-f", folder / "strict.yml").exit_code == 2


ROWS = [
    {
        "rule_id": "R-1",
        "org_id": "acme",
        "category": "preference",
        "condition": {"confidence": {"gte": 0.8}, "is_sensitive": False},
        "action": "auto_confirm",
        "priority": 10,
        "created_at": "2026-01-02T00:00:00Z",
        "retention": "permanent_until_revoked",
    },
    {
        "rule_id": "R-0",
        "org_id": "acme",
        "category": "*",
        "condition": {"observed_at": {"lt": "now() - 30 days"}},
        "action": "require_user_approval",
        "created_at": "2026-01-01T00:00:00Z",
    },
]


def imported(folder, rows, name="rules.json"):
    (folder / name).write_text(json.dumps(rows))
    return memwarden("import", folder / name, "--map", "acme=support")


def test_rows_become_policies_in_order_of_creation(folder):
    result = imported(folder, ROWS)
    assert result.exit_code == 0
    older, newer = yaml.safe_load_all(result.output)
    assert older["metadata"]["annotations"] == {
        "memwarden.dev/rule-id": "R-0",
        "memwarden.dev/created-at": "2026-01-01T00:00:00Z",
    }
    assert older["spec"] == {
        "priority": 0,
        "admission": [
            {"name": "r-0", "where": {"observed_at": {"lt": "now() - 30 days"}}, "action": "RequireConfirmation"}
        ],
    }
    assert newer["metadata"]["namespace"] == "support"
    assert newer["spec"] == {
        "priority": 10,
        "selector": {"categories": ["preference"]},
        "admission": [
            {
                "name": "r-1",
                "where": {"confidence": {"gte": 0.8}, "is_sensitive": {"eq": False}},
                "action": "Accept",
            }
        ],
        "retention": {"permanentUntilRevoked": True},
    }


@pytest.mark.parametrize(
    ("change", "retention"),
    [
        ({"retention": "ttl_7d", "condition": None}, {"ttl": "7d"}),
        (
            {"retention": "ttl_30d", "condition": {"is_sensitive": True}},
            {
                "rules": [
                    {
                        "name": "r-1",
                        "where": {"is_sensitive": {"eq": True}, "created_at": {"lte": "now() - 30d"}},
                        "action": "Delete",
                    }
                ]
            },
        ),
        ({"retention": "confidence_based"}, {"lowConfidence": {"below": 0.3, "for": "30d", "action": "Delete"}}),
        (
            {"action": "auto_delete", "retention": None, "condition": {"last_confirmed_at": {"lt": "now() - 30 days"}}},
            {"rules": [{"name": "r-1", "where": {"last_confirmed_at": {"lt": "now() - 30 days"}}, "action": "Delete"}]},
        ),
    ],
)
def test_what_a_table_says_of_ends_is_retention(folder, change, retention):
    result = imported(folder, [ROWS[0] | change])
    assert result.exit_code == 0, result.stderr
    assert yaml.safe_load(result.stdout)["spec"]["retention"] == retention


def test_what_is_imported_is_in_order_and_decides_as_the_table_says(folder):
    (folder / "imported.yaml").write_text(imported(folder, ROWS).output)
    assert memwarden("check", folder / "imported.yaml").exit_code == 0
    (folder / "cases.yaml").write_text("""\
workspace: support
now: 2026-12-01T00:00:00Z
store: {admissionDefault: Reject}
files: [imported.yaml, grant.yaml]
cases:
  - name: a sure preference is confirmed
    as: {serviceAccount: agent}
    propose: {domain: customers/a, category: preference, content: x, source: reasoning, confidence: 0.8}
    expect: {action: Accept, rules: [MemoryPolicy/r-1/r-1]}
  - name: an old one of another category needs approval
    as: {serviceAccount: agent}
    propose: {domain: customers/a, category: goal, content: x, source: reasoning, observed_at: now() - 31d}
    expect: {action: RequireConfirmation, rules: [MemoryPolicy/r-0/r-0]}
""")
    result = memwarden("test", folder / "cases.yaml")
    assert result.exit_code == 0, result.output


def test_csv_says_the_same(folder):
    (folder / "rules.csv").write_text(
        "rule_id,org_id,category,condition,action,priority,created_at,retention\n"
        'R-1,acme,preference,"{""confidence"": {""gte"": 0.8}, ""is_sensitive"": false}",auto_confirm,10,'
        "2026-01-02T00:00:00Z,permanent_until_revoked\n"
        'R-0,acme,*,"{""observed_at"": {""lt"": ""now() - 30 days""}}",require_user_approval,,2026-01-01T00:00:00Z,\n'
    )
    result = memwarden("import", folder / "rules.csv", "--map", "acme=support")
    assert (result.exit_code, result.output) == (0, imported(folder, ROWS).output)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"action": "auto_delete", "condition": None}, "auto_delete needs a condition"),
        ({"action": "drop"}, "the action 'drop' is not one of auto_confirm"),
        ({"org_id": "globex"}, "say by --map globex=NAMESPACE"),
        ({"condition": {"confidnce": 1}}, "did you mean `confidence`?"),
        ({"condition": {"last_confirmed_at": {"lt": "now() - 30 days"}}}, "unknown attribute `last_confirmed_at`"),
        ({"condition": "{"}, "the condition is no JSON"),
        ({"priority": "high"}, "the priority 'high' is no whole number"),
        ({"rule_id": "!"}, "no name can be made of the rule_id '!'"),
        ({"rule_id": "r 0"}, "another row has the same rule_id"),
        ({"ttl": 7}, "unknown field `ttl`"),
        ({"retention": "ttl_1y"}, "the retention 'ttl_1y' is not one of"),
    ],
)
def test_what_a_row_cannot_say_is_told_and_the_rest_is_written(folder, change, words):
    result = imported(folder, [ROWS[0] | change, ROWS[1]])
    assert result.exit_code == 1
    assert words in result.stderr
    assert "rules.json: row 1 (" in result.stderr
    assert "memwarden.dev/rule-id: R-0" in result.stdout
