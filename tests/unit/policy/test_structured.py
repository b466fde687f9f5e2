"""The structured form: typed values, exact numbers, moments; every misfit has a path."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from memwarden_policy import attributes, structured
from memwarden_policy.attributes import Facts
from memwarden_policy.expressions import Failure
from memwarden_policy.model import Caller, Candidate, SourceKind

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)

REFUSED = [
    # where, path below `where`, reason, words of the message
    ({"confidnce": {"gte": 0.5}}, ".confidnce", "UnknownAttribute", "did you mean `confidence`?"),
    ({"candidate.source": {"eq": "imported"}}, ".candidate.source", "UnknownAttribute", "did you mean `source`?"),
    ({"principal": {"eq": "alice"}}, ".principal", "UnknownAttribute", "unknown attribute"),
    ({"source": {"eq": "agent_extrated"}}, ".source.eq", "InvalidValue", "did you mean `agent_extracted`?"),
    ({"source": {"gte": "imported"}}, ".source.gte", "InvalidOperator", "use eq, ne, in"),
    ({"source": "imported"}, ".source", "InvalidType", "write an operator and a value"),
    ({"source": {}}, ".source", "InvalidType", "write an operator and a value"),
    ({"confidence": {"gte": "0.8"}}, ".confidence.gte", "InvalidValue", "expected a double, found a text"),
    ({"confidence": {"gte": True}}, ".confidence.gte", "InvalidValue", "found a bool"),
    ({"confidence": {"gte": 80}}, ".confidence.gte", "InvalidValue", "from 0 to 1"),
    ({"confidence": {"gte": float("nan")}}, ".confidence.gte", "InvalidValue", "from 0 to 1"),
    ({"confidence": {"in": 0.5}}, ".confidence.in", "InvalidValue", "takes a list"),
    ({"confidence": {"in": []}}, ".confidence.in", "InvalidValue", "takes a list"),
    ({"confidence": {"in": [0.5, "x"]}}, ".confidence.in", "InvalidValue", "found a text"),
    ({"category": {"in": ["a"] * 65}}, ".category.in", "InvalidValue", "at most 64"),
    ({"category": {"eq": "a" * 64}}, ".category.eq", "InvalidValue", "at most 63 characters"),
    ({"is_sensitive": {"eq": "yes"}}, ".is_sensitive.eq", "InvalidValue", "expected a bool, found a text"),
    ({"is_sensitive": {"lt": True}}, ".is_sensitive.lt", "InvalidOperator", "use eq, ne"),
    ({"tags": {"in": ["a"]}}, ".tags.in", "InvalidOperator", "speak of it in `when`"),
    ({"observed_at": {"lt": "yesterday"}}, ".observed_at.lt", "InvalidValue", "now() - 30d"),
    ({"observed_at": {"lt": "2026-12-01T12:00:00"}}, ".observed_at.lt", "InvalidValue", "with its zone"),
    ({"observed_at": {"lt": "now() - 30 moons"}}, ".observed_at.lt", "InvalidValue", "unknown unit `moons`"),
    ({"observed_at": {"lt": "now() - 99999w"}}, ".observed_at.lt", "InvalidValue", "at most 100 years"),
    ({"observed_at": {"lt": 30}}, ".observed_at.lt", "InvalidValue", "found a number"),
    ({"observed_at": {"in": ["now()"]}}, ".observed_at.in", "InvalidOperator", "use gte, gt, lte, lt"),
    ({"domain": {"eq": "now() - 30d", "lt": "x"}}, ".domain.lt", "InvalidOperator", "does not apply"),
    ({f"a{number}": {} for number in range(17)}, "", "TooMany", "at most 16"),
    ({}, "", "InvalidType", "maps attributes"),
    ([], "", "InvalidType", "maps attributes"),
    ("confidence > 0.5", "", "InvalidType", "maps attributes"),
]


@pytest.mark.parametrize(("where", "path", "reason", "words"), REFUSED)
def test_a_misfit_is_refused_with_its_path(where, path, reason, words):
    problems = structured.compiled(where, "where")
    assert not isinstance(problems, structured.Where)
    problem = problems[0]
    assert (problem.path, problem.reason) == (f"where{path}", reason)
    assert words in problem.message


def test_every_misfit_is_reported_at_once():
    problems = structured.compiled({"a": {}, "confidence": {"gte": "x", "eq": "y"}}, "w")
    assert [problem.path for problem in problems] == ["w.a", "w.confidence.gte", "w.confidence.eq"]


MOMENTS = [
    ("now()", timedelta()),
    ("now() - 30d", timedelta(days=-30)),
    ("now()-30d", timedelta(days=-30)),
    ("  now()  -  30  days  ", timedelta(days=-30)),
    ("now() - 1 day", timedelta(days=-1)),
    ("now() + 2h", timedelta(hours=2)),
    ("now() - 3 hours", timedelta(hours=-3)),
    ("now() - 4m", timedelta(minutes=-4)),
    ("now() - 5 minutes", timedelta(minutes=-5)),
    ("now() - 6s", timedelta(seconds=-6)),
    ("now() - 7w", timedelta(weeks=-7)),
    ("now() - 8 weeks", timedelta(weeks=-8)),
]


@pytest.mark.parametrize(("text", "offset"), MOMENTS)
def test_a_moment_is_counted_from_now(text, offset):
    moment = structured.moment(text)
    assert isinstance(moment, structured.Moment)
    assert moment.at(NOW) == NOW + offset


def test_a_fixed_moment_keeps_its_zone():
    moment = structured.moment("2026-12-01T13:00:00+01:00")
    assert isinstance(moment, structured.Moment)
    assert moment.at(NOW) == NOW


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "now() - 1_0d", "now() - -1d"]
)
def test_a_moment_outside_of_the_calendar_is_refused(text):
    assert isinstance(structured.moment(text), structured.Refused)


def facts(**changes):
    plain = {"domain": "d", "content": "c", "source": SourceKind.REASONING, "confidence": Decimal("0.800")}
    caller = Caller.service_account("support", "agent")
    return Facts(candidate=Candidate(**plain | changes), caller=caller, roles=frozenset(), now=NOW)


@pytest.mark.parametrize(
    ("operator", "holds"), [("eq", True), ("gte", True), ("gt", False), ("ne", False), ("lt", False)]
)
def test_numbers_are_compared_as_decimals(operator, holds):
    where = structured.compiled({"confidence": {operator: 0.8}}, "where")
    # The sum of the binary floats 0.7 and 0.1 is not 0.8; that of the decimals is.
    assert where.holds(facts(confidence=Decimal("0.7") + Decimal("0.1"))) is holds


def test_a_moment_that_leaves_the_calendar_when_evaluated_is_a_failure():
    where = structured.compiled({"observed_at": {"lt": "now() - 90 weeks"}}, "where")
    early = facts()
    early = Facts(candidate=early.candidate, caller=early.caller, roles=frozenset(), now=datetime(1, 2, 1, tzinfo=UTC))
    assert isinstance(where.holds(early), Failure)


def test_a_moment_without_a_zone_is_a_failure():
    where = structured.compiled({"observed_at": {"lt": "now()"}}, "where")
    assert isinstance(where.holds(facts(observed_at=datetime(2026, 1, 1))), Failure)  # noqa: DTZ001 - the point of it


def test_every_attribute_of_a_candidate_but_lists_takes_an_operator():
    for attribute in attributes.TABLES[attributes.Matter.CANDIDATE].by_short_name.values():
        assert bool(structured.OPERATORS_OF[attribute.type]) == (attribute.type != attributes.Type.STRINGS)
