"""YAML that people write by hand: read without its traps, and changed without touching what stays the same.

PyYAML needs no line under `dependencies`: it is in the process of every module, which has read the manifest with it.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from parachute.core import documents

_BOUNDS = documents.Bounds(size=128 * 1024, depth=20, core_schema=True)
_TAG = "tag:yaml.org,2002:"
_KEY = re.compile(r"(?P<quote>[\"']?)(?P<key>[^\s#\"'\-\[\]{},&*!|>%@`](?:[^:\"']*[^\s:\"'])?)(?P=quote)\s*:(?:\s|$)")


class NotYaml(Exception):
    """A text cannot be read; the sentence says why."""


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


def read(text: str) -> dict[str, Any]:
    """The mapping that a text holds, its values as JSON can say them; an empty text is an empty one. Error: NotYaml."""
    try:
        return documents.load_mapping(text, _BOUNDS)
    except documents.NotYaml as error:
        raise NotYaml(f"line {error.line}: {error.reason}") from error


def write(value: Mapping[str, Any]) -> str:
    """The mapping as text, which ends with a line end unless it is empty."""
    if not value:
        return ""
    text: str = yaml.dump(
        dict(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=1 << 20
    )
    return text


def edit(text: str, changes: Mapping[str, Any], newline: str = "\n") -> str:
    """The text with some fields changed, None removes one; lines of other fields and comments stay as they are.

    Error: NotYaml when the text cannot be read.
    """
    before = read(text)
    wanted = {name: changes.get(name, value) for name, value in before.items()}
    wanted |= {name: value for name, value in changes.items() if name not in before}
    wanted = {name: value for name, value in wanted.items() if value is not None or name not in changes}
    lines: list[str] = []
    done: set[str] = set()
    for key, block in _blocks(text):
        if key is None or key not in changes or before.get(key) == changes[key]:
            lines += block
        else:
            if changes[key] is not None:
                lines.append(write({key: changes[key]}).replace("\n", newline))
            lines += _trailing(block)
        done.add(key or "")
    if lines and not lines[-1].endswith("\n"):
        lines.append(newline)
    lines += [
        write({name: value}).replace("\n", newline)
        for name, value in changes.items()
        if value is not None and name not in done
    ]
    edited = "".join(lines)
    try:
        if read(edited) == _plain(wanted):
            return edited
    except NotYaml:
        pass  # such as a mapping in braces, which has no lines of its own
    return write(wanted).replace("\n", newline)


def _blocks(text: str) -> list[tuple[str | None, list[str]]]:
    """Lines by the field at the outermost level that they belong to; None: before the first one."""
    found: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in text.splitlines(keepends=True):
        if match := _KEY.match(line):
            found.append((match["key"], []))
        found[-1][1].append(line)
    return found


def _trailing(block: list[str]) -> list[str]:
    """Empty lines and comments at the end of a block, which belong to what follows."""
    end = len(block)
    while end > 1 and (not block[end - 1].strip() or block[end - 1].startswith("#")):
        end -= 1
    return block[end:]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
