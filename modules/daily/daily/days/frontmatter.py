"""The YAML at the top of a day's file, changed in place: what is not ours keeps every byte."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import yaml

from daily.days.yaml_nodes import composed, end, is_block, lines_of, span
from parachute.core import Conflict, InvalidInput, documents

_ENTRIES = "entries"

Fields = Mapping[str, Any]


class Unchangeable(Conflict):
    """The file of a day cannot be read, changed or made longer; it is left as it is."""


class _Part(NamedTuple):
    """What is written of one entry: `above` are empty lines and comments, `lines` its own."""

    above: str
    lines: str


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What lies between the two lines `---`, line ends included; `data` is what it says, with times and dates as text.

    Changes return a new one; error: Unchangeable when the text cannot be changed safely.
    """

    data: Mapping[str, Any]
    # The text in three pieces, so that an entry is changed without reading those of all others again. Where the entries are
    # not written one below the other, everything is the first piece.
    _head: str
    _parts: dict[str, _Part] = field(default_factory=dict)
    _tail: str = ""
    _column: int = 0
    # Whether the last part was seen to be complete in itself, so that another one may follow it.
    _open: bool = False

    @classmethod
    def parse(cls, text: str) -> "Frontmatter":
        """Read it; error: InvalidInput for what is no mapping, or has no mapping of entries."""
        root = composed(text)
        data = documents.value_of(root)
        data = {} if data is None else data
        if not isinstance(data, dict):
            raise InvalidInput("The part between the lines `---` is no list of `name: value`.")
        if not isinstance(data.get(_ENTRIES), dict | None):
            raise InvalidInput("`entries` in the part between the lines `---` is no list of `id: …`.")
        entries = documents.child(root, _ENTRIES)
        if entries is None or not is_block(entries[1]):
            return cls(data, text)
        pairs = entries[1].value
        head, done = text[: span(text, *pairs[0])[0]], span(text, *pairs[0])[0]
        parts: dict[str, _Part] = {}
        for key, value in pairs:
            first, last = span(text, key, value)
            if not isinstance(key, yaml.ScalarNode) or key.value in parts or first < done:
                return cls(data, text)
            parts[key.value] = _Part(text[done:first], text[first:last])
            done = last
        return cls(data, head, parts, text[done:], pairs[0][0].start_mark.column)

    @classmethod
    def unreadable(cls, text: str) -> "Frontmatter":
        """A text that stays as it is, whatever it says."""
        return cls({}, text)

    @property
    def text(self) -> str:
        """Every byte of it."""
        return self._head + "".join(part.above + part.lines for part in self._parts.values()) + self._tail

    @property
    def entries(self) -> Mapping[str, Any]:
        """What is said about each entry, by its name as it is written there."""
        return self.data.get(_ENTRIES) or {}

    def with_entry(self, name: str, fields: Fields, eol: str) -> "Frontmatter":
        """Add an entry, or change fields of it: None removes one, those that are not named stay."""
        old = self.entries.get(name)
        known: dict[str, Any] = old if isinstance(old, dict) else {"audio": old} if isinstance(old, str) else {}
        expected = {key: value for key, value in {**known, **fields}.items() if value is not None}
        if old == expected:
            return self
        data = {**self.data, _ENTRIES: {**self.entries, name: expected}}
        if name not in self.entries:
            return self._with_part(name, expected, data, eol) or self._rewritten(name, fields, expected, data, eol)
        return self._with_changed_part(name, fields, data, eol) or self._rewritten(name, fields, expected, data, eol)

    def without_entry(self, name: str, eol: str) -> "Frontmatter":
        """Take an entry out."""
        if name not in self.entries:
            return self
        rest = {other: said for other, said in self.entries.items() if other != name}
        text = self.text
        entries = documents.child(composed(text), _ENTRIES)
        assert entries is not None
        pair = documents.child(entries[1], name) if is_block(entries[1]) else None
        if pair and rest:
            first, last = span(text, *pair)
            return _checked(text[:first] + text[last:], {**self.data, _ENTRIES: rest})
        first, last = span(text, *entries)
        if rest:
            lines = lines_of({_ENTRIES: rest}, 0, eol)
            return _checked(text[:first] + lines + text[last:], {**self.data, _ENTRIES: rest})
        data = {key: value for key, value in self.data.items() if key != _ENTRIES}
        return _checked(text[:first] + text[last:], data)

    def with_others_of(self, other: "Frontmatter", eol: str) -> "Frontmatter":
        """Add what only the other one says, entries excepted, as it is written there."""
        if not other.data.keys() - self.data.keys() - {_ENTRIES}:
            return self
        text, theirs = self.text, other.text
        root = composed(theirs)
        data: dict[str, Any] = dict(self.data)
        for key, value in other.data.items():
            pair = documents.child(root, key)
            if key in self.data or key == _ENTRIES or pair is None:
                continue
            data[key] = value
            first, last = span(theirs, *pair)
            lines = theirs[first:last].replace("\r\n", "\n").replace("\n", eol)
            text += lines if lines.endswith("\n") else lines + eol
        return _checked(text, data)

    def _with_part(self, name: str, said: Fields, data: Fields, eol: str) -> "Frontmatter | None":
        """Write a new entry below the last one; None where that takes a closer look.

        Lines that are complete in themselves say the same wherever they stand among others of that kind.
        """
        if not self._parts:
            return None
        last = next(reversed(self._parts))
        lines = lines_of({name: said}, self._column, eol)
        if not ((self._open or self._is_complete(last)) and _says(lines, {name: said})):
            return None
        return replace(self, data=data, _parts={**self._parts, name: _Part("", lines)}, _open=True)

    def _with_changed_part(self, name: str, fields: Fields, data: Fields, eol: str) -> "Frontmatter | None":
        """Write an entry anew and leave the others alone; None where that takes a closer look."""
        if name not in self._parts or not self._is_complete(name):
            return None
        above, lines = self._parts[name]
        top, said = f"{_ENTRIES}:\n", data[_ENTRIES][name]
        alone = Frontmatter({_ENTRIES: {name: self.entries[name]}}, top + lines)
        changed = alone._rewritten(name, fields, said, {_ENTRIES: {name: said}}, eol).text
        if not changed.startswith(top):
            return None
        return replace(self, data=data, _parts={**self._parts, name: _Part(above, changed.removeprefix(top))})

    def _is_complete(self, name: str) -> bool:
        """Whether an entry's own lines say all that is said of it."""
        return _says(self._parts[name].lines, {name: self.entries[name]})

    def _rewritten(self, name: str, fields: Fields, expected: Fields, data: Fields, eol: str) -> "Frontmatter":
        text = self.text
        entries = documents.child(composed(text), _ENTRIES)
        pair = documents.child(entries[1], name) if entries and is_block(entries[1]) else None
        if pair and is_block(pair[1]) and expected:
            edits: list[tuple[int, int, str]] = []
            for key, value in fields.items():
                found = documents.child(pair[1], key)
                if value is None and found is None:
                    continue
                place = span(text, *found) if found else (end(text, *pair[1].value[-1]),) * 2
                lines = "" if value is None else lines_of({key: value}, pair[1].value[0][0].start_mark.column, eol)
                edits.append((*place, lines))
            # From the end, so that what was measured still holds; what is added at one place is added in order.
            for _, (first, last, lines) in sorted(
                enumerate(edits), key=lambda edit: (edit[1][0], edit[0]), reverse=True
            ):
                text = text[:first] + lines + text[last:]
        elif entries and is_block(entries[1]):
            column = entries[1].value[0][0].start_mark.column
            place = span(text, *pair) if pair else (end(text, *entries[1].value[-1]),) * 2
            text = text[: place[0]] + lines_of({name: expected}, column, eol) + text[place[1] :]
        else:
            place = span(text, *entries) if entries else (len(text),) * 2
            text = text[: place[0]] + lines_of({_ENTRIES: data[_ENTRIES]}, 0, eol) + text[place[1] :]
        return _checked(text, data)


def _says(lines: str, expected: Fields) -> bool:
    """Whether the lines of entries, read by themselves, say this."""
    try:
        return bool(documents.value_of(composed(f"{_ENTRIES}:\n{lines}")) == {_ENTRIES: expected})
    except InvalidInput:
        return False


def _checked(text: str, expected: Fields) -> Frontmatter:
    """Read a changed text; error: Unchangeable if it does not say what is meant."""
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
