"""The YAML at the top of a day's file, changed in place: what is not ours keeps every byte."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from daily.days.yaml_nodes import BOUNDS, composed, lines_of
from parachute.core import Conflict, InvalidInput, documents, front_matter

_ENTRIES = "entries"
_TOP = f"{_ENTRIES}:\n"

Fields = Mapping[str, Any]
Changes = Mapping[front_matter.Path, Any]


class Unchangeable(Conflict):
    """The file of a day cannot be read, changed or made longer; it is left as it is."""


class _Part(NamedTuple):
    """The lines of one entry: `above` are empty lines and comments, `lines` its own."""

    above: str
    lines: str


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The text between the two lines `---`, line ends included; `data` is what it says, with times and dates as text.

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
            raise InvalidInput(
                "The part between the lines `---` is no list of `name: value`.", key="front_matter_not_a_list"
            )
        if not isinstance(data.get(_ENTRIES), dict | None):
            raise InvalidInput(
                "`entries` in the part between the lines `---` is no list of `id: …`.", key="entries_not_a_list"
            )
        entries = documents.child(root, _ENTRIES)
        places = front_matter.places(text, entries[1]) if entries else []
        if not places:
            return cls(data, text)
        head, done = text[: places[0].first], places[0].first
        parts: dict[str, _Part] = {}
        for place in places:
            if place.first < done:
                return cls(data, text)
            parts[place.name] = _Part(text[done : place.first], text[place.first : place.last])
            done = place.last
        return cls(data, head, parts, text[done:], places[0].column)

    @classmethod
    def unreadable(cls, text: str) -> "Frontmatter":
        """A text that stays as it is, with the fields that can be read."""
        data = front_matter.legible(text, BOUNDS)
        if not isinstance(data.get(_ENTRIES), dict | None):
            del data[_ENTRIES]
        return cls(data, text)

    @property
    def text(self) -> str:
        """Every byte of it."""
        return self._head + "".join(part.above + part.lines for part in self._parts.values()) + self._tail

    @property
    def entries(self) -> Mapping[str, Any]:
        """Fields of each entry, by its name as it is written there."""
        return self.data.get(_ENTRIES) or {}

    def with_entry(self, name: str, fields: Fields, eol: str) -> "Frontmatter":
        """Add an entry, or change fields of it: None removes one, those that are not named stay."""
        old = self.entries.get(name)
        known: dict[str, Any] = old if isinstance(old, dict) else {"audio": old} if isinstance(old, str) else {}
        expected = {key: value for key, value in {**known, **fields}.items() if value is not None or key not in fields}
        if old == expected:
            return self
        if name not in self.entries and (added := self._with_part(name, expected, eol)):
            return added
        changes: Changes = {(_ENTRIES, name): expected}
        if isinstance(old, dict) and old and expected:
            changes = {(_ENTRIES, name, key): value for key, value in fields.items()}
        if name in self._parts and self._is_complete(name):
            # Alone, so that the others are not read again.
            above, lines = self._parts[name]
            changed = _edited(_TOP + lines, changes, eol)
            if changed.startswith(_TOP):
                data = {**self.data, _ENTRIES: {**self.entries, name: expected}}
                return replace(self, data=data, _parts={**self._parts, name: _Part(above, changed.removeprefix(_TOP))})
        return Frontmatter.parse(_edited(self.text, changes, eol))

    def without_entry(self, name: str, eol: str) -> "Frontmatter":
        """Take an entry out."""
        if name not in self.entries:
            return self
        path = (_ENTRIES, name) if len(self.entries) > 1 else (_ENTRIES,)
        return Frontmatter.parse(_edited(self.text, {path: None}, eol))

    def with_others_of(self, other: "Frontmatter", eol: str) -> "Frontmatter":
        """Add what only the other one says, entries excepted, as it is written there."""
        if not other.data.keys() - self.data.keys() - {_ENTRIES}:
            return self
        text, theirs = self.text, other.text
        missing = [place for place in front_matter.places(theirs, composed(theirs)) if place.name not in self.data]
        data: dict[str, Any] = dict(self.data)
        for place in missing:
            if place.name != _ENTRIES:
                data[place.name] = other.data[place.name]
                lines = theirs[place.first : place.last].replace("\r\n", "\n").replace("\n", eol)
                text += lines if lines.endswith("\n") else lines + eol
        return _checked(text, data)

    def _with_part(self, name: str, said: Fields, eol: str) -> "Frontmatter | None":
        """Write a new entry below the last one; None where that is not certain to be safe.

        Lines that are complete in themselves say the same wherever they stand among others of that kind.
        """
        if not self._parts:
            return None
        last = next(reversed(self._parts))
        lines = lines_of({name: said}, self._column, eol)
        if not ((self._open or self._is_complete(last)) and _says(lines, {name: said})):
            return None
        data = {**self.data, _ENTRIES: {**self.entries, name: said}}
        return replace(self, data=data, _parts={**self._parts, name: _Part("", lines)}, _open=True)

    def _is_complete(self, name: str) -> bool:
        """True if an entry's own lines say all that is said of it."""
        return _says(self._parts[name].lines, {name: self.entries[name]})


def _unchangeable() -> Unchangeable:
    return Unchangeable(
        "The part between the lines `---` is written in a way that cannot be changed without changing more.",
        "Write it as plain `name: value` lines.",
        key="front_matter_unchangeable",
    )


def _says(lines: str, expected: Fields) -> bool:
    """True if the lines of entries, read by themselves, say this."""
    try:
        return bool(documents.value_of(composed(f"{_ENTRIES}:\n{lines}")) == {_ENTRIES: expected})
    except InvalidInput:
        return False


def _edited(text: str, changes: Changes, eol: str) -> str:
    try:
        return front_matter.edit(text, changes, eol, BOUNDS, partial(lines_of, column=0, eol="\n"))
    except (front_matter.NotEditable, documents.NotYaml) as error:
        raise _unchangeable() from error


def _checked(text: str, expected: Fields) -> Frontmatter:
    """Read a changed text; error: Unchangeable if it does not say what is meant."""
    try:
        changed = Frontmatter.parse(text)
    except InvalidInput:
        changed = None
    if changed is None or changed.data != expected:
        raise _unchangeable()
    return changed
