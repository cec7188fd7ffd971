"""YAML that people write by hand: read without its traps, and changed without touching what stays the same.

PyYAML needs no line under `dependencies`: it is in the process of every module, which has read the manifest with it.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import yaml

LARGEST = 128 * 1024
_DEEPEST = 20
_TAG = "tag:yaml.org,2002:"
_KEY = re.compile(r"(?P<quote>[\"']?)(?P<key>[^\s#\"'\-\[\]{},&*!|>%@`](?:[^:\"']*[^\s:\"'])?)(?P=quote)\s*:(?:\s|$)")
# YAML 1.2's: `no`, `12:30` and `2024-01-15` are text, as those who write them mean it.
_PLAIN: tuple[tuple[str, str, str], ...] = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})", "-+0123456789"),
    ("float", r"[-+]?[0-9]{1,18}\.[0-9]{0,18}(?:[eE][-+]?[0-9]{1,2})?", "-+0123456789"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
)


class NotYaml(Exception):
    """A text cannot be read; the sentence says why."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}


for _name, _expression, _first in _PLAIN:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"(?:{_expression})$"), [*_first.replace("\0", ""), ""])


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
    if len(text) > LARGEST:
        raise NotYaml(f"it is larger than {LARGEST:,} characters")
    try:
        _refuse_traps(text)
        value = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" in line {mark.line + 1}" if mark else ""
        raise NotYaml(f"it is not YAML{line} ({error.problem or error.context})") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotYaml(f"it is not YAML ({str(error).splitlines()[0][:200]})") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotYaml("it is not a list of `field: value`")
    plain = _plain(value)
    assert isinstance(plain, dict)
    return plain


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


def _refuse_traps(text: str) -> None:
    # The loader in C builds its tree recursively and overflows its stack; its events come without recursion.
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise NotYaml("anchors and aliases (& and *) are not read; put the text in quotes")
        if getattr(event, "tag", None):
            raise NotYaml("tags (!) are not read; put the text in quotes")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise NotYaml("it has lists inside of lists inside of lists")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"null" if name is None else str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
