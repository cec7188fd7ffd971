"""Numbers in a description (JSON schema) that could have any value."""

from collections.abc import Iterator
from typing import Any

_BOUNDS = ({"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"})


def without_bounds(node: Any, schemas: dict[str, Any], place: str, seen: set[str]) -> Iterator[str]:
    """Places of numbers in what a caller sends that have no smallest or no largest value."""
    if isinstance(node, list):
        for index, each in enumerate(node):
            yield from without_bounds(each, schemas, f"{place}[{index}]", seen)
    if not isinstance(node, dict):
        return
    # Of a field that is called so, it is the description.
    kind = node.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    is_number = ("integer" in kinds or "number" in kinds) and not {"enum", "const"} & node.keys()
    if is_number and not all(each & node.keys() for each in _BOUNDS):
        yield place
    if isinstance(name := node.get("$ref"), str) and name not in seen:
        seen.add(name)
        yield from without_bounds(schemas[name.rpartition("/")[2]], schemas, name.rpartition("/")[2], seen)
    for key, each in node.items():
        yield from without_bounds(each, schemas, f"{place}.{key}", seen)
