"""Trust in sources: the confidence of what nobody claims a number for, as the policies in force set it."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from memwarden_policy import confidence, voices
from memwarden_policy.access import rights
from memwarden_policy.attributes import Facts
from memwarden_policy.model import Caller, Candidate, Point, SourceKind
from memwarden_policy.rules import Evaluation, Policy
from memwarden_policy.ruleset import Ruleset


def seed(ruleset: Ruleset, candidate: Candidate, caller: Caller, now: datetime) -> Decimal:
    """Return the confidence by the candidate's source alone.

    The highest priority that names the source speaks, the lowest number of it counts; the floor caps it.
    """
    roles = rights(ruleset, caller, now).roles
    evaluation = Evaluation(Facts(candidate=candidate, caller=caller, roles=roles, now=now))
    chosen = voices.choose(ruleset.layers[Point.ADMISSION], evaluation)
    own = _trust(chosen.namespace, candidate.source)
    cap = _trust(chosen.floor, candidate.source)
    given = confidence.seed(candidate.source) if own is None else own
    return confidence.rounded(given if cap is None else min(given, cap))


def _trust(policies: Iterable[Policy], source: SourceKind) -> Decimal | None:
    naming = (each for each in policies if not each.is_audit and source in each.provenance.trust)
    for _, level in groupby(naming, key=lambda each: each.priority):
        return min(each.provenance.trust[source] for each in level)
    return None
