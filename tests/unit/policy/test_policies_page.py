"""docs/policies.md: its examples are right, and its tables say what the code says."""

import re
from pathlib import Path

import pytest

from memwarden_policy import (
    attributes,
    bounds,
    casefiles,
    corpus,
    domains,
    globs,
    parse,
    policies,
    ruling,
    sourcing,
    structured,
    subset,
)
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import Action, Change, Recall, StoreDefaults

PAGE = (Path(__file__).parents[3] / "docs" / "policies.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
RESOURCES = [block for block in BLOCKS if block.startswith("apiVersion")]
CASES = [block for block in BLOCKS if "\ncases:" in block]


def table(name):
    found = re.search(rf"<!-- {name}: compared with the code by a test -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    return [line for line in found.group(1).splitlines()[2:] if line]


def words(attribute):
    return f": {', '.join(attribute.words)}" if attribute.words else ""


def test_the_table_of_attributes_is_that_of_the_code():
    everything = attributes.TABLES[attributes.Matter.CANDIDATE].attributes
    expected = [f"| `{each.name}` | {each.type} | {each.meaning}{words(each)} |" for each in everything]
    assert table("attributes") == expected


def test_the_table_of_attributes_of_memories_is_that_of_the_code():
    tables = {matter: table.by_short_name for matter, table in attributes.TABLES.items()}
    own = [
        each
        for name, each in tables[attributes.Matter.MEMORY].items()
        if name not in tables[attributes.Matter.CANDIDATE]
    ]
    expected = [f"| `{each.name}` | {each.type} | {each.meaning}{words(each)} |" for each in own]
    assert table("attributes of memories") == expected


BOUNDS = [
    ("objects of a workspace: policies, grants and the floor", bounds.OBJECTS_PER_WORKSPACE_MAX),
    ("rules of a workspace", bounds.RULES_PER_WORKSPACE_MAX),
    ("rules of a policy", bounds.RULES_PER_POLICY_MAX),
    ("characters of an expression", bounds.EXPRESSION_LENGTH_MAX),
    ("levels of an expression", bounds.EXPRESSION_DEPTH_MAX),
    ("`all`, `exists`, `exists_one`, `filter` and `map` in an expression", bounds.EXPRESSION_COMPREHENSIONS_MAX),
    ("cost of an expression, in simple operations", bounds.EXPRESSION_COST_MAX),
    ("cost of all conditions and globs of a workspace", bounds.COST_PER_WORKSPACE_MAX),
    ("attributes in a `where`", bounds.WHERE_ATTRIBUTES_MAX),
    ("values of an `in` (8 of words, 16 of content and source_uri)", bounds.WHERE_VALUES_MAX),
    ("domains, categories or roles of a selector", bounds.SELECTOR_DOMAINS_MAX),
    ("subjects of a grant", bounds.GRANT_SUBJECTS_MAX),
    ("domains of a grant", bounds.GRANT_DOMAINS_MAX),
    ("allowed or blocked sources of a policy", bounds.SOURCES_MAX),
    ("detections of a policy", bounds.DETECTIONS_MAX),
    ("rows of a table of record", bounds.RECORD_ROWS_MAX),
    ("characters of a question or a message", bounds.QUESTION_LENGTH_MAX),
    ("characters of a domain or a topic", bounds.DOMAIN_LENGTH_MAX),
    ("characters of a category or a tag", bounds.CATEGORY_LENGTH_MAX),
    ("tags of a memory", bounds.TAGS_MAX),
    ("characters of a memory", bounds.CONTENT_LENGTH_MAX),
    ("characters of a structured value, as JSON", bounds.VALUE_LENGTH_MAX),
    ("levels of a structured value", bounds.VALUE_DEPTH_MAX),
]


def test_the_table_of_bounds_is_that_of_the_code():
    assert table("bounds") == [f"| {what} | {number:,} |" for what, number in BOUNDS]


def test_bounds_named_together_are_the_same():
    assert bounds.SELECTOR_CATEGORIES_MAX == bounds.SELECTOR_ROLES_MAX == bounds.SELECTOR_DOMAINS_MAX
    assert bounds.TOPIC_LENGTH_MAX == bounds.DOMAIN_LENGTH_MAX
    assert bounds.TAG_LENGTH_MAX == bounds.CATEGORY_LENGTH_MAX
    assert bounds.QUESTION_LENGTH_MAX == bounds.MESSAGE_LENGTH_MAX
    assert (bounds.WHERE_WORDS_MAX, bounds.WHERE_LONG_TEXTS_MAX) == (8, 16)


def test_every_example_is_judged():
    assert len(RESOURCES) + len(CASES) == len(BLOCKS)
    assert len(RESOURCES) >= 6
    assert len(CASES) == 2


@pytest.mark.parametrize("block", RESOURCES)
def test_an_example_is_accepted(block):
    documents = parse.documents(block)
    assert documents
    assert [document.problems for document in documents if document.problems] == []
    found = [document.resource for document in documents]
    verdicts = compile_ruleset(found, StoreDefaults(), workspace="support").verdicts
    assert [verdict.problems for verdict in verdicts.values() if not verdict.accepted] == []


@pytest.mark.parametrize("block", CASES)
def test_an_example_of_cases_passes(block):
    suite = casefiles.read(block, {})
    assert isinstance(suite, corpus.Suite), suite
    results = list(corpus.run(suite))
    assert results
    assert [result.differences for result in results if not result.is_passed] == []


def test_every_word_a_policy_may_use_is_on_the_page():
    for function in (*subset.FUNCTIONS, *subset.MACROS):
        assert re.search(rf"\b{function}\b", PAGE), function
    for operator in subset.OPERATORS.values():
        assert f"`{operator}`" in PAGE, operator
    for operator in structured.COMPARISONS:
        assert f"`{operator}`" in PAGE, operator
    for action in Action:
        assert f"| `{action}` |" in PAGE
    for kind in (Recall, Change):
        assert all(f"`{action}`" in PAGE for action in kind)
    for field in (
        *casefiles.EXPECT_FIELDS,
        *casefiles.CALLER_FIELDS,
        *casefiles.SUITE_FIELDS,
        *casefiles.CASE_FIELDS,
        *casefiles.KNOWN_FIELDS,
        *policies.FIELDS,
        *ruling.ADMISSION_FIELDS,
        *ruling.CONFIRMATION_FIELDS,
        *sourcing.PROVENANCE_FIELDS,
        *sourcing.PROTECTION_FIELDS,
        *sourcing.FEEDBACK_FIELDS,
        *sourcing.TRUTH_FIELDS,
        *sourcing.DETECTION_FIELDS,
        *domains.FIELDS,
        *domains.RECORD_FIELDS,
        *domains.WEBHOOK_FIELDS,
        *domains.ROW_FIELDS,
    ):
        assert field in PAGE, field


def test_the_table_of_globs_is_true():
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    checked = 0
    for glob, covered, left_out in rows:
        if "*" in glob:
            pattern = globs.compiled(glob)
            assert all(pattern.matches(text) for text in re.findall(r"`([^`]+)`", covered)), glob
            assert not any(pattern.matches(text) for text in re.findall(r"`([^`]+)`", left_out)), glob
            checked += 1
    assert checked == 4
