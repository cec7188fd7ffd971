"""YAML and JSON that others wrote, read within bounds and without their traps.

Use this for every YAML: a parser by itself lets aliases of aliases grow without end, and overflows its stack at lists inside of
lists. Nodes know their places in the text, for errors that name a line and for edits that leave everything else as it is.
"""

import json
import re
from typing import Any, NoReturn

import yaml
from msgspec import Struct

from parachute.base.errors import InvalidInput

_TAG = "tag:yaml.org,2002:"
_NO_ALIASES = "Anchors and aliases (& and *) are not allowed; write the value out."
_NOT_YAML = "This is not YAML"
_TOO_DEEP = "There are more lists inside of lists than this document can have."
# More than any bound of ours, and still far from what overflows the stack of the parser.
_HARMLESS_DEPTH = 100
# Where an alias, an anchor or a tag may begin: never directly after a letter or a digit.
_MARKS = re.compile(r"[&*!](?<!\w.)")
# Lists below lists, without brackets, are indented more and more, or have their `-` and `?` on one line.
_DEEP_LINE = re.compile(rf"[\n\r\x85\u2028\u2029][ \t\ufeff?:-]{{{_HARMLESS_DEPTH // 4}}}")


class Bounds(Struct, frozen=True):
    """Limits of a document. `core_schema`: YAML 1.2's, where `no`, `12:30` and `2024-01-15` are text."""

    size: int = 256 * 1024
    depth: int = 16
    nodes: int = 100_000
    core_schema: bool = False


_USUAL = Bounds()


class NotYaml(InvalidInput):
    """A document cannot be read: `reason` says why in a sentence; `line` and `column`, both from 1, say where."""

    key = "yaml_unreadable"

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"Line {line}, column {column}: {reason}", line=line, column=column)
        self.reason = reason
        self.line = line
        self.column = column

    @property
    def is_syntax(self) -> bool:
        """True for what no parser of YAML reads, False for what is refused here."""
        return self.reason.startswith(_NOT_YAML)


class NotJson(InvalidInput):
    """A document cannot be read: `reason` says why in a sentence; `line`, from 1, says where, if that is known."""

    key = "json_unreadable"

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"Line {line}: {reason}", line=line)
        self.reason = reason
        self.line = line


# The loader in C is ten times as fast and gives the same places; some builds of the library lack it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _CoreLoader(_Loader):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}


for _name, _expression, _first in (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", "[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    # As small as what we write ourselves: 5.0e-324 is the smallest.
    ("float", r"[-+]?[0-9]{1,18}\.[0-9]{0,40}(?:[eE](?:\+?[0-9]{1,2}|-[0-9]{1,3}))?", "-+0123456789"),
    ("null", "~|null|Null|NULL|", "~nN"),
):
    _CoreLoader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_expression})$"), [*_first, ""])

_constructor = yaml.constructor.SafeConstructor()
_SCALARS = {
    f"{_TAG}null": lambda node: None,
    f"{_TAG}bool": _constructor.construct_yaml_bool,
    f"{_TAG}int": _constructor.construct_yaml_int,
    f"{_TAG}float": _constructor.construct_yaml_float,
}


def compose(data: bytes | str, bounds: Bounds = _USUAL) -> yaml.Node | None:
    """The root of the tree of nodes, None of an empty document; error: NotYaml."""
    text = _text(data, bounds)
    loader = _CoreLoader if bounds.core_schema else _Loader
    try:
        if _needs_a_look(text, bounds):
            _refuse_traps(text, loader, bounds)
        root: yaml.Node | None = yaml.compose(text, loader)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error.problem or error.context, error.problem_mark or error.context_mark) from error
    except yaml.reader.ReaderError as error:
        # A character that YAML forbids comes with its position.
        before = text[: error.position] if isinstance(error.position, int) else ""
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise NotYaml(f"{_NOT_YAML} ({str(error).splitlines()[0]}).", line, column) from error
    if root is not None:
        _check(root, bounds)
    return root


def load(data: bytes | str, bounds: Bounds = _USUAL) -> Any:
    """Parse a document into texts, numbers, true, false, None, lists and dicts with texts for keys; error: NotYaml."""
    return value_of(compose(data, bounds))


def load_mapping(data: bytes | str, bounds: Bounds = _USUAL) -> dict[str, Any]:
    """Parse a document of `name: value`, {} for an empty one; error: NotYaml for any other document."""
    root = compose(data, bounds)
    if root is not None and not isinstance(root, yaml.MappingNode) and value_of(root) is not None:
        raise _at(root, "Lines of the form `name: value` are expected.")
    return value_of(root) or {}


