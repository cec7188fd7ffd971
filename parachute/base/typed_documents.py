"""Documents that others wrote, read into our own types: all mistakes at once, each with its line and the path of its field."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import yaml

from parachute.base.document_values import Problem, Refused, Value
from parachute.base.documents import Bounds, NotJson, NotYaml, compose, load_json
from parachute.base.errors import InvalidInput

_TAG = "tag:yaml.org,2002:"
_START = yaml.Mark("", 0, 0, 0, "", 0)

Result = TypeVar("Result")


class DocumentInvalid(InvalidInput):
    """A document has mistakes; `problems` are all of them in the order of the file."""

    key = "document_invalid"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        super().__init__("\n".join(map(str, self.problems)))


def read_document(data: bytes, name: str, read: Callable[["Value"], Result], bounds: Bounds) -> Result:
    """Read YAML with `read`; `name` stands for the whole document in problems. Error: DocumentInvalid."""
    try:
        root = compose(data, bounds)
    except NotYaml as error:
        raise DocumentInvalid([Problem(error.line, name, error.reason)]) from error
    return _read(root or _node(None), name, read)


def read_json(data: bytes, name: str, read: Callable[["Value"], Result], bounds: Bounds) -> Result:
    """Read JSON with `read`; `name` stands for the whole document in problems. Error: DocumentInvalid."""
    try:
        root = _node(load_json(data, bounds))
    except NotJson as error:
        raise DocumentInvalid([Problem(1, name, str(error))]) from error
    return _read(root, name, read)


def _read(root: yaml.Node, name: str, read: Callable[["Value"], Result]) -> Result:
    problems: list[Problem] = []
    try:
        result = read(Value(root, name, problems, is_root=True))
    except Refused:
        pass
    if problems:
        raise DocumentInvalid(problems)
    return result


def _node(value: Any) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(_node(name), _node(item)) for name, item in value.items()]
        return yaml.MappingNode(f"{_TAG}map", pairs, _START, _START)
    if isinstance(value, list):
        return yaml.SequenceNode(f"{_TAG}seq", [_node(item) for item in value], _START, _START)
    kind = "null" if value is None else type(value).__name__
    written = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    return yaml.ScalarNode(f"{_TAG}{kind}", written, _START, _START)
