"""Reading YAML that somebody else wrote: bounded, without its traps, and with the line of every mistake."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from parachute.base.documents import Bounds, NotYaml, compose, line_of
from parachute.errors import InvalidInput

LARGEST = 256 * 1024
_BOUNDS = Bounds(size=LARGEST, depth=12)
_MOST_PROBLEMS = 50
_TAG = "tag:yaml.org,2002:"
_TEXT, _NULL = f"{_TAG}str", f"{_TAG}null"

Value = TypeVar("Value")


class Refused(Exception):
    """A part could not be read; its problem is noted already."""


@dataclass(slots=True)
class Document:
    """Collects every problem instead of stopping at the first; each is `line N: field: sentence`."""

    problems: list[tuple[int, str]] = field(default_factory=list)

    def compose(self, data: bytes) -> yaml.Node | None:
        """The tree of nodes, or None after a problem that leaves none."""
        try:
            root = compose(data, _BOUNDS)
        except NotYaml as error:
            self.problem(error.line, "manifest", error.reason)
            return None
        if root is None:
            self.problem(1, "manifest", "The file is empty.")
        return root

    def problem(self, line: int, where: str, sentence: str) -> None:
        """Note a problem."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append((line, f"line {line}: {where}: {sentence}"))

    def refuse(self, line: int, where: str, sentence: str) -> None:
        """Note a problem and leave this part."""
        self.problem(line, where, sentence)
        raise Refused

    def mapping(
        self, node: yaml.Node, where: str, allowed: Iterable[str] | None, required: Iterable[str] = ()
    ) -> dict[str, yaml.Node]:
        """Fields by name; unknown, repeated and missing ones are problems. `allowed` None: any names."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(line_of(node), where, "This must be a list of `field: value`.")
        fields: dict[str, yaml.Node] = {}
        known = None if allowed is None else tuple(allowed)
        for name_node, value in node.value:
            name = name_node.value if isinstance(name_node, yaml.ScalarNode) else ""
            inside = joined(where, str(name)[:60])
            if not isinstance(name_node, yaml.ScalarNode) or (name_node.tag != _TEXT and known is None):
                self.problem(line_of(name_node), inside, "The name of a field must be text; put it in quotes.")
            elif known is not None and name not in known:
                close = difflib.get_close_matches(name, known, 1)
                allowed_words = f"did you mean {close[0]}?" if close else f"allowed are {', '.join(known)}."
                self.problem(line_of(name_node), inside, f"There is no such field; {allowed_words}")
            else:
                fields[name] = value
        for name in required:
            if name not in fields:
                self.problem(line_of(node), joined(where, name), "This is required.")
        return fields

    def items(self, node: yaml.Node, where: str) -> list[yaml.Node]:
        """Items of a list; an empty value is an empty list."""
        if isinstance(node, yaml.ScalarNode) and node.tag == _NULL:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.refuse(line_of(node), where, "This must be a list, each item on a line of its own after `- `.")
        return list(node.value)

    def text(self, node: yaml.Node, where: str, longest: int = 1_000) -> str:
        """A text; error: Refused for numbers, dates and words such as yes, which YAML takes for something else."""
        if not isinstance(node, yaml.ScalarNode):
            self.refuse(line_of(node), where, "This must be text.")
        if node.tag != _TEXT:
            kind = str(node.tag).rpartition(":")[2]
            self.refuse(
                line_of(node), where, f'YAML takes this for {_KINDS.get(kind, kind)}; write "{node.value}" in quotes.'
            )
        value = str(node.value).strip()
        if not value or len(value) > longest or not value.replace("\n", " ").isprintable():
            self.refuse(line_of(node), where, f"1 to {longest:,} printable characters are allowed.")
        return value

    def file(self, node: yaml.Node, where: str, example: str) -> str:
        """The name of a file within the module; error: Refused."""
        name = self.text(node, where, 200)
        if name.startswith(("/", "~")) or ".." in name.split("/"):
            self.refuse(line_of(node), where, f"A file of the module is expected, such as {example}.")
        return name

    def texts(self, node: yaml.Node, where: str) -> tuple[str, ...]:
        """A list of texts; one that is none is a problem and left out."""
        return self.each(node, where, self.text)

    def each(self, node: yaml.Node, where: str, read: Callable[[yaml.Node, str], Value]) -> tuple[Value, ...]:
        """Every item as `read` reads it; those it refuses are left out."""
        found: list[Value] = []
        for index, item in enumerate(self.items(node, where)):
            try:
                found.append(read(item, f"{where}[{index}]"))
            except Refused:
                continue
            except InvalidInput as error:
                self.problem(line_of(item), f"{where}[{index}]", sentence(error, f"{where}[{index}]"))
        return tuple(found)

    def plain(self, node: yaml.Node, where: str) -> Any:
        """A text, number, true, false or null, or a list of these."""
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, where) for item in node.value]
        if not isinstance(node, yaml.ScalarNode):
            self.refuse(line_of(node), where, "This must be a single value or a list.")
        kind = str(node.tag).removeprefix(_TAG)
        if kind not in _PLAIN:
            return self.text(node, where)
        try:
            return _PLAIN[kind](node.value)
        except ValueError:
            self.refuse(line_of(node), where, "This is not a number that can be used here.")

    def attempt(self, node: yaml.Node, where: str, read: Callable[[], Value], otherwise: Value) -> Value:
        """What `read` gives; its InvalidInput becomes a problem at the node."""
        try:
            return read()
        except Refused:
            return otherwise
        except InvalidInput as error:
            self.problem(line_of(node), where, sentence(error, where))
            return otherwise

    def sentences(self, path: Path | None = None) -> tuple[str, ...]:
        """All problems in the order of the file."""
        return tuple(text for _, text in sorted(self.problems, key=lambda problem: problem[0]))


def joined(where: str, name: str) -> str:
    """The path of a field inside of another."""
    return f"{where}.{name}" if where else name


def _boolean(text: str) -> bool:
    return text.lower() in ("yes", "true", "on")


def _number(text: str) -> float:
    value = float(text.replace("_", ""))
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def _nothing(text: str) -> None:
    return None


_PLAIN: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text.replace("_", ""), 10),
    "float": _number,
    "bool": _boolean,
    "null": _nothing,
}
_KINDS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date"}


def sentence(error: InvalidInput, where: str) -> str:
    """The error's message without the name of the field, if it begins with that."""
    name = where.rpartition(".")[2]
    text = error.message.removeprefix(f"{name}: ").removeprefix(f"{name.partition('[')[0]}: ")
    return text[:1].upper() + text[1:]