def load_json(data: bytes | str, bounds: Bounds = _USUAL) -> Any:
    """Parse JSON; a name that is there twice and NaN are refused. Error: NotJson."""
    try:
        text = _text(data, bounds).removeprefix("\ufeff")
        value = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
    except NotYaml as error:
        raise NotJson(error.reason, error.line) from error
    except json.JSONDecodeError as error:
        raise NotJson(f"This is not JSON ({error.msg}).", error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise NotJson("This is nested too deeply, or has a number that is too long.") from error
    level, nodes = [value], 0
    for _ in range(bounds.depth):
        inside = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [item for items in inside for item in items]
        nodes += len(level)
    if any(isinstance(each, dict | list) for each in level):
        raise NotJson(_TOO_DEEP)
    if nodes > bounds.nodes:
        raise NotJson(f"There are more than {bounds.nodes:,} values.")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NotJson(f"The field {name[:60]!r} is there twice.")
        found[name] = value
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise NotJson(f"{text} is no number of JSON.")


def value_of(node: yaml.Node | None) -> Any:
    """The value of a node; dates and times are text. Error: NotYaml for a number that is none."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: value_of(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [value_of(item) for item in node.value]
    if node is None:
        return None
    read = _SCALARS.get(node.tag)
    if read is None or not isinstance(node, yaml.ScalarNode):
        return node.value
    try:
        return read(node)
    except ValueError as error:
        raise _at(node, "This number is not allowed here.") from error


def line_of(node: yaml.Node) -> int:
    """The line on which a node begins, from 1."""
    return int(node.start_mark.line) + 1


def child(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The key and the value of this name in a mapping."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _text(data: bytes | str, bounds: Bounds) -> str:
    try:
        if isinstance(data, bytes):
            size, text = len(data), data.decode()
        else:
            size, text = len(data) if data.isascii() else len(data.encode()), data
    except UnicodeDecodeError as error:
        begin = error.object.rfind(b"\n", 0, error.start) + 1
        line = error.object.count(b"\n", 0, error.start) + 1
        raise NotYaml("This is not UTF-8 text.", line, error.start - begin + 1) from error
    except UnicodeEncodeError as error:
        raise NotYaml(
            "This has characters that no text can have.", error.object.count("\n", 0, error.start) + 1
        ) from error
    if size > bounds.size:
        raise NotYaml(f"The text is larger than {bounds.size:,} bytes.")
    return text


def _needs_a_look(text: str, bounds: Bounds) -> bool:
    """Check if a text could hold what must not reach the tree of nodes; going through its events costs as much as the parsing."""
    is_deep = text.count("[") + text.count("{") > _HARMLESS_DEPTH // 2 or _DEEP_LINE.search(f"\n{text}") is not None
    # No node is shorter than a character.
    return is_deep or len(text) > bounds.nodes or _MARKS.search(text) is not None


def _refuse_traps(text: str, loader: Any, bounds: Bounds) -> None:
    # The tree is built recursively, in C without any limit; the events come without recursion.
    depth = nodes = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _at(event, _NO_ALIASES)
        if tag := getattr(event, "tag", None):
            raise _at(event, f"The tag {tag[:40]} is not allowed; write the value without it.")
        nodes += isinstance(event, yaml.NodeEvent)
        if nodes > bounds.nodes:
            raise _at(event, f"There are more than {bounds.nodes:,} values.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > bounds.depth:
                raise _at(event, _TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check(root: yaml.Node, bounds: Bounds) -> None:
    level = [root]
    for _ in range(bounds.depth):
        below: list[yaml.Node] = []
        for node in level:
            if isinstance(node, yaml.MappingNode):
                _check_names(node)
                below += [value for _, value in node.value if value.__class__ is not yaml.ScalarNode]
            elif isinstance(node, yaml.SequenceNode):
                below += [item for item in node.value if item.__class__ is not yaml.ScalarNode]
        if not below:
            return
        level = below
    raise _at(level[0], _TOO_DEEP)


def _check_names(node: yaml.MappingNode) -> None:
    try:
        if len({key.value for key, _ in node.value}) == len(node.value):
            return
    except TypeError:
        pass  # a list cannot be in a set
    names: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _at(key, "The name of a field must be text.")
        if key.value in names:
            raise _at(key, f"The field {key.value[:60]!r} is there twice.")
        names.add(key.value)


def _at(place: Any, reason: str) -> NotYaml:
    mark = place.start_mark
    return NotYaml(reason, mark.line + 1, mark.column + 1)


def _not_yaml(problem: str | None, mark: Any) -> NotYaml:
    reason = _NO_ALIASES if "alias" in (problem or "") else f"{_NOT_YAML} ({problem})."
    return NotYaml(reason, mark.line + 1, mark.column + 1) if mark else NotYaml(reason)
