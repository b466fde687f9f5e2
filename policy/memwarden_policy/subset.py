"""The part of CEL that a policy may use, and what an expression may cost: judged on the tree, before it is in force."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memwarden_policy import bounds
from memwarden_policy.attributes import Matter
from memwarden_policy.syntax import Tree

OPERATORS: Final = {
    "_&&_": "&&",
    "_||_": "||",
    "!_": "!",
    "_==_": "==",
    "_!=_": "!=",
    "_<_": "<",
    "_<=_": "<=",
    "_>_": ">",
    "_>=_": ">=",
    "_+_": "+",
    "_-_": "-",
    "_*_": "*",
    "_/_": "/",
    "_%_": "%",
    "-_": "-",
    "_?_:_": "? :",
    "@in": "in",
    "_[_]": "[ ]",
}
FUNCTIONS: Final = (
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "duration",
    "timestamp",
    "int",
    "double",
    "string",
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfYear",
    "getDayOfWeek",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
)
MACROS: Final = ("all", "exists", "exists_one", "filter", "map")
# What the engine itself writes when it unfolds a macro.
UNFOLDED: Final = frozenset({"@not_strictly_false"})
TYPES: Final = frozenset({"bool", "int", "double", "string", "timestamp", "duration"})
# Functions that fail on a wrong text: a constant argument is tried when the policy is read.
TRIED: Final = frozenset({"duration", "timestamp", "int", "double", "matches"})

KIB = 1_024
# What looking at one KiB of text costs at worst, in simple operations: copying or comparing, searching, matching.
TEXT_COST = 16
SEARCH_COST = 256
PATTERN_COST = 1_024
_SIZES_OF_A_MATTER: Final = {
    "content": bounds.CONTENT_LENGTH_MAX // KIB,
    "source_uri": bounds.SOURCE_URI_LENGTH_MAX // KIB,
    "value": bounds.VALUE_LENGTH_MAX // KIB,
    "tags": bounds.TAGS_MAX,
}
SIZES: Final[Mapping[str, int]] = {
    "actor.roles": bounds.ROLES_EXPECTED,
    **{f"{matter}.{name}": size for matter in Matter for name, size in _SIZES_OF_A_MATTER.items()},
}

_TEXTS_AND_COMMENTS = re.compile(
    r"""(?:[rR][bB]?|[bB][rR])(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n]*"|'[^'\n]*')"""
    r"""|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    r"""|//[^\n]*""",
    re.DOTALL,
)
_HAS = re.compile(r"(?<![\w.])has\s*\(")


@dataclass(frozen=True, slots=True)
class Objection:
    """What keeps an expression out of the subset, and where: at an offset, in characters, or at an expression."""

    reason: str
    message: str
    offset: int = 0
    identity: int = 0  # 0: the offset says where. Else the expression that is meant.


@dataclass(frozen=True, slots=True)
class Measure:
    """What evaluating costs at most, and how large the result is: elements of a list, or KiB of a text."""

    cost: int
    size: int = 1
    element: int = 1


def objections_to_text(text: str) -> Iterator[Objection]:
    """Judge what the engine would not survive or would not tell of, before it reads the text."""
    bare = _TEXTS_AND_COMMENTS.sub(lambda found: " " * len(found.group()), text)
    depth = 0
    for offset, character in enumerate(bare):
        depth += (character in "([{") - (character in ")]}")
        if depth > bounds.EXPRESSION_DEPTH_MAX:
            yield Objection("TooDeep", f"brackets may nest {bounds.EXPRESSION_DEPTH_MAX} deep", offset)
            return
    found = _HAS.search(bare)
    if found:
        message = "`has` is not allowed: every attribute is always there, compare it with its empty value"
        yield Objection("NotAllowed", message, found.start())


def objections(tree: Tree, names: frozenset[str]) -> Iterator[Objection]:
    """Judge a checked expression over these names: what it uses, how deep it is, what it costs."""
    everything = tree.all()
    roots = frozenset(name.partition(".")[0] for name in names)
    yield from filter(None, (_use(each, roots) for each in everything))
    depth = _depth(tree)
    if depth > bounds.EXPRESSION_DEPTH_MAX:
        yield Objection("TooDeep", f"an expression may nest {bounds.EXPRESSION_DEPTH_MAX} deep, this one nests {depth}")
    loops = sum(each.kind == "comprehension" for each in everything)
    if loops > bounds.EXPRESSION_COMPREHENSIONS_MAX:
        limit = bounds.EXPRESSION_COMPREHENSIONS_MAX
        yield Objection("TooManyLoops", f"at most {limit} of {', '.join(MACROS)}, this expression holds {loops}")
    cost = cost_of(tree)
    if cost > bounds.EXPRESSION_COST_MAX:
        limit = bounds.EXPRESSION_COST_MAX
        yield Objection("TooExpensive", f"an expression may cost {limit}, this one may come to {cost}")


