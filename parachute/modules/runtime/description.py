"""Descriptions of modules by their hosts: tools, interfaces and routes, cached so that nobody has to wake a host for them."""

import json
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute import __version__
from parachute.base.files import atomic_write, read_regular
from parachute.core.errors import ModuleError
from parachute.modules.manifest.models import Manifest
from parachute.modules.runtime.models import AcceptedChange, OfferedRoute, OfferedTool
from parachute.modules.runtime.specifications import Wanted

_FILE_LIMIT = 1024 * 1024
_SCHEMA_LIMIT = 64 * 1024
_CHANGE_LIMIT = 8 * 1024
"""Every chat carries those of all modules."""

_NAME_CHARACTERS = 100
_PATH_CHARACTERS = 300
_MOST_ROUTES = 300
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))


class Description(Struct, frozen=True):
    """`interfaces`: of each that the module provides, the methods with the names of their arguments."""

    tools: tuple[OfferedTool, ...] = ()
    interfaces: dict[str, dict[str, tuple[str, ...]]] | None = None
    routes: tuple[OfferedRoute, ...] = ()
    changes: tuple[AcceptedChange, ...] = ()


def is_needed(manifest: Manifest) -> bool:
    """True if a module has tools, interfaces or changes, which its manifest does not describe in full."""
    return bool(manifest.mcp_tools or manifest.provides or manifest.accepts)


def read(value: Any, manifest: Manifest) -> Description:
    """Read a host's description, limited to the manifest; error: ModuleError for anything else.

    Names and descriptions of tools are those of the manifest: a module cannot offer more than its consent screen showed.
    """
    try:
        schemas = {str(tool["name"]): dict(tool["input_schema"]) for tool in value["mcp_tools"]}
        read_only = {str(tool["name"]) for tool in value["mcp_tools"] if tool.get("read_only") is True}
        provided = {str(each["name"]): dict(each["methods"]) for each in value["provides"]}
        methods = {
            wanted.name: {
                _short(method): tuple(map(_short, names)) for method, names in provided.get(wanted.name, {}).items()
            }
            for wanted in manifest.provides
        }
        tools = tuple(
            OfferedTool(
                manifest.name,
                tool.name,
                tool.description,
                _schema(schemas[tool.name]),
                tuple(methods),
                writes=bool(manifest.permissions.write) and tool.name not in read_only,
                reads_only=tool.name in read_only,
            )
            for tool in manifest.mcp_tools
        )
        routes = tuple(_route(manifest.name, route) for route in value["routes"][:_MOST_ROUTES])
        accepted = value["accepts"]
        changes = tuple(
            AcceptedChange(manifest.name, action, _schema(dict(accepted[action]), _CHANGE_LIMIT))
            for action in manifest.accepts
        )
        return Description(tools, methods, routes, changes)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModuleError(
            f"The module {manifest.name} describes itself wrongly: {error!r}.", key="description_invalid"
        ) from error


def _route(module: str, said: dict[str, Any]) -> OfferedRoute:
    method, path = said["method"], said["path"]
    if method not in _METHODS or not isinstance(path, str) or not path.startswith("/") or len(path) > _PATH_CHARACTERS:
        raise ValueError(f"{str(path)[:_NAME_CHARACTERS]!r} is no route")
    return OfferedRoute(module, method, path, str(said["description"]), _schema(dict(said["fields"])))


def _short(text: object) -> str:
    if not isinstance(text, str) or not text.isidentifier() or len(text) > _NAME_CHARACTERS:
        raise ValueError(f"{str(text)[:_NAME_CHARACTERS]!r} is no name")
    return text


def _schema(schema: dict[str, Any], limit: int = _SCHEMA_LIMIT) -> dict[str, Any]:
    if schema.get("type") != "object" or len(json.dumps(schema)) > limit:
        raise ValueError("a schema is none of an object, or too long")
    return schema


def _key(wanted: Wanted) -> list[str | None]:
    # The schemas are made by our own code, too.
    return [wanted.specification.hash, wanted.specification.packages_hash, __version__]


def load_stored(path: Path, wanted: Wanted) -> Description | None:
    """The cached description of this version; None if there is none, or it cannot be read."""
    if wanted.specification.dev:
        return None
    try:
        document = json.loads(read_regular(path, _FILE_LIMIT))
        return read(document["said"], wanted.module.manifest) if document["of"] == _key(wanted) else None
    except (OSError, ValueError, KeyError, TypeError, ModuleError):
        return None  # it is asked again


def store(path: Path, wanted: Wanted, value: Any) -> None:
    """Cache a host's description."""
    atomic_write(path, json.dumps({"of": _key(wanted), "said": value}))
