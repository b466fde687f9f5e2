"""Reads YAML text as the API server would: no dates, no duplicate keys, bounded depth and size, lines remembered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from memwarden_policy import bounds

MESSAGE_LENGTH_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One document: its value, and the line of each path in it."""

    line: int
    value: Any
    lines: Mapping[str, int] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Why a text cannot be read."""

    line: int
    reason: str
    message: str


class DuplicateKeyError(yaml.YAMLError):
    """A mapping names a key twice; one of the two values would be lost."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"`{key}` stands twice in one mapping")
        self.line = line


# Resolved to these, a text would not be what JSON holds.
UNKNOWN_TO_JSON: Final = ("timestamp", "binary", "set", "omap", "pairs")


class Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and key.tag != "tag:yaml.org,2002:merge":
                raise DuplicateKeyError(str(key.value)[:100], key.start_mark.line + 1)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


Loader.yaml_constructors = {
    tag: construct
    for tag, construct in yaml.CSafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] not in UNKNOWN_TO_JSON
}
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read(text: str) -> tuple[Read, ...] | Unreadable:
    """Read every document of a text, or say why it cannot be read."""
    if len(text) > bounds.TEXT_LENGTH_MAX:
        message = f"at most {bounds.TEXT_LENGTH_MAX} characters, found {len(text)}"
        return Unreadable(line=1, reason="TooLong", message=message)
    try:
        return _bounded(text) or tuple(_read(text))
    except DuplicateKeyError as error:
        return Unreadable(line=error.line, reason="DuplicateKey", message=str(error))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return Unreadable(line=line, reason="InvalidYAML", message=_one_line(str(error.problem or error.context)))
    except (yaml.YAMLError, ValueError, TypeError) as error:
        # A number too long to be one, a key that cannot be a key, a character that is none.
        return Unreadable(line=1, reason="InvalidYAML", message=_one_line(str(error)))


def _bounded(text: str) -> Unreadable | None:
    """Refuse, before anything is built, what nests too deep or grows too large once its aliases are followed."""
    growth = _Growth()
    for event in yaml.parse(text, Loader=Loader):
        refusal = growth.follow(event)
        if refusal is not None:
            line = event.start_mark.line + 1 if event.start_mark else 1
            return Unreadable(line=line, reason="TooLarge", message=refusal)
    return None


class _Growth:
    """Counts the values of a text as its events come by, aliases followed."""

    def __init__(self) -> None:
        self._values = 0
        self._sizes: dict[str, int] = {}
        self._open: list[tuple[str | None, int]] = []  # Of each open collection: its anchor, and the values before it.

    def follow(self, event: yaml.Event) -> str | None:
        """Take one event; return why the text is refused, or None."""
        self._values += 1
        match event:
            case yaml.CollectionStartEvent():
                self._open.append((event.anchor, self._values))
            case yaml.CollectionEndEvent():
                anchor, before = self._open.pop()
                self._sizes[anchor or ""] = self._values - before
            case yaml.AliasEvent():
                if any(anchor == event.anchor for anchor, _ in self._open):
                    return "an alias stands inside of what it names"
                self._values += self._sizes.get(event.anchor or "", 1)
        if len(self._open) > bounds.TEXT_DEPTH_MAX:
            return f"nests deeper than {bounds.TEXT_DEPTH_MAX}"
        return f"holds more than {bounds.TEXT_NODES_MAX} values" if self._values > bounds.TEXT_NODES_MAX else None


def _read(text: str) -> Iterator[Read]:
    loader = Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is None:
                return
            lines = {path: line for path, line in _lines(node, "") if path}
            yield Read(line=node.start_mark.line + 1, value=loader.construct_document(node), lines=lines)
    finally:
        loader.dispose()


def _lines(node: yaml.Node, path: str) -> Iterator[tuple[str, int]]:
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = f"{path}.{key.value}" if path else str(key.value)
            yield below, key.start_mark.line + 1
            yield from ((deeper, line) for deeper, line in _lines(value, below) if deeper != below)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, f"{path}[{index}]")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MESSAGE_LENGTH_MAX]
