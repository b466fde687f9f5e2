"""Structured values of memories: bounded JSON, in the one form in which two equal values are equal texts."""

import json
from dataclasses import dataclass
from typing import Any

from memwarden_policy import bounds


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a value is not taken."""

    message: str


def canonical(value: Any) -> str | Refused:
    """Return a JSON value as text without spaces, names sorted; 1.0 is 1. None is "", no value."""
    if value is None:
        return ""
    if _depth(value) > bounds.VALUE_DEPTH_MAX:
        return Refused(f"a value nests at most {bounds.VALUE_DEPTH_MAX} deep")
    try:
        text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return Refused("a value is JSON: texts, numbers, true, false, lists and mappings by text")
    if len(text) > bounds.VALUE_LENGTH_MAX:
        return Refused(f"a value holds at most {bounds.VALUE_LENGTH_MAX} characters as JSON, found {len(text)}")
    return text


def _depth(value: Any) -> int:
    """Count levels, and stop where there are too many."""
    level, depth = [value], 0
    while level and depth <= bounds.VALUE_DEPTH_MAX:
        depth += 1
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


def _plain(value: Any) -> Any:
    match value:
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise TypeError
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value