def cost_of(tree: Tree) -> int:
    """Return the most that one evaluation costs."""
    return measure(tree, {}).cost


def trials(tree: Tree) -> Iterator[tuple[Tree, str]]:
    """Return each call that fails for certain if its constant argument is wrong, as an expression of its own."""
    for each in tree.all():
        constant = each.parts[-1].constant if each.kind == "call" and each.parts else None
        if isinstance(constant, str) and each.text in TRIED:
            literal = json.dumps(constant, ensure_ascii=False)
            yield each, f"''.matches({literal})" if each.text == "matches" else f"{each.text}({literal})"


def _depth(tree: Tree) -> int:
    """Count the levels as a reader sees them: a macro is one, whatever the engine unfolds it to."""
    if tree.kind == "comprehension":
        return 1 + max(_depth(tree.parts[0]), *(_depth(each) - 1 for each in tree.parts[1:]))
    return 1 + max((_depth(part) for part in tree.parts), default=0)


def _use(tree: Tree, roots: frozenset[str]) -> Objection | None:
    if tree.type.removeprefix("list(").removesuffix(")") not in TYPES or tree.kind == "other":
        message = f"values here are {', '.join(sorted(TYPES))} and lists of one of them; nothing else is allowed"
        return Objection("NotAllowed", message, identity=tree.identity)
    if tree.kind == "call" and tree.text not in OPERATORS and tree.text not in FUNCTIONS and tree.text not in UNFOLDED:
        return Objection(
            "NotAllowed", f"`{tree.text}` is not allowed; use {', '.join(FUNCTIONS)}", identity=tree.identity
        )
    if tree.kind == "call" and tree.text == "matches" and tree.parts[-1].constant is None:
        return Objection("NotAllowed", "the pattern of `matches` must be a text in quotes", identity=tree.identity)
    variable = tree.text.partition(" ")[0]
    if tree.kind == "comprehension" and variable in roots:
        return Objection(
            "NotAllowed", f"`{variable}` has a meaning already; name the variable otherwise", identity=tree.identity
        )
    return None


def measure(tree: Tree, sizes: Mapping[str, Measure]) -> Measure:
    """Estimate the most an evaluation costs; `sizes` holds what is known of the variables of macros."""
    match tree.kind:
        case "constant":
            text = tree.constant if isinstance(tree.constant, str) else ""
            return Measure(1, 1 + len(text) // KIB)
        case "name":
            return sizes.get(tree.text) or Measure(1, SIZES.get(tree.text, 1))
        case "comprehension":
            return _measure_loop(tree, sizes)
    return _measure_whole(tree, [measure(part, sizes) for part in tree.parts])


def _measure_whole(tree: Tree, parts: Sequence[Measure]) -> Measure:
    """Estimate a call or a list from its parts: what it looks at costs, what it keeps is its size."""
    largest = max((part.size for part in parts), default=0)
    element = max((part.element for part in parts), default=1)
    cost = 1 + sum(part.cost for part in parts) + largest * _price(tree)
    if tree.kind == "list":
        return Measure(cost, len(parts), largest)
    match tree.text:
        case "_+_":
            return Measure(cost, sum(part.size for part in parts), element)
        case "_?_:_" | "string":
            return Measure(cost, largest, element)
        case "_[_]":
            return Measure(cost, parts[0].element)
    return Measure(cost)


def _price(tree: Tree) -> int:
    """Return what a call pays for each element or KiB of its largest part."""
    if not any(part.type == "string" for part in tree.parts):
        return 1
    return {"contains": SEARCH_COST, "matches": PATTERN_COST}.get(tree.text, TEXT_COST)


def _measure_loop(tree: Tree, sizes: Mapping[str, Measure]) -> Measure:
    over, start, condition, step, result = tree.parts
    variable, _, accumulator = tree.text.partition(" ")
    rounds = measure(over, sizes)
    first = measure(start, sizes)
    inside = {**sizes, variable: Measure(1, rounds.element), accumulator: Measure(1, 0)}
    one = measure(step, inside)
    cost = rounds.cost + first.cost + rounds.size * (measure(condition, inside).cost + one.cost)
    return Measure(cost + measure(result, inside).cost, rounds.size * one.size, one.element)
