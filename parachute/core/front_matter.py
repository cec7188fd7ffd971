"""YAML between two lines `---` at the top of a text: read within bounds, and changed without touching anything else.

    parts = front_matter.split(text)
    changed = front_matter.edit(parts.front, {("tags",): ["garden"], ("draft",): None}, parts.newline)

Comments, empty lines, the order and the spelling of all other fields stay as the user wrote them, byte for byte.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import yaml

from parachute.base import documents
from parachute.base.documents import Bounds, NotYaml
from parachute.base.errors import Conflict

BOUNDS = Bounds(core_schema=True)
"""In these files `no`, `12:30` and `2024-01-15` are texts."""

_MARK = "\ufeff"
_OPENING = re.compile(r"---[ \t]*(\r?\n)")
_PARTS = re.compile(r"---[ \t]*\r?\n(?P<front>(?:.*?\n)??)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_][\w :/.-]{0,60}?)[ \t]*:(?:[ \t]|$)", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*-[ \t]+(\S.*)")
_MOST_LEGIBLE = 200
_TAG = "tag:yaml.org,2002:"

Path = tuple[str, ...]
"""Names of a field and of those that it is in, from outside."""


class NotEditable(Conflict):
    """A text is written in a way that cannot be changed without changing more of it."""

    key = "front_matter_not_editable"


class Parts(NamedTuple):
    """Parts of a text; `front` is None without front matter, and `is_open` where the second `---` is missing."""

    mark: str
    front: str | None
    body: str
    newline: str
    is_open: bool = False

    @property
    def text(self) -> str:
        """The parts as one text, with plain lines `---`."""
        if self.front is None:
            return self.mark + self.body
        return f"{self.mark}---{self.newline}{self.front}---{self.newline}{self.body}"


class Place(NamedTuple):
    """First and last line of a field, and the column of its name."""

    name: str
    column: int
    first: int
    last: int


def split(text: str) -> Parts:
    """A text in its parts; `mark` is the byte order mark, if it has one."""
    mark = _MARK if text.startswith(_MARK) else ""
    text = text.removeprefix(_MARK)
    opening = _OPENING.match(text)
    if match := _PARTS.match(text) if opening else None:
        assert opening is not None
        return Parts(mark, match["front"], text[match.end() :], opening[1])
    return Parts(mark, None, text, "\r\n" if "\r\n" in text else "\n", opening is not None)


def line_of(text: str, names: Iterable[str]) -> int:
    """The line, from 1, of a field within others; that of the innermost which is there, 1 if none is. Error: NotYaml."""
    # The first line of the text is the `---`.
    node, line = documents.compose(split(text).front or ""), 1
    for name in names:
        if (found := documents.child(node, name)) is None:
            break
        line, node = documents.line_of(found[0]) + 1, found[1]
    return line


def read(text: str, bounds: Bounds = BOUNDS) -> tuple[dict[str, Any] | None, str]:
    """The fields, None without front matter, and what follows them; error: NotYaml with the line in the whole text."""
    parts = split(text.replace("\r\n", "\n"))
    if parts.front is None:
        return None, parts.body
    try:
        return documents.load_mapping(parts.front, bounds), parts.body
    except NotYaml as error:
        # The first line of the text is the `---`.
        raise NotYaml(error.reason, error.line + 1, error.column) from error


def legible(text: str, bounds: Bounds = BOUNDS, depth: int = 3) -> dict[str, Any]:
    """The fields of a text that is no YAML, as far as it goes: of a field that is there twice the first one.

    A value that only people can read is a text, and items of a list are. Fields within fields are read likewise, to that depth.
    """
    fields: dict[str, Any] = {}
    if len(text.encode(errors="replace")) > bounds.size:
        return fields
    for name, lines in _blocks(text)[:_MOST_LEGIBLE]:
        if name not in fields and (value := _value(lines, bounds, depth)) is not None:
            fields[name] = value
    return fields


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    """Return the lines of each field, with its name."""
    found: list[tuple[str, list[str]]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if match := _FIELD.match(line):
            found.append((match[1], [line]))
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def _value(lines: list[str], bounds: Bounds, depth: int) -> Any:
    for text in ("\n".join(lines), "\n".join(re.sub(r"^\t+", "  ", line) for line in lines)):
        try:
            ((_, value),) = documents.load_mapping(text, bounds).items()
        except (NotYaml, ValueError):
            continue
        return value
    inner = textwrap.dedent("\n".join(lines[1:]))
    if depth > 1 and _FIELD.match(inner) and inner != "\n".join(lines[1:]):
        return legible(inner, bounds, depth - 1)
    first = lines[0].partition(":")[2].strip()
    items = [match[1].rstrip() for line in lines[1:] if (match := _ITEM.match(line))]
    is_plain = len(items) == len(lines) - 1 and bool(first) != bool(items)
    # A tag or an alias of YAML is nothing that anybody wrote as a text.
    return (items or first) if is_plain and not any(text[0] in "&*!" for text in (first, *items) if text) else None


class _Dumper(yaml.SafeDumper):
    # Others read these files, too: what would be a number or a switch to any of them is quoted, dates are not.
    yaml_implicit_resolvers = {
        first: [entry for entry in entries if entry[0] != f"{_TAG}timestamp"]
        for first, entries in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write(fields: Mapping[str, Any]) -> str:
    """Lines of new fields, each with its line end."""
    if not fields:
        return ""
    text: str = yaml.dump(
        dict(fields), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=1 << 20
    )
    return text


def edit(
    text: str,
    changes: Mapping[Path, Any],
    newline: str = "\n",
    bounds: Bounds = BOUNDS,
    write: Callable[[Mapping[str, Any]], str] = write,
) -> str:
    """The text of fields (without the lines `---`) with some of them changed; None removes one.

    `write` gives the lines of what is new. Errors: NotYaml, NotEditable.
    """
    root = documents.compose(text, bounds)
    before = documents.value_of(root)
    before = {} if before is None else before
    changes = {path: _plain(value) for path, value in changes.items() if _at(before, path) != _plain(value)}
    wanted = before
    for path, value in changes.items():
        wanted = _changed(wanted, path, value)
    if not changes or wanted == before:
        return text
    text += "" if not text or text.endswith("\n") else newline
    edits = dict(_edit(text, root, path, wanted, write) for path in changes)
    # From the end, so that what was measured still holds; what is added at one place is added in order.
    added: dict[tuple[int, int], list[str]] = {}
    for (first, last, _), lines in edits.items():
        added.setdefault((first, last), []).append(lines.replace("\n", newline))
    edited = text
    for (first, last), new in sorted(added.items(), reverse=True):
        edited = edited[:first] + "".join(new) + edited[last:]
    try:
        if documents.load(edited, bounds) == wanted:
            return edited
    except NotYaml:
        pass
    raise NotEditable(
        "The fields are written in a way that cannot be changed without changing more.",
        "Write them as plain lines of `name: value`.",
    )


def places(text: str, node: Any) -> list[Place]:
    """Return the place of each field of a mapping (`documents.compose` gives the node); none unless each has lines of its own."""
    if not _is_block(node):
        return []
    return [_place(text, key, value) for key, value in node.value]


def _edit(
    text: str, node: Any, path: Path, wanted: Any, write: Callable[[Mapping[str, Any]], str]
) -> tuple[tuple[int, int, Path], str]:
    """The edit for one change: its place, with the name of what is new at that place, and the lines."""
    for depth, name in enumerate(path, 1):
        if not _is_block(node):
            break
        found = documents.child(node, name)
        wanted = _at(wanted, (name,))
        if found is None:
            column, end = node.value[0][0].start_mark.column, _place(text, *node.value[-1]).last
            return (end, end, path[:depth]), _indented(write({name: wanted}), column)
        key, node = found
        # What cannot be changed inside is written anew as a whole.
        if depth == len(path) or not wanted or not _is_block(node):
            place = _place(text, key, node)
            lines = "" if wanted is None else _indented(write({name: wanted}), place.column)
            return (place.first, place.last, ()), lines
    name = path[0]
    return (len(text), len(text), path[:1]), "" if node is not None else write({name: wanted[name]})


def _is_block(node: Any) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)


def _place(text: str, key: Any, value: Any) -> Place:
    last = value
    # The end of a list is known to its last item only: its own is where the next field begins.
    while isinstance(last, yaml.CollectionNode) and not last.flow_style and last.value:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    end = max(last.end_mark.index, key.end_mark.index)
    while end > key.end_mark.index and text[end - 1].isspace():
        end -= 1
    line_end = text.find("\n", end)
    first = text.rfind("\n", 0, key.start_mark.index) + 1
    return Place(key.value, key.start_mark.column, first, len(text) if line_end < 0 else line_end + 1)


def _indented(lines: str, column: int) -> str:
    return "".join(" " * column + line if line.strip() else line for line in lines.splitlines(keepends=True))


def _at(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _changed(fields: Any, path: Path, value: Any) -> dict[str, Any]:
    name, *inner = path
    found = dict(fields) if isinstance(fields, dict) else {}
    if inner and not (value is None and name not in found):
        found[name] = _changed(found.get(name), tuple(inner), value)
    elif value is not None:
        found[name] = value
    else:
        found.pop(name, None)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
