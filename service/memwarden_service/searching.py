"""Search: what was gathered of what the caller may see, ranked, best first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from memwarden_policy.retrieval import decay, intent, mmr, ranking
from memwarden_policy.retrieval.ranking import Hit
from memwarden_policy.retrieval.reading import Query, read_question
from memwarden_service import reading
from memwarden_service.database import Acting
from memwarden_service.gathering import Gathered, gather
from memwarden_service.reading import Seen
from memwarden_service.search_shapes import SearchBody

HIDDEN_TRIES_MAX = 6  # Where rules hide what was gathered: each time four times as much.
WIDER = 4
PAGES_AT_LEAST = 2  # What is gathered is enough for so many, if there is so much.


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Hits of one page, and the number of those before the next; None: it is the last."""

    hits: Sequence[tuple[Hit, Seen]]
    next: int | None


async def search(acting: Acting, wanted: SearchBody, offset: int) -> Page:
    """Return a page of what answers best, of the memories that the caller may see and no rule hides."""
    query = read_question(wanted.query, acting.now.date())
    # The same for every page: what is gathered is ranked once more, in the same order.
    seeds = depth = max(ranking.SEEDS_PER_VOICE, PAGES_AT_LEAST * wanted.limit)
    for _ in range(HIDDEN_TRIES_MAX):
        gathered = await gather(acting, query, wanted, seeds)
        known = {str(each.row.id): each for each in reading.seen(acting, gathered.rows)}
        hits = _ranked(acting, query, gathered, list(known.values()), wanted)
        is_short = len(hits) < depth and len(known) < len(gathered.rows)
        if not is_short or len(gathered.rows) < seeds:
            break
        seeds *= WIDER
    chosen = [(hit, known[hit.id]) for hit in hits[offset : offset + wanted.limit]]
    more = offset + wanted.limit
    return Page(hits=chosen, next=more if len(hits) > more else None)


def _ranked(acting: Acting, query: Query, gathered: Gathered, known: list[Seen], wanted: SearchBody) -> list[Hit]:
    rows = [row_of(each.row, query, acting.now) for each in known]
    fit = {str(each.row.id): frozenset(each.row.words["lexemes"]) for each in known if each.row.fits}
    ranked = ranking.rank(query, rows, gathered.statistics, wanted.mode, intent.Weights(), acting.now.date())
    hits = [hit for hit in ranked if hit.id in fit and _answers(hit)]
    best = hits[0].score if hits and hits[0].score else 1.0
    return mmr.diversified(hits, lambda hit: hit.score / best, lambda a, b: mmr.likeness(fit[a.id], fit[b.id]))


def _answers(hit: Hit) -> bool:
    return any(hit.because.get(voice, 0.0) > 0 for voice in ("lexical", "semantic", "graph", "words", "meaning"))


def row_of(row: Row[Any], query: Query, now: datetime) -> ranking.Row:
    """Return a gathered row as the ranking takes it."""
    words = row.words
    lexemes = words["lexemes"]
    curve = decay.CURVES.get(row.category, decay.DEFAULT)
    since = row.last_confirmed_at or row.in_force_from
    return ranking.Row(
        id=str(row.id),
        frequencies={lexeme: lexemes[lexeme] for lexeme in query.lexemes if lexeme in lexemes},
        length=words["length"],
        observed_on=row.observed_at.date(),
        episode=row.session or "",
        position=row.position or 0,
        speaker=words["speaker"],
        asks=words["asks"],
        tells_when=words["tells_when"],
        tells_number=words["tells_number"],
        strength=decay.strength(curve, (now - since).total_seconds() / 86_400, 1.0),
    )
