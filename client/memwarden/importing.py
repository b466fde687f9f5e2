"""`memwarden import`: turns rows of a table of rules into MemoryPolicies, and says what a policy cannot say."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

import yaml

from memwarden.files import Source
from memwarden_policy import bounds, parse, yamltext
from memwarden_policy.compile import compile_ruleset
from memwarden_policy.model import API_VERSION, Action, Kind, Resource, StoreDefaults

FIELDS: Final = (
    "rule_id",
    "org_id",
    "category",
    "condition",
    "action",
    "priority",
    "created_at",
    "retention",
)
ACTIONS: Final = {"auto_confirm": Action.ACCEPT, "require_user_approval": Action.REQUIRE_CONFIRMATION}
ENDING_ACTION: Final = "auto_delete"
TTLS: Final = {"ttl_7d": "7d", "ttl_30d": "30d"}
RETENTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{name: {"ttl": span} for name, span in TTLS.items()},
    "confidence_based": {"lowConfidence": {"below": 0.3, "for": "30d", "action": "Delete"}},
    "permanent_until_revoked": {"permanentUntilRevoked": True},
}
EVERY_CATEGORY: Final = "*"
RULE_ID: Final = "memwarden.dev/rule-id"
CREATED_AT: Final = "memwarden.dev/created-at"
ROWS_MAX = bounds.OBJECTS_PER_WORKSPACE_MAX


class UnusableRowError(Exception):
    """What a row says has no form in a policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The policies as YAML text, and what could not be said, a line each."""

    text: str
    faults: tuple[str, ...]


def read(source: Source, places: Mapping[str, str]) -> Imported:
    """Turn each row into a policy of the namespace that its organisation is mapped to, in order of creation."""
    rows = _rows(source)
    if isinstance(rows, str):
        return Imported(text="", faults=(f"{source.name}: {rows}",))
    documents, faults, names = [], [], set[tuple[str, str]]()
    for number, row in sorted(enumerate(rows, 1), key=lambda each: str(_get(each[1], "created_at"))):
        where = f"{source.name}: row {number} ({_get(row, 'rule_id') or 'without rule_id'})"
        try:
            document = _policy(row, places)
        except UnusableRowError as error:
            faults.append(f"{where}: {error}")
            continue
        key = (document["metadata"]["namespace"], document["metadata"]["name"])
        problem = "another row has the same rule_id" if key in names else _problem(document)
        if problem:
            faults.append(f"{where}: {problem}")
            continue
        names.add(key)
        documents.append(document)
    text = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True) if documents else ""
    return Imported(text=text, faults=tuple(faults))


def _rows(source: Source) -> list[Mapping[str, Any]] | str:
    if source.fault:
        return source.fault
    read: Any
    if PurePath(source.name).suffix == ".csv":
        try:
            read = list(csv.DictReader(io.StringIO(source.text), strict=True))
        except csv.Error as error:
            return f"is no CSV: {error}"
    else:
        documents = yamltext.read(source.text)  # JSON is YAML.
        if isinstance(documents, yamltext.Unreadable):
            return f"line {documents.line}: {documents.message}"
        values = [each.value for each in documents]
        read = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if not all(isinstance(row, Mapping) for row in read):
        return "expected a list of rows"
    return read if len(read) <= ROWS_MAX else f"at most {ROWS_MAX} rows, found {len(read)}"


def _get(row: Mapping[str, Any], name: str) -> Any:
    """Return a field; an empty cell is none."""
    value = row.get(name)
    return None if value == "" else value


def _policy(row: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    unknown = [str(name) for name in row if name not in FIELDS]
    if unknown:
        raise UnusableRowError(f"unknown field `{unknown[0]}`; a row has {', '.join(FIELDS)}")
    rule_id, organisation = _get(row, "rule_id"), _get(row, "org_id")
    if rule_id is None or organisation is None:
        raise UnusableRowError("rule_id and org_id are required")
    if str(organisation) not in places:
        raise UnusableRowError(f"say by --map {organisation}=NAMESPACE where the rules of {organisation} belong")
    name = _name(str(rule_id))
    rule = {"name": name[: bounds.RULE_NAME_MAX].strip("-"), **_condition(row)}
    spec: dict[str, Any] = {"priority": _priority(row)}
    category = _get(row, "category") or EVERY_CATEGORY
    if category != EVERY_CATEGORY:
        spec["selector"] = {"categories": [str(category)]}
    created = _get(row, "created_at")
    annotations = {RULE_ID: str(rule_id)} | ({CREATED_AT: str(created)} if created is not None else {})
    return {
        "apiVersion": API_VERSION,
        "kind": Kind.MEMORY_POLICY.value,
        "metadata": {"name": name, "namespace": places[str(organisation)], "annotations": annotations},
        "spec": spec | _said(row, rule),
    }


def _said(row: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the row says: a rule on writing or on ending, and how long what it speaks of is kept."""
    word, term = _get(row, "action"), _retention(row, rule)
    if word == ENDING_ACTION:
        if "where" not in rule:
            raise UnusableRowError(
                f"{ENDING_ACTION} needs a condition: without one it would delete whatever is written"
            )
        ends = {**rule, "action": "Delete"}
        return {"retention": {**term, "rules": [ends]}}
    if word not in ACTIONS:
        raise UnusableRowError(f"the action {word!r} is not one of {', '.join((*ACTIONS, ENDING_ACTION))}")
    admission = {"admission": [{**rule, "action": ACTIONS[word].value}]}
    return admission | ({"retention": term} if term else {})


def _retention(row: Mapping[str, Any], rule: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `retention`; a term of a row with a condition is the term of what the condition holds for."""
    word = _get(row, "retention")
    if word is None:
        return {}
    if word not in RETENTIONS:
        raise UnusableRowError(f"the retention {word!r} is not one of {', '.join(RETENTIONS)}")
    if word in TTLS and "where" in rule and _get(row, "action") != ENDING_ACTION:
        where = {**rule["where"], "created_at": {"lte": f"now() - {TTLS[word]}"}}
        return {"rules": [{"name": rule["name"], "where": where, "action": "Delete"}]}
    return RETENTIONS[word]


def _name(rule_id: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", rule_id.lower()).strip("-")[: bounds.NAME_MAX].strip("-")
    if not name:
        raise UnusableRowError(f"no name can be made of the rule_id {rule_id!r}")
    return name


def _priority(row: Mapping[str, Any]) -> int:
    value = _get(row, "priority")
    try:
        return int(value) if value is not None else 0
    except (TypeError, ValueError):
        raise UnusableRowError(f"the priority {value!r} is no whole number") from None


def _condition(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return `where`; a bare value means that the attribute is that value."""
    value = _get(row, "condition")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise UnusableRowError("the condition is no JSON") from None
    if not value:
        return {}
    if not isinstance(value, Mapping):
        raise UnusableRowError("the condition is no JSON object")
    return {"where": {name: test if isinstance(test, Mapping) else {"eq": test} for name, test in value.items()}}


def _problem(document: Mapping[str, Any]) -> str:
    """Return the first thing that the compiler would not take; "" where it takes all."""
    resource = parse.resource(document)
    if not isinstance(resource, Resource):
        return f"{resource[0].path}: {resource[0].message}"
    verdicts = compile_ruleset([resource], StoreDefaults(), workspace=resource.namespace).verdicts
    problems = verdicts[resource.key].problems
    return f"{problems[0].path}: {problems[0].message}" if problems else ""
