"""A LIST is no older than what was seen, and not made to wait for more."""

from memwarden_operator.freshness import Freshness


def test_a_list_is_no_older_than_the_newest_that_was_seen_of_its_kind():
    freshness = Freshness()
    for version in ("9", "10", "7"):
        freshness.saw("memorypolicies", version)
    assert freshness.query("memorypolicies") == {"resourceVersion": "10", "resourceVersionMatch": "NotOlderThan"}
    assert freshness.query("memorystores") == {}


def test_what_is_no_number_or_was_forgotten_asks_for_the_freshest():
    freshness = Freshness()
    freshness.saw("memorypolicies", "opaque")
    assert freshness.query("memorypolicies") == {}
    freshness.saw("memorypolicies", "3")
    freshness.forget()
    assert freshness.query("memorypolicies") == {}
