"""`.claude-plugin/plugin.json`: who made a plugin, and where its parts lie; whoever wrote it may be hostile."""

import re
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from parachute.base.documents import Bounds, NotJson, load_json
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.capabilities.plugins.models import PART_NAME

FILE = ".claude-plugin/plugin.json"
MARKETPLACE = ".claude-plugin/marketplace.json"

_BOUNDS = Bounds(size=256 * 1024, depth=16, nodes=20_000)
_ABOUT = frozenset(
    [
        "$schema",
        "name",
        "displayName",
        "version",
        "description",
        "author",
        "homepage",
        "repository",
        "license",
        "keywords",
        "category",
        "tags",
    ]
)
_PARTS = ("skills", "agents", "commands", "hooks", "mcpServers")
_NAME = re.compile(PART_NAME)
_TEXT_LIMIT = 2_000
_MOST_PATHS = 50


class PluginInvalid(InvalidInput):
    """A folder is no plugin, or none that can be used here."""

    key = "plugin_invalid"


def unreadable(error: OSError) -> PluginInvalid:
    """The error for a part of which the system says this, such as that a link is in its place."""
    return PluginInvalid(f"A part of the plugin cannot be read: {error.strerror}.")


class Manifest(Struct, frozen=True):
    """The fields of the file; `paths` are further places of its parts by their kind, `inline` what it holds of them itself.

    `other` are the names of fields that have no effect here.
    """

    name: str
    version: str
    description: str
    author: str | None
    paths: dict[str, tuple[str, ...]]
    inline: dict[str, dict[str, Any]]
    other: tuple[str, ...]


def read_manifest(folder: Folder) -> Manifest:
    """Read the manifest of the plugin in a folder; error: PluginInvalid."""
    document = document_of(folder, FILE)
    name = document.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PluginInvalid(f"{FILE}: name: expected at most 64 letters, digits, - and _, a letter or digit first.")
    paths: dict[str, tuple[str, ...]] = {}
    inline: dict[str, dict[str, Any]] = {}
    for kind in _PARTS:
        value = document.get(kind)
        if isinstance(value, dict) and kind in ("hooks", "mcpServers"):
            inline[kind] = value
        elif value is not None:
            paths[kind] = _paths(kind, value)
    other = tuple(sorted(str(field)[:40] for field in document if field not in _ABOUT and field not in _PARTS))
    return Manifest(
        name=name,
        version=_text(document, "version") or "0.0.0",
        description=_text(document, "description"),
        author=_author(document.get("author")),
        paths=paths,
        inline=inline,
        other=other,
    )


def document_of(folder: Folder, path: str) -> dict[str, Any]:
    """An object of JSON in the folder of a plugin; error: PluginInvalid."""
    try:
        document = load_json(folder.read(path, _BOUNDS.size), _BOUNDS)
    except FileNotFoundError as error:
        raise PluginInvalid(f"There is no {path}.", key="no_plugin") from error
    except OSError as error:
        raise PluginInvalid(f"{path} cannot be read: {error.strerror}.") from error
    except NotJson as error:
        raise PluginInvalid(f"{path}: {error.message}") from error
    except InvalidInput as error:
        raise PluginInvalid(error.message) from error
    if not isinstance(document, dict):
        raise PluginInvalid(f"{path}: expected an object.")
    return document


def _text(document: dict[str, Any], field: str) -> str:
    value = document.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _TEXT_LIMIT:
        raise PluginInvalid(f"{FILE}: {field}: expected a text of at most {_TEXT_LIMIT:,} characters.")
    return " ".join("".join(each if each.isprintable() else " " for each in value).split())


def _author(value: Any) -> str | None:
    if isinstance(value, dict):
        value = _text(value, "name")
    if value is not None and (not isinstance(value, str) or len(value) > _TEXT_LIMIT):
        raise PluginInvalid(f"{FILE}: author: expected a name.")
    return value or None


def _paths(kind: str, value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or len(values) > _MOST_PATHS:
        raise PluginInvalid(f"{FILE}: {kind}: expected a path, or a list of paths.")
    found = []
    for each in values:
        if not isinstance(each, str) or not each.startswith("./") or not each.isprintable() or "\\" in each:
            raise PluginInvalid(f"{FILE}: {kind}: expected paths that begin with ./")
        path = PurePosixPath(each)
        if ".." in path.parts or ".git" in path.parts:
            raise PluginInvalid(f"{FILE}: {kind}: {each[:80]!r} leads out of the plugin.")
        found.append(str(path))
    return tuple(dict.fromkeys(found))
