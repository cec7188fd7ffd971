"""What a tool call asks for: the fields of its input, checked."""

from collections.abc import Mapping
from dataclasses import dataclass

from parachute.errors import InvalidInput
from parachute.permissions.names import could_be_secret, is_secret, is_wild
from parachute.permissions.paths import joined
from parachute.permissions.words import Kind, expand_braces

_FILE_FIELDS: dict[str, str] = {"NotebookEdit": "notebook_path", "NotebookRead": "notebook_path", "LS": "path"}
_TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "Write": ("content",),
    "Edit": ("old_string", "new_string"),
    "NotebookEdit": ("new_source",),
    "Glob": ("pattern",),
    "Grep": ("pattern",),
}


@dataclass(frozen=True, slots=True)
class PathRequest:
    """One path that a tool wants; `searches` says that it wants what is below it, `patterns` which names it looks for."""

    path: str
    searches: bool = False
    patterns: tuple[str, ...] = ()


def text_field(tool: str, fields: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return a text of the input; `InvalidInput` when it is missing or no text."""
    value = fields.get(name, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidInput(f"The field '{name}' of {tool} must be a text.")
    return value


def path_request(tool: str, fields: Mapping[str, object]) -> PathRequest:
    """Return what a file tool asks for; `InvalidInput` with the field when its input is malformed."""
    for name in _TEXT_FIELDS.get(tool, ()):
        text_field(tool, fields, name)
    if tool == "MultiEdit" and not isinstance(fields.get("edits"), list):
        raise InvalidInput("The field 'edits' of MultiEdit must be a list.")
    if tool == "Grep":
        path, names = text_field(tool, fields, "path", "."), text_field(tool, fields, "glob", "")
        return PathRequest(path or ".", True, tuple(_names(names)))
    if tool == "Glob":
        return _glob_request(text_field(tool, fields, "path", ".") or ".", text_field(tool, fields, "pattern"))
    path = text_field(tool, fields, _FILE_FIELDS.get(tool, "file_path"))
    if not path:
        raise InvalidInput(f"The path of {tool} must not be empty.")
    return PathRequest(path, tool == "LS")


def _glob_request(path: str, pattern: str) -> PathRequest:
    if not pattern:
        raise InvalidInput("The field 'pattern' of Glob must not be empty.")
    parts = pattern.split("/")
    fixed = next((number for number, part in enumerate(parts) if is_wild(part) or "{" in part), len(parts) - 1)
    if ".." in parts[fixed:]:
        raise InvalidInput("The field 'pattern' of Glob must not go up with '..' behind a wildcard.")
    root = "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else "")
    return PathRequest(joined(path, root) if root else path, True, tuple(_names(pattern)))


def _names(patterns: str) -> list[str]:
    # Braces, commas and spaces make several patterns of one; a leading '!' leaves files out.
    words = ["".join(text for _, text in pieces) for pieces in expand_braces(((Kind.BARE, patterns),))]
    return [
        part
        for word in words
        for text in word.replace(",", " ").split()
        if not text.startswith("!")
        for part in text.split("/")
        if part
    ]


def secret_pattern(patterns: tuple[str, ...]) -> str | None:
    """Return the first part of a search pattern that aims at a name of the deny list, or None."""
    return next((part for part in patterns if is_secret(part) or (is_wild(part) and could_be_secret(part))), None)
