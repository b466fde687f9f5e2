"""The four voices, what they hear of an episode, and that together they are never worse than the best of them."""

from datetime import date, timedelta

import pytest

from memwarden_policy.retrieval import bm25, intent, ranking
from memwarden_policy.retrieval.ranking import Mode
from memwarden_policy.retrieval.reading import read_memory, read_question, without_speakers

TODAY = date(2026, 12, 1)


def said_in(episode: str, *positions: int) -> list[dict]:
    return [{"episode": episode, "position": position} for position in positions]


def test_an_answer_is_found_by_the_words_of_its_question(search):
    memories = ["Ann: Which database did you choose in the end?", "Ben: Postgres, of course.", "Ben: The tea is cold."]
    apart = search(memories, "the database of choice", rows=said_in("", 0, 0, 0))
    together = search(memories, "the database of choice", rows=said_in("call", 0, 1, 9))
    assert "graph" not in next(hit for hit in apart if hit.id == "001").because
    assert [hit.id for hit in together] == ["000", "001", "002"]
    assert set(together[1].because) >= {"graph", "answers"}


def test_what_is_nearer_is_heard_louder(search):
    memories = ["the budget", "yes", "well", "then"]
    hits = search(memories, "budget", rows=said_in("call", 0, 1, 2, 3), weights=intent.Weights(recency=0))
    assert [hit.id for hit in hits] == ["000", "001", "002", "003"]
    assert all(hit.score > 0 for hit in hits)


def test_another_episode_is_not_heard(search):
    rows = [*said_in("call", 0), *said_in("meeting", 1), *said_in("", 1)]
    hits = search(["the budget", "yes", "no"], "budget", rows=rows, weights=intent.Weights(recency=0))
    assert [hit.score > 0 for hit in hits] == [True, False, False]


def test_a_row_that_was_not_gathered_says_nothing(search):
    """Hidden from this reader, superseded or erased: it is no row of the search, so nobody hears it."""
    memories = ["Ann: The merger is called Falcon.", "Ben: Let us never speak of it."]
    both = search(memories, "Falcon", rows=said_in("call", 0, 1), weights=intent.Weights(recency=0))
    hidden = search(memories[1:], "Falcon", rows=said_in("call", 1), weights=intent.Weights(recency=0))
    assert both[1].score > 0
    assert hidden[0].score == 0


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.HYBRID])
@pytest.mark.parametrize("question", ["When does Acme prefer invoices?", "Acme invoices Monday"])
def test_a_fact_that_stands_alone_is_not_talked_down(search, question, mode):
    memories = [
        "Ann: Did Acme call about the invoices?",
        "Ben: Yes, about invoices on Mondays again.",
        "Ann: They prefer Mondays?",
        "Ben: I think so, Acme is picky about invoices.",
        "The customer Acme prefers invoices on Mondays.",
    ]
    rows = [*said_in("call", 0, 1, 2, 3), *said_in("", 0)]
    assert search(memories, question, mode, rows)[0].id == "004"


def test_a_question_that_names_a_speaker_prefers_what_that_person_said(search):
    memories = ["Ann: I love climbing in the Alps.", "Ben: I love climbing in the Alps."]
    assert search(memories, "Does Ben love climbing?")[0].id == "001"
    assert search(memories, "Does Ann's climbing matter?")[0].id == "000"


def test_a_question_that_asks_when_prefers_what_tells_when(search):
    memories = ["Ann moved to Leeds with her dog.", "Ann moved to Leeds last week."]
    assert search(memories, "When did Ann move to Leeds?")[0].id == "001"


def test_a_question_that_asks_how_many_prefers_a_number(search):
    memories = ["Ann has dogs at home, and loves them.", "Ann has three dogs at home."]
    assert search(memories, "How many dogs has Ann at home?")[0].id == "001"


def test_a_period_finds_what_was_observed_in_it_or_told_soon_after(search):
    days = [date(2026, 3, 1), date(2026, 7, 14), date(2026, 7, 20), date(2026, 9, 1)]
    rows = [{"observed_on": day} for day in days]
    hits = search(["We met."] * 4, "What happened on 14 July 2026?", Mode.HYBRID, rows)
    assert {hit.id for hit in hits[:2]} == {"001", "002"}
    assert hits[0].because["period"] == hits[1].because["period"] > hits[2].because["period"]


def test_the_latest_is_preferred_when_it_is_asked_for(search):
    rows = [{"observed_on": TODAY - timedelta(days=days)} for days in (400, 2)]
    memories = ["Our API budget is a thousand euros.", "Our API budget is two thousand euros."]
    hits = search(memories, "What is the latest API budget?", Mode.HYBRID, rows)
    assert hits[0].id == "001"


def test_meaning_finds_what_no_word_does(search):
    memories = ["The kitten sleeps on the sofa.", "The invoice was paid in March.", "Our servers run in Frankfurt."]
    assert search(memories, "where does the cat nap?", Mode.HYBRID)[0].id == "000"


def test_keyword_hears_no_meaning_and_no_time(search):
    rows = [{"observed_on": date(2020, 1, 1)}, {"observed_on": date(2026, 11, 30)}]
    hits = search(["kitten", "tea"], "cat yesterday", Mode.KEYWORD, rows, intent.Weights(recency=0))
    assert [hit.score for hit in hits] == [0, 0]


def test_a_row_without_its_vector_is_found_by_its_words_at_once(search):
    memories = ["The kitten sleeps.", "The falcon flies over Leeds."]
    assert search(memories, "falcon in Leeds", Mode.HYBRID, [{}, {"closeness": None}])[0].id == "001"


def test_a_hit_is_the_sum_of_its_reasons_times_its_strength(search):
    rows = [{"strength": 0.5}, {"strength": 1.0}]
    hits = search(["Ann: tea with Ben", "Ann: tea with Ben"], "tea with Ben", Mode.HYBRID, rows)
    assert [hit.id for hit in hits] == ["001", "000"]
    for hit in hits:
        assert hit.score == pytest.approx(sum(hit.because.values()) * hit.strength)
        assert set(hit.because) <= {"lexical", "semantic", "graph", "period", "recency", "said_by", "answers", "asks"}


def test_every_row_is_ranked_and_ties_keep_one_order(search):
    hits = search(["tea"] * 7, "coffee", Mode.HYBRID)
    assert [hit.id for hit in hits] == [f"{at:03d}" for at in range(7)]


def test_nothing_to_rank_is_no_error():
    statistics = bm25.Statistics(rows=0, mean_length=0, rows_with={})
    for mode in Mode:
        assert ranking.rank(read_question("tea", TODAY), [], statistics, mode, intent.Weights(), TODAY) == []


def test_a_speakers_name_is_a_sign_and_no_word():
    query = without_speakers(read_question("What did Ann's dog eat?", TODAY), frozenset({"ann", "ben"}))
    assert [term.word for term in query.terms] == ["dog", "eat"]
    assert query.meaning == "What did dog eat?"
    alone = without_speakers(read_question("Ann?", TODAY), frozenset({"ann"}))
    assert [term.word for term in alone.terms] == ["ann"]  # nothing else is asked


def test_the_label_of_a_speaker_is_read():
    assert read_memory("Ann Lee: I moved.").speaker == "ann lee"
    assert read_memory("Ann Lee: I moved.").said == "I moved."
    assert read_memory("I say: four words and more: no label").speaker == "i say"
    assert read_memory("See https://example.com").speaker == ""
    assert read_memory("At 12:30 we met").speaker == ""
