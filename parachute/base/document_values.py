"""Values of a document with their places: each is read as the type that it must have, or its mistake is collected."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn, TypeVar

import yaml
from msgspec import Struct

from parachute.base.documents import line_of, value_of
from parachute.base.errors import InvalidInput

_MOST_PROBLEMS = 50
_TAG = "tag:yaml.org,2002:"
_TEXT, _NULL, _TIMESTAMP = f"{_TAG}str", f"{_TAG}null", f"{_TAG}timestamp"

Result = TypeVar("Result")
Otherwise = TypeVar("Otherwise")
Word = TypeVar("Word", bound=str)


class Refused(Exception):
    """A part could not be read; its problem is collected already."""


class Problem(NamedTuple):
    """A mistake; `line` is 1 for all of JSON."""

    line: int
    where: str
    sentence: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.where}: {self.sentence}"


class Fields(dict[str, "Value"]):
    """Fields of a mapping by name."""

    def read(self, name: str, read: Callable[["Value"], Result], otherwise: Otherwise) -> Result | Otherwise:
        """Read a field with `read`; `otherwise` without the field, and where it has a mistake."""
        value = self.get(name)
        return otherwise if value is None else value.attempt(read, otherwise)


class Value(Struct, frozen=True):
    """A value of a document with the path of its field (`service.pids`). Methods that refuse it raise Refused."""

    node: yaml.Node
    where: str
    problems: list[Problem]
    is_root: bool = False

    @property
    def line(self) -> int:
        """The line on which it begins, from 1."""
        return line_of(self.node)

    @property
    def is_null(self) -> bool:
        """True if nothing is written there."""
        return bool(self.node.tag == _NULL)

    @property
    def is_scalar(self) -> bool:
        """True if it is neither a list nor a mapping."""
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def written(self) -> str:
        """The text of a single value as it is written, whatever YAML takes it for; empty for others."""
        return str(self.node.value) if self.is_scalar else ""

    @property
    def raw(self) -> Any:
        """The value as `documents.load` gives it, unchecked."""
        return value_of(self.node)

    def note(self, sentence: str, line: int | None = None, name: str = "") -> None:
        """Collect a problem, and go on; `name` is that of a field inside."""
        where = self._path(name) if name else self.where
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(Problem(self.line if line is None else line, where, sentence))

    def refuse(self, sentence: str) -> NoReturn:
        """Collect a problem, and leave this part."""
        self.note(sentence)
        raise Refused

    def attempt(self, read: Callable[["Value"], Result], otherwise: Otherwise) -> Result | Otherwise:
        """Read it with `read`; `otherwise` where it is refused, also by an InvalidInput, which becomes a problem."""
        try:
            return read(self)
        except Refused:
            return otherwise
        except InvalidInput as error:
            name = self.where.rpartition(".")[2]
            text = error.message.removeprefix(f"{name}: ").removeprefix(f"{name.partition('[')[0]}: ")
            self.note(text[:1].upper() + text[1:])
            return otherwise

    def named(self, pattern: re.Pattern[str] | None = None, sentence: str = "") -> Fields:
        """Fields of any names; where one does not match as a whole, the sentence is the problem."""
        found = Fields()
        for key, value in self._pairs():
            if key.tag != _TEXT:
                self.note("The name of a field must be text; put it in quotes.", line_of(key), key.value)
            elif pattern and not pattern.fullmatch(key.value):
                self.note(sentence, line_of(key), key.value)
            else:
                found[key.value] = self._inside(key.value, value)
        return found

    def fields(self, allowed: Iterable[str], required: Iterable[str] = ()) -> Fields:
        """Fields of these names; others are problems. Refused where one that is required is missing."""
        known, found = tuple(allowed), Fields()
        for key, value in self._pairs():
            if key.value in known:
                found[key.value] = self._inside(key.value, value)
                continue
            import difflib  # only for a mistake

            close = difflib.get_close_matches(key.value, known, 1)
            words = f"did you mean {close[0]}?" if close else f"allowed are {', '.join(known)}."
            self.note(f"Unknown field; {words}", line_of(key), key.value)
        self.require(found, required)
        return found

    def require(self, fields: Fields, names: Iterable[str]) -> None:
        """Refuse a mapping that lacks one of these fields."""
        missing = [name for name in names if name not in fields]
        for name in missing:
            self.note("This is required.", name=name)
        if missing:
            raise Refused

    def items(self) -> list["Value"]:
        """Items of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.refuse("This must be a list, each item on a line of its own after `- `.")
        return [Value(item, f"{self.where}[{index}]", self.problems) for index, item in enumerate(self.node.value)]

    def each(self, read: Callable[["Value"], Result]) -> tuple[Result, ...]:
        """Read each item with `read`; those that are refused are left out, and nothing is an empty list."""
        found = [item.attempt(lambda value: [read(value)], []) for item in ([] if self.is_null else self.items())]
        return tuple(result for one in found for result in one)

    def text(self, longest: int = 1_000) -> str:
        """A text without spaces at its ends; refused are numbers, dates and words such as yes, which YAML takes for others."""
        if not self.is_scalar:
            self.refuse("This must be text.")
        if self.node.tag != _TEXT:
            kind = str(self.node.tag).rpartition(":")[2]
            self.refuse(f'YAML takes this for {_KINDS.get(kind, kind)}; write "{self.written}" in quotes.')
        value = self.written.strip()
        if not value or len(value) > longest or not value.replace("\n", " ").isprintable():
            self.refuse(f"1 to {longest:,} printable characters are allowed.")
        return value

    def line_of_text(self, longest: int = 4_096) -> str:
        """A text of one line."""
        value = self.text(longest)
        if "\n" in value:
            self.refuse("One line is expected.")
        return value

    def matching(self, pattern: re.Pattern[str], sentence: str, longest: int = 1_000) -> str:
        """A text that matches as a whole, or else the sentence is the problem."""
        value = self.text(longest)
        if not pattern.fullmatch(value):
            self.refuse(sentence)
        return value

    def one_of(self, words: Iterable[Word]) -> Word:
        """One of these texts."""
        value, known = self.text(), tuple(words)
        for word in known:
            if word == value:
                return word
        self.refuse(f"One of {', '.join(known)} is allowed.")

    def boolean(self) -> bool:
        """A value that is true or false, written so."""
        if not isinstance(self.plain(), bool) or self.written not in ("true", "false"):
            self.refuse("Write true or false.")
        return self.written == "true"

    def integer(self, smallest: int, largest: int) -> int:
        """A whole number within bounds."""
        value = self.plain()
        if isinstance(value, bool) or not isinstance(value, int) or not smallest <= value <= largest:
            self.refuse(f"A whole number from {smallest} to {largest} is allowed.")
        return value

    def moment(self) -> datetime:
        """A time with its zone."""
        try:
            moment = datetime.fromisoformat(self.written if self.node.tag == _TIMESTAMP else self.text())
        except ValueError:
            self.refuse("A time such as 2024-01-15T10:30:00Z is expected.")
        if moment.tzinfo is None:
            self.refuse("The time lacks its time zone, such as 2024-01-15T10:30:00Z.")
        return moment.astimezone(UTC)

    def plain(self) -> Any:
        """A text, number, true, false or null, or a list of these."""
        if isinstance(self.node, yaml.SequenceNode):
            return [item.plain() for item in self.items()]
        if not self.is_scalar:
            self.refuse("This must be a single value or a list.")
        kind = str(self.node.tag).removeprefix(_TAG)
        if kind not in _PLAIN:
            return self.text()
        try:
            return _PLAIN[kind](self.written)
        except ValueError:
            self.refuse("This number is not allowed here.")

    def _pairs(self) -> list[tuple[yaml.Node, yaml.Node]]:
        if self.is_root and self.is_null:
            self.refuse("The file is empty.")
        if not isinstance(self.node, yaml.MappingNode):
            self.refuse("Fields with values are expected, such as `name: value`.")
        return list(self.node.value)

    def _inside(self, name: str, node: yaml.Node) -> "Value":
        return Value(node, self._path(name), self.problems)

    def _path(self, name: str) -> str:
        shown = name[:60] if name.isprintable() else repr(name[:60])
        return shown if self.is_root else f"{self.where}.{shown}"


def _number(text: str) -> float:
    value = float(text.replace("_", ""))
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


_PLAIN: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text.replace("_", ""), 10),
    "float": _number,
    "bool": lambda text: text.lower() in ("yes", "true", "on"),
    "null": lambda text: None,
}
_KINDS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date"}
