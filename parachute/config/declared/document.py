"""The schema of `declared.json`: every key is known, and every mistake names its key."""

import re
from functools import partial
from pathlib import Path
from typing import Any

from parachute.base.document_values import Fields, Value
from parachute.base.documents import Bounds
from parachute.base.typed_documents import DocumentInvalid, read_json
from parachute.config.declared.models import NOTHING, Declaration, DeclaredModule, invalid

VERSION = 1

_KEYS = ("version", "user", "settings", "modules", "workspaces")
_OF_MODULES = ("enable", "source", "hash", "settings")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_OFFICIAL = "parachute://"
_BOUNDS = Bounds(size=1024 * 1024, depth=64)


def parse(data: bytes, path: Path, user: str | None) -> Declaration:
    """Read the text of `path` for a user; nothing if it is another user's. Error: DeclarationInvalid.

    Settings and workspaces are checked by those who know them.
    """
    try:
        return read_json(data, "the file", partial(_declaration, path, user), _BOUNDS)
    except DocumentInvalid as error:
        problem = error.problems[0]
        raise invalid(path, f"{problem.where}: {problem.sentence.removesuffix('.')}") from error


def _declaration(path: Path, user: str | None, root: Value) -> Declaration:
    named = root.named()
    root.require(named, ("version", "user"))
    if (version := named["version"].plain()) != VERSION or isinstance(version, bool):
        named["version"].refuse(f"{VERSION} is expected.")
    if named["user"].line_of_text() != user:
        return NOTHING
    fields = root.fields(_KEYS)
    modules, workspaces = (fields.read(name, Value.named, Fields()) for name in ("modules", "workspaces"))
    return Declaration(
        path,
        fields.read("settings", _object, {}),
        {name: _module(name, value) for name, value in modules.items()},
        {slug: _object(value) for slug, value in workspaces.items()},
    )


def _module(name: str, value: Value) -> DeclaredModule:
    fields = value.fields(_OF_MODULES, ("source",))
    enable = fields.read("enable", Value.boolean, True)
    source = fields["source"].line_of_text()
    if not source.startswith("/") and "://" not in source and "@" not in source:
        fields["source"].refuse(f"{_OFFICIAL}NAME, an address or a path that begins with / is expected.")
    digest = None
    if "hash" in fields and not fields["hash"].is_null:
        digest = fields["hash"].matching(_HASH, "`sha256:` and 64 digits 0-9a-f are expected.")
    if digest is None and not source.startswith(_OFFICIAL):
        value.note(
            "A module that did not come with this computer needs one; `parachute modules check FOLDER` prints it.",
            name="hash",
        )
    return DeclaredModule(name, source, enable, digest, fields.read("settings", _object, {}))


def _object(value: Value) -> dict[str, Any]:
    value.named()
    said: dict[str, Any] = value.raw
    return said
