"""Together the voices are at least as good as the best of them, whatever a question needs."""

import dataclasses
from datetime import date

import pytest

from memwarden_policy.retrieval import intent
from memwarden_policy.retrieval.ranking import Mode

SILENT = {field.name: 0.0 for field in dataclasses.fields(intent.Weights)}
ALONE = {
    "lexical": intent.Weights(**{**SILENT, "lexical": 1.0}),
    "semantic": intent.Weights(**{**SILENT, "semantic": 1.0}),
    "graph": intent.Weights(**{**SILENT, "graph": 1.0, "meaning": 0.36}),
    "period": intent.Weights(**{**SILENT, "period": 1.0}),
}
# Two conversations, facts that stand alone, and events by date.
TALKS = (
    ("trip", "Ann: Where do you want to go in the summer?"),
    ("trip", "Ben: Norway, I think. The fjords must be wonderful."),
    ("trip", "Ann: Lovely! Who is coming along?"),
    ("trip", "Ben: My sister and her kids."),
    ("trip", "Ann: And where will you all sleep?"),
    ("trip", "Ben: In a cabin by the water, it has six beds."),
    ("job", "Ben: How is your new job at the bakery?"),
    ("job", "Ann: Exhausting, we begin at three in the morning."),
    ("job", "Ben: Wow, and do you like your colleagues?"),
    ("job", "Ann: Carla is great, the others hardly talk."),
    ("job", "Ben: What do you bake most?"),
    ("job", "Ann: Sourdough, three hundred loaves a day."),
)
FACTS = (
    ("2026-01-10", "The customer Acme prefers invoices on Mondays."),
    ("2026-02-11", "Backups of the ledger are kept for seven years."),
    ("2026-03-12", "The physician asked the patient to rest for a week."),
    ("2026-04-13", "Deployments happen through Argo CD only."),
    ("2026-05-14", "The lawyer reviewed the contract with the landlord."),
    ("2026-06-15", "The team decided to drop support for Windows."),
    ("2026-07-16", "The team decided to hire two engineers."),
    ("2026-08-17", "The team decided to move the office to Leeds."),
    ("2026-09-18", "The puppy chewed the red sofa."),
    ("2026-10-19", "src/billing/tax.py rounds half to even."),
)
MEMORIES = [text for _, text in TALKS] + [text for _, text in FACTS]
QUESTIONS = (
    ("Which customer prefers invoices on Mondays?", "Acme prefers"),
    ("how long are backups of the ledger kept", "seven years"),
    ("src/billing/tax.py", "rounds half"),
    ("what do deployments go through?", "Argo"),
    ("What did the doctor say?", "physician"),
    ("attorney agreement", "lawyer"),
    ("the dog damaged the couch", "puppy"),
    ("Where does Ben want to go in the summer?", "Norway"),
    ("Who is coming along with Ben?", "sister"),
    ("Where will Ben sleep?", "cabin"),
    ("How is Ann's new job?", "Exhausting"),
    ("Does Ann like her colleagues?", "Carla"),
    ("What does Ann bake most?", "Sourdough"),
    ("What did the team decide on 16 July 2026?", "engineers"),
    ("What did the team decide in August 2026?", "Leeds"),
    ("What was decided in June 2026?", "Windows"),
)


def rows() -> list[dict]:
    positions: dict[str, int] = {}
    given = []
    for episode, _ in TALKS:
        positions[episode] = positions.get(episode, -1) + 1
        given.append({"episode": episode, "position": positions[episode], "observed_on": date(2025, 6, 1)})
    return given + [{"observed_on": date.fromisoformat(day)} for day, _ in FACTS]


def found(search, weights: intent.Weights, first: int) -> int:
    """Count the questions whose answer is among the first."""
    count = 0
    for question, answer in QUESTIONS:
        hits = search(MEMORIES, question, Mode.HYBRID, rows(), weights)
        count += any(answer in MEMORIES[int(hit.id)] for hit in hits[:first])
    return count


@pytest.mark.parametrize("first", [1, 2, 3])
def test_fusion_is_never_worse_than_the_best_voice(search, first):
    alone = {voice: found(search, weights, first) for voice, weights in ALONE.items()}
    together = found(search, intent.Weights(), first)
    assert together >= max(alone.values()), alone


def test_fusion_finds_what_no_voice_does_alone(search):
    best_alone = max(found(search, weights, 1) for weights in ALONE.values())
    assert found(search, intent.Weights(), 1) >= best_alone + 3


def test_reciprocal_rank_finds_what_has_no_date(search):
    undated = [(question, answer) for question, answer in QUESTIONS if "2026" not in question]
    hits = [search(MEMORIES, question, Mode.SEMANTIC, rows())[:3] for question, _ in undated]
    firsts = [{MEMORIES[int(hit.id)] for hit in three} for three in hits]
    missed = [question for (question, answer), three in zip(undated, firsts, strict=True) if answer not in str(three)]
    assert len(missed) <= 1, missed
