"""What becomes of each offered object: pure, from what is offered, what the compiler says, and what is held."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memwarden_policy.compile import compile_ruleset
from memwarden_policy.digest import object_digest, ruleset_digest
from memwarden_policy.model import Problem, Resource, ResourceKey, StoreDefaults, Verdict
from memwarden_service.rulesets import resource
from memwarden_service.text import fault_of

LAST_GOOD_LOST = Problem(
    path="",
    reason="LastGoodLost",
    message="the last accepted version is not as it was accepted, so nothing of this object is in force",
)
BAD_TEXT = Problem(path="spec", reason="BadText", message="a text holds a control character or half a surrogate pair")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the rows should be."""

    rows: tuple[Mapping[str, Any], ...]  # Those that are to be written.
    gone: tuple[ResourceKey, ...]
    digest: str
    moves: bool  # True: what is in force changes.


def judge(offered: Sequence[Resource], store: StoreDefaults, workspace: str) -> Mapping[ResourceKey, Verdict]:
    """Return a verdict for every offered object."""
    clean = [each for each in offered if not _has_bad_text(each.spec)]
    verdicts = dict(compile_ruleset(clean, store, workspace=workspace).verdicts)
    refused = Verdict(accepted=False, problems=(BAD_TEXT,))
    return {each.key: verdicts.get(each.key, refused) for each in offered}


def plan(
    offered: Sequence[Resource],
    verdicts: Mapping[ResourceKey, Verdict],
    held: Mapping[ResourceKey, Mapping[str, Any]],
    store: StoreDefaults,
    workspace: str,
) -> Plan:
    """Return the rows that bring into force what was accepted and keep what was good before.

    A row is written with `revision` None where the revision of this very change belongs.
    """
    rows = {each.key: _row(each, verdicts[each.key], held.get(each.key)) for each in offered}
    kept = [resource(row) for row in rows.values() if row["spec"] is not None]
    if any(not row["accepted"] and row["spec"] is not None for row in rows.values()):
        # Old and new together may be over a bound that neither is over alone.
        _refuse_what_does_not_fit(rows, compile_ruleset(kept, store, workspace=workspace).verdicts)
        kept = [resource(row) for row in rows.values() if row["spec"] is not None]
    gone = tuple(key for key in held if key not in rows)
    changed = {key: row for key, row in rows.items() if not _is_same(row, held.get(key))}
    moves = any(held[key]["spec"] is not None for key in gone) or any(
        _moves(row, held.get(key)) for key, row in changed.items()
    )
    return Plan(rows=tuple(changed.values()), gone=gone, digest=ruleset_digest(kept, store), moves=moves)


def _row(offer: Resource, verdict: Verdict, held: Mapping[str, Any] | None) -> dict[str, Any]:
    digest = object_digest(offer)
    row: dict[str, Any] = {
        "kind": offer.kind,
        "namespace": offer.namespace,
        "name": offer.name,
        "offered_uid": offer.uid,
        "offered_generation": offer.generation,
        "offered_digest": digest,
        "accepted": verdict.accepted,
        "problems": list(_told(verdict.problems)),
        "notes": list(_told(verdict.notes)),
    }
    if verdict.accepted:
        is_in_force = held is not None and held["digest"] == digest == _digest_now(held)
        revision = held["revision"] if held is not None and is_in_force else None
        in_force = {"uid": offer.uid, "spec": offer.spec, "generation": offer.generation, "digest": digest}
        return {**row, **in_force, "revision": revision}
    return {**row, **_last_good(offer, held, row["problems"])}


def _last_good(offer: Resource, held: Mapping[str, Any] | None, problems: list[dict[str, str]]) -> dict[str, Any]:
    """Return what stays in force of an object whose new version is refused; adds a problem where that is lost."""
    nothing = {"uid": offer.uid, "spec": None, "generation": None, "digest": None, "revision": None}
    if held is None or held["uid"] != offer.uid:
        return nothing  # Never accepted; or another object, now deleted, had this name.
    if held["spec"] is not None and _digest_now(held) == held["digest"]:
        return {name: held[name] for name in nothing}
    # Compared whole: a hand-edited row may hold anything.
    was_lost = isinstance(held["problems"], list) and next(_told((LAST_GOOD_LOST,))) in held["problems"]
    if held["spec"] is not None or was_lost:
        problems.extend(_told((LAST_GOOD_LOST,)))
    return nothing


def _refuse_what_does_not_fit(
    rows: Mapping[ResourceKey, dict[str, Any]], verdicts: Mapping[ResourceKey, Verdict]
) -> None:
    for key, verdict in verdicts.items():
        if not verdict.accepted:
            row = rows[key]
            row.update(accepted=False, spec=None, generation=None, digest=None, revision=None)
            row["problems"] = [*row["problems"], *_told(verdict.problems)]


def _is_same(row: Mapping[str, Any], held: Mapping[str, Any] | None) -> bool:
    """Say whether the row is there as it should be; compared as the database tells them apart."""
    return (
        held is not None
        and all(held[name] == value for name, value in row.items() if name != "spec")
        and ((row["spec"] is None) == (held["spec"] is None) and (row["spec"] is None or row["revision"] is not None))
    )


def _moves(row: Mapping[str, Any], held: Mapping[str, Any] | None) -> bool:
    was = held is not None and held["spec"] is not None
    return was if row["spec"] is None else row["revision"] is None


def _digest_now(held: Mapping[str, Any]) -> str | None:
    return object_digest(resource(held)) if held["spec"] is not None else None


def _told(problems: Sequence[Problem]) -> Iterator[dict[str, str]]:
    for each in problems:
        yield {"path": each.path, "reason": each.reason, "message": each.message}


def _has_bad_text(value: Any) -> bool:
    if isinstance(value, str):
        return not (value.isascii() and value.isprintable()) and fault_of(value, allow_lines=True) is not None
    if isinstance(value, Mapping):
        return any(_has_bad_text(name) or _has_bad_text(each) for name, each in value.items())
    return isinstance(value, list) and any(_has_bad_text(each) for each in value)
