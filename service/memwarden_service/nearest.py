"""Compares a client's vector with those that came with its owner's vault memories: exactly, and boundedly many."""

from sqlalchemy import text

from memwarden_policy import envelope
from memwarden_service import reading
from memwarden_service.database import Acting
from memwarden_service.problems import Fault, Kind, ProblemError
from memwarden_service.reading import Seen
from memwarden_service.vault_shapes import Nearest

COMPARED_MAX = 2_000  # The newest; a client that has more recalls them itself.
# `vault_vector` has length 1, and so has what is asked with: their product is the cosine.
NEAREST = text(f"""
  select t.*, (select sum(u.a * u.b) from unnest(t.vault_vector, cast(:vector as real[])) u (a, b)) as score
  from ({reading.IS_LOCAL} and t.owner = :owner and t.vault_semantic_index_opt_in and t.vault_embedder = :embedder
    and cardinality(t.vault_vector) = :numbers and (cast(:domain as text) is null or d.name = :domain)
    order by t.id desc limit :compared) t
  order by score desc, t.id limit :limit
""")  # noqa: S608 - constants


async def find(acting: Acting, wanted: Nearest) -> list[tuple[Seen, float]]:
    """Return what is nearest, with its cosine; raises ProblemError for a vector without a direction."""
    vector = envelope.unit(wanted.vector)
    if not vector:
        raise ProblemError(Kind.INVALID, faults=[Fault("body.vector", "Zero", "a vector is not all zero")])
    values = {
        "workspace": acting.workspace_id,
        "owner": acting.caller.principal,
        "vector": list(vector),
        "numbers": len(vector),
        "embedder": wanted.embedder,
        "domain": wanted.domain,
        "compared": COMPARED_MAX,
        "limit": wanted.limit,
    }
    found = list(await acting.connection.execute(NEAREST, values))
    return [(each, float(each.row.score)) for each in reading.seen(acting, found)]
