"""What search gathers: rows that may answer, and the rows around them, all of which the caller may see.

Row-level security and `memwarden.is_standing` are part of every statement, before anything is ranked or cut off.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from memwarden_policy.retrieval import bm25, episodes
from memwarden_policy.retrieval.reading import Query
from memwarden_service.database import Acting
from memwarden_service.picture import domain_id
from memwarden_service.reading import IS_STANDING
from memwarden_service.search_shapes import SearchBody

# Of a word that more memories have, the newest so many are looked at, and it counts as a word of so many.
POSTINGS_PER_LEXEME_MAX = 4_000
EVERY_POSTING = 2**31 - 1
FITS = """
  (cast(:domain as uuid) is null or t.domain_id = :domain)
  and (cast(:memory_type as text) is null or t.memory_type = :memory_type)
  and (cast(:category as text) is null or t.category = :category)
  and (cast(:source as text) is null or t.source = :source)
  and (cast(:confidence_min as numeric) is null or t.confidence >= :confidence_min)
  and (cast(:observed_after as timestamptz) is null or t.observed_at >= :observed_after)
  and (cast(:observed_before as timestamptz) is null or t.observed_at < :observed_before)
"""
# `offset 0`: rows are looked up best first until there are enough, and not all of them beforehand.
LEXICAL = text(f"""
  with found as materialized (
    select w.lexeme, w.term, p.memory_id, p.count, p.length
    from unnest(cast(:lexemes as text[]), cast(:terms as integer[])) as w (lexeme, term)
      cross join lateral (
        select p.memory_id, p.count, p.length from memwarden.posting p
        where p.workspace_id = :workspace and p.lexeme = w.lexeme
          and (cast(:domain as uuid) is null or p.domain_id = :domain)
        order by p.memory_id desc limit :postings) p),
  having_it as materialized (select f.lexeme, f.term, count(*) as memories from found f group by f.lexeme, f.term),
  place as materialized (
    select coalesce(sum(s.memories), 0) as memories, coalesce(sum(s.words), 0) as words from memwarden.shelf s
    where s.workspace_id = :workspace and (cast(:domain as uuid) is null or s.domain_id = :domain)),
  rarity as (
    select h.term, cast(ln(1 + (p.memories - least(p.memories, sum(h.memories)) + 0.5)
      / (least(p.memories, sum(h.memories)) + 0.5)) as float8) as value
    from having_it h cross join place p group by h.term, p.memories),
  counted as (
    select f.term, f.memory_id, max(f.count) as count, max(f.length) as length from found f
    group by f.term, f.memory_id),
  scored as (
    select c.memory_id, sum(r.value * c.count * {bm25.SATURATION + 1} / (c.count + {bm25.SATURATION}
      * ({1 - bm25.LENGTH_SHARE} + {bm25.LENGTH_SHARE} * c.length / p.mean))) as score
    from counted c join rarity r on r.term = c.term
      cross join (select cast(greatest(p.words, 1) as float8) / greatest(p.memories, 1) as mean from place p) p
    group by c.memory_id)
  select t.id, t.session, t.position, p.memories, p.words,
    (select jsonb_object_agg(h.lexeme, h.memories) from having_it h) as having_it
  from place p
    cross join (select s.memory_id, s.score from scored s order by s.score desc, s.memory_id offset 0) s
    cross join lateral (select t.id, t.session, t.position from memwarden.memory t
      where t.workspace_id = :workspace and t.id = s.memory_id and memwarden.is_standing(t) and {FITS} offset 0) t
  limit :seeds
""")  # noqa: S608 - constants
AROUND = """
  and t.id = any (array(
    select unnest(cast(:ids as uuid[])) union
    select m.id from unnest(cast(:sessions as text[]), cast(:positions as integer[])) as a (session, position)
      join memwarden.memory m on m.workspace_id = :workspace and m.session = a.session and m.position = a.position))
"""
FROM = " from memwarden.memory t"
ROWS = text(IS_STANDING.replace(FROM, f", t.position, t.words, {FITS} as fits{FROM}") + AROUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Rows that may answer, with those around them, and the counts behind their ranks."""

    rows: Sequence[Row[Any]]
    statistics: bm25.Statistics


async def gather(acting: Acting, query: Query, wanted: SearchBody, seeds: int) -> Gathered:
    """Return the likeliest rows, and what was said around them."""
    filters = _filters(acting, wanted)
    found = await _lexical(acting, query, filters, seeds)
    statistics = bm25.Statistics(rows=0, mean_length=1.0, rows_with={})
    if found:
        first = found[0]
        mean = float(first.words) / max(1, int(first.memories))
        statistics = bm25.Statistics(rows=int(first.memories), mean_length=mean, rows_with=first.having_it)
    rows = await _with_surroundings(acting, found, filters)
    return Gathered(rows=rows, statistics=statistics)


async def _lexical(acting: Acting, query: Query, filters: Mapping[str, Any], seeds: int) -> Sequence[Row[Any]]:
    pairs = [(lexeme, at) for at, term in enumerate(query.terms) for lexeme in term.lexemes]
    values = {
        **filters,
        "lexemes": [lexeme for lexeme, _ in pairs],
        "terms": [at for _, at in pairs],
        "seeds": seeds,
        "postings": POSTINGS_PER_LEXEME_MAX,
    }
    found = (await acting.connection.execute(LEXICAL, values)).all()
    if len(found) < seeds and (not found or max(found[0].having_it.values()) >= POSTINGS_PER_LEXEME_MAX):
        # What was looked at first did not fit: nothing that does may be missing.
        found = (await acting.connection.execute(LEXICAL, {**values, "postings": EVERY_POSTING})).all()
    return found


async def _with_surroundings(
    acting: Acting, seeds: Iterable[Row[Any]], filters: Mapping[str, Any]
) -> Sequence[Row[Any]]:
    seeds = list(seeds)
    if not seeds:
        return ()
    places = {place for seed in seeds for place in episodes.surroundings((seed.session or "", seed.position or 0))}
    values = {
        **filters,
        "ids": [seed.id for seed in seeds],
        "sessions": [session for session, _ in places],
        "positions": [position for _, position in places],
    }
    return (await acting.connection.execute(ROWS, values)).all()


def _filters(acting: Acting, wanted: SearchBody) -> dict[str, Any]:
    domain: UUID | None = domain_id(acting.workspace_id, wanted.domain) if wanted.domain else None
    names = ("memory_type", "category", "source", "confidence_min", "observed_after", "observed_before")
    return {"workspace": acting.workspace_id, "domain": domain, **{name: getattr(wanted, name) for name in names}}
