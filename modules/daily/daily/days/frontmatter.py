"""The YAML at the top of a day's file, changed in place: what is not ours keeps every byte."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from parachute.core import Conflict, InvalidInput

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ENTRIES = "entries"
_WIDE = 1_000_000
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")
_TYPES: Mapping[str, Any] = {"int": int, "float": float}

Fields = Mapping[str, Any]


class Unchangeable(Conflict):
    """The file of a day cannot be read, changed or made longer; it is left as it is."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """`text` is what lies between the two lines `---`, line ends included; `data` is what it says.

    Times and dates are text in `data`. Changes return a new one; error: Unchangeable when the text cannot be changed safely.
    """

    text: str
    data: Mapping[str, Any]
    # Where the next entry is written, and how far from the left; None where that takes a closer look.
    _place: tuple[int, int] | None = None

    @classmethod
    def parse(cls, text: str) -> "Frontmatter":
        """Read it; error: InvalidInput for what is no mapping, or has no mapping of entries."""
        root = _composed(text)
        data = _value(root, set())
        data = {} if data is None else data
        if not isinstance(data, dict):
            raise InvalidInput("The part between the lines `---` is no list of `name: value`.")
        if not isinstance(data.get(_ENTRIES), dict | None):
            raise InvalidInput("`entries` in the part between the lines `---` is no list of `id: …`.")
        entries = _child(root, _ENTRIES)
        if entries is None or not _is_block(entries[1]):
            return cls(text, data)
        pairs = entries[1].value
        return cls(text, data, (_end(text, *pairs[-1]), pairs[0][0].start_mark.column))

    @property
    def entries(self) -> Mapping[str, Any]:
        """What is said about each entry, by its name as it is written there."""
        return self.data.get(_ENTRIES) or {}

    def check(self) -> None:
        """See that the text says what is meant; error: Unchangeable."""
        self._checked(self.text, self.data)

    def with_new_entry(self, name: str, fields: Fields, eol: str) -> "Frontmatter":
        """Add an entry quickly: `check` is due before it is written."""
        if self._place is None or name in self.entries:
            return self.with_entry(name, fields, eol)
        place, column = self._place
        lines = _lines({name: fields}, column, eol)
        text = self.text[:place] + lines + self.text[place:]
        data = {**self.data, _ENTRIES: {**self.entries, name: dict(fields)}}
        return Frontmatter(text, data, (place + len(lines), column))

    def with_entry(self, name: str, fields: Fields, eol: str) -> "Frontmatter":
        """Add an entry, or change fields of it: None removes one, those that are not named stay."""
        old = self.entries.get(name)
        known: dict[str, Any] = old if isinstance(old, dict) else {"audio": old} if isinstance(old, str) else {}
        expected = {key: value for key, value in {**known, **fields}.items() if value is not None}
        data: dict[str, Any] = copy.deepcopy(dict(self.data))
        data[_ENTRIES] = {**self.entries, name: expected}
        if old == expected:
            return self
        root = _composed(self.text)
        entries = _child(root, _ENTRIES)
        pair = _child(entries[1], name) if entries and _is_block(entries[1]) else None
        text = self.text
        if pair and _is_block(pair[1]) and expected:
            edits: list[tuple[int, int, str]] = []
            for key, value in fields.items():
                field = _child(pair[1], key)
                if value is None and field is None:
                    continue
                place = _span(text, *field) if field else (_end(text, *pair[1].value[-1]),) * 2
                lines = "" if value is None else _lines({key: value}, pair[1].value[0][0].start_mark.column, eol)
                edits.append((*place, lines))
            # From the end, so that what was measured still holds; what is added at one place is added in order.
            for _, (start, end, lines) in sorted(
                enumerate(edits), key=lambda edit: (edit[1][0], edit[0]), reverse=True
            ):
                text = text[:start] + lines + text[end:]
        elif entries and _is_block(entries[1]):
            column = entries[1].value[0][0].start_mark.column
            place = _span(text, *pair) if pair else (_end(text, *entries[1].value[-1]),) * 2
            text = text[: place[0]] + _lines({name: expected}, column, eol) + text[place[1] :]
        else:
            place = _span(text, *entries) if entries else (len(text),) * 2
            text = text[: place[0]] + _lines({_ENTRIES: data[_ENTRIES]}, 0, eol) + text[place[1] :]
        return self._checked(text, data)

    def without_entry(self, name: str, eol: str) -> "Frontmatter":
        """Take an entry out."""
        if name not in self.entries:
            return self
        data: dict[str, Any] = copy.deepcopy(dict(self.data))
        del data[_ENTRIES][name]
        entries = _child(_composed(self.text), _ENTRIES)
        assert entries is not None
        pair = _child(entries[1], name) if _is_block(entries[1]) else None
        if pair and data[_ENTRIES]:
            start, end = _span(self.text, *pair)
            text = self.text[:start] + self.text[end:]
        else:
            start, end = _span(self.text, *entries)
            rest = _lines({_ENTRIES: data[_ENTRIES]}, 0, eol) if data[_ENTRIES] else ""
            text = self.text[:start] + rest + self.text[end:]
            if not rest:
                del data[_ENTRIES]
        return self._checked(text, data)

    def with_others_of(self, other: "Frontmatter", eol: str) -> "Frontmatter":
        """Add what only the other one says, entries excepted, as it is written there."""
        text = self.text
        root = _composed(other.text)
        data: dict[str, Any] = dict(self.data)
        for key, value in other.data.items():
            pair = _child(root, key)
            if key in self.data or key == _ENTRIES or pair is None:
                continue
            data[key] = value
            start, end = _span(other.text, *pair)
            lines = other.text[start:end].replace("\r\n", "\n").replace("\n", eol)
            text += lines if lines.endswith("\n") else lines + eol
        return self if text == self.text else self._checked(text, data)

    @staticmethod
    def _checked(text: str, expected: Mapping[str, Any]) -> "Frontmatter":
        try:
            changed = Frontmatter.parse(text)
        except InvalidInput:
            changed = None
        if changed is None or changed.data != expected:
            raise Unchangeable(
                "The part between the lines `---` is written in a way that cannot be changed without changing more.",
                "Write it as plain `name: value` lines.",
            )
        return changed


def _composed(text: str) -> Any:
    try:
        return yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark else ""
        reason = getattr(error, "problem", None) or type(error).__name__
        raise InvalidInput(f"The part between the lines `---` is no YAML: {where}{reason}.") from error


def _value(node: Any, seen: set[int]) -> Any:
    if node is None:
        return None
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if id(node) in seen:
        raise InvalidInput("The part between the lines `---` uses `*name`, which is not read here.")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, seen) for item in node.value]
    return {str(key.value): _value(value, seen) for key, value in node.value}


def _scalar(node: Any) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    if kind in _TYPES:
        try:
            return _TYPES[kind](node.value)
        except ValueError:
            pass  # octal, sexagesimal and the like: as it is written
    return node.value


def _child(node: Any, name: str) -> tuple[Any, Any] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == name:
                return key, value
    return None


def _is_block(node: Any) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)


def _span(text: str, key: Any, value: Any) -> tuple[int, int]:
    """Where the lines of a pair begin and end."""
    return text.rfind("\n", 0, key.start_mark.index) + 1, _end(text, key, value)


def _end(text: str, key: Any, value: Any) -> int:
    while _is_block(value):
        key, value = value.value[-1]
    last = max(len(text[: value.end_mark.index].rstrip()), key.end_mark.index)
    end = text.find("\n", last)
    return len(text) if end < 0 else end + 1


def _lines(values: Fields, column: int, eol: str) -> str:
    lines: list[str] = []
    for key, value in values.items():
        inner = isinstance(value, dict) and bool(value)
        text = yaml.safe_dump(
            {key: None if inner else value},
            allow_unicode=True,
            width=_WIDE,
            default_flow_style=None if isinstance(value, list | dict) and not inner else False,
        ).rstrip("\n")
        if isinstance(value, str) and _TIME.fullmatch(value):
            text = text.replace(f"'{value}'", value)  # as the app writes it
        if inner:
            text = text.removesuffix(" null") + "\n" + _lines(value, 2, "\n").rstrip("\n")
        lines += [" " * column + line + eol for line in text.split("\n")]
    return "".join(lines)
