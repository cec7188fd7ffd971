"""Links in the frontmatter of an entity: `relationships`, and `[[Name]]` in any other field."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import wiki
from .names import LONGEST

_NOT_LINKS = ("para_id", "type", "name", "title", "aliases", "tags", "relationships", "merged_ids")
_LINK = re.compile(r"\[\[([^\[\]|#]+)")
_LONGEST_NOTE = 300

Renamed = Callable[[str], str | None]


def find(fields: Mapping[str, Any]) -> Iterator[wiki.Link]:
    """All links of the fields; the note of one is what a relationship says of it, or else the name of its field."""
    for item in _relationships(fields.get("relationships")):
        target = _target(item)
        if key := wiki.key_of(target):
            yield wiki.Link(key, target, "relationship", _note(item))
    for name, value in fields.items():
        if name not in _NOT_LINKS:
            for text in _texts(value):
                for link in wiki.find(text):
                    yield wiki.Link(link.key, link.target, "relationship", name[:_LONGEST_NOTE])


def rename(fields: Mapping[str, Any], renamed: Renamed) -> dict[str, Any]:
    """The fields that change when links get new targets, with their new values."""
    new = {name: _changed(value, renamed) for name, value in fields.items() if name not in _NOT_LINKS}
    relationships = fields.get("relationships")
    if isinstance(relationships, list):
        new["relationships"] = [_relation(item, renamed) for item in relationships]
    elif isinstance(relationships, Mapping):
        new["relationships"] = {kind: _relation(item, renamed) for kind, item in relationships.items()}
    return {name: value for name, value in new.items() if value != fields[name]}


def _relationships(value: Any) -> list[Any]:
    if isinstance(value, Mapping):  # the short way: `founder: "[[aaron]]"`
        return [{"type": kind, "target": target} for kind, target in value.items()]
    return value if isinstance(value, list) else [value] if value else []


def _target(item: Any) -> str:
    """The target of one item of `relationships`; empty if it has none."""
    if isinstance(item, Mapping):
        item = next((item[name] for name in ("target", "to", "entity", "name") if name in item), "")
    item = _unquoted(item) or item
    text = item.strip() if isinstance(item, str) else ""
    match = _LINK.match(text)
    return match[1].strip() if match else text if len(text) <= LONGEST else ""


def _note(item: Any) -> str:
    kind, note = "", ""
    if isinstance(item, Mapping):
        kind, note = (str(item.get(name) or "").strip() for name in ("type", "note"))
    elif isinstance(item, str):
        note = item.partition("]]")[2].strip().lstrip(" -\u2013\u2014:")
    return " - ".join(part for part in (kind, note) if part)[:_LONGEST_NOTE]


def _relation(item: Any, renamed: Renamed) -> Any:
    """An item of `relationships`, which may name its target without brackets."""
    if isinstance(item, Mapping):
        target = _target(item)
        new = renamed(target) if target else None
        return {
            name: new if value == target and new is not None else _changed(value, renamed)
            for name, value in item.items()
        }
    new = renamed(item) if isinstance(item, str) and "[[" not in item else None
    return _changed(item, renamed) if new is None else new


def _changed(value: Any, renamed: Renamed) -> Any:
    if isinstance(value, str):
        return wiki.rewrite(value, renamed)
    if text := _unquoted(value):
        new = wiki.rewrite(text, renamed)
        return value if new == text else new
    if isinstance(value, list):
        return [_changed(item, renamed) for item in value]
    if isinstance(value, Mapping):
        return {name: _changed(item, renamed) for name, item in value.items()}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif text := _unquoted(value):
        yield text
    elif isinstance(value, list | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _unquoted(value: Any) -> str:
    """`[[Name]]` without quotes, which YAML reads as a list in a list; empty for anything else."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 1:
        return f"[[{value[0][0]}]]" if isinstance(value[0][0], str) else ""
    return ""
