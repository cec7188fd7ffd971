"""What `declared.json` may say: every key is known, and every mistake names its key."""

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from parachute.declared.models import NOTHING, Declaration, DeclaredModule, invalid

VERSION = 1

_KEYS = ("version", "user", "settings", "modules", "workspaces")
_OF_MODULES = ("enable", "source", "hash", "settings")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_OFFICIAL = "parachute://"
_LONGEST = 4096


def parse(data: bytes, path: Path, user: str | None) -> Declaration:
    """Read the text of `path` for a user; nothing if it is another user's. Error: DeclarationInvalid.

    Settings and workspaces are checked by those who know them.
    """
    return _Document(path).declaration(data, user)


class _Document:
    def __init__(self, path: Path) -> None:
        self._path = path

    def declaration(self, data: bytes, user: str | None) -> Declaration:
        document = self._object(self._json(data), "")
        version = document.get("version")
        if type(version) is not int or version != VERSION:
            self._fail("version", f"{VERSION} is expected, not {_short(version)}")
        if self._text(document.get("user"), "user") != user:
            return NOTHING
        self._known(document, _KEYS, "")
        modules = self._object(document.get("modules", {}), "modules")
        workspaces = self._object(document.get("workspaces", {}), "workspaces")
        return Declaration(
            self._path,
            self._object(document.get("settings", {}), "settings"),
            {name: self._module(name, said) for name, said in modules.items()},
            {slug: self._object(said, f"workspaces.{slug}") for slug, said in workspaces.items()},
        )

    def _module(self, name: str, said: object) -> DeclaredModule:
        key = f"modules.{_plain(name)}"
        fields = self._object(said, key)
        self._known(fields, _OF_MODULES, f"{key}.")
        enable = fields.get("enable", True)
        if not isinstance(enable, bool):
            self._fail(f"{key}.enable", "true or false is expected")
        source = self._text(fields.get("source"), f"{key}.source")
        if not source.startswith("/") and "://" not in source and "@" not in source:
            self._fail(f"{key}.source", f"{_OFFICIAL}NAME, an address or a path that begins with / is expected")
        digest = fields.get("hash")
        if digest is not None and (not isinstance(digest, str) or not _HASH.fullmatch(digest)):
            self._fail(f"{key}.hash", "`sha256:` and 64 digits 0-9a-f are expected")
        if digest is None and not source.startswith(_OFFICIAL):
            self._fail(
                f"{key}.hash",
                "a module that did not come with this computer needs one; `parachute modules check FOLDER` prints it",
            )
        settings = self._object(fields.get("settings", {}), f"{key}.settings")
        return DeclaredModule(name, source, enable, digest, settings)

    def _json(self, data: bytes) -> object:
        try:
            return json.loads(data.decode(), object_pairs_hook=self._pairs, parse_constant=self._constant)
        except json.JSONDecodeError as error:
            raise invalid(self._path, f"line {error.lineno}: this is not JSON ({error.msg})") from error
        except UnicodeDecodeError as error:
            raise invalid(self._path, "this is not UTF-8 text") from error
        except (RecursionError, ValueError) as error:
            raise invalid(self._path, "this is nested too deeply, or has a number that is too long") from error

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                self._fail(_plain(name), "this key is there twice")
            found[name] = value
        return found

    def _constant(self, text: str) -> NoReturn:
        raise invalid(self._path, f"{text} is no number of JSON")

    def _object(self, value: object, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(key or "the file", "an object is expected")
        return value

    def _text(self, value: object, key: str) -> str:
        if not isinstance(value, str) or not value or len(value) > _LONGEST or not value.isprintable():
            self._fail(key, f"1 to {_LONGEST} printable characters are expected")
        return value

    def _known(self, fields: dict[str, Any], names: tuple[str, ...], above: str) -> None:
        for name in fields:
            if name not in names:
                self._fail(f"{above}{_plain(name)}", f"this key is not known; allowed are {', '.join(names)}")

    def _fail(self, key: str, problem: str) -> NoReturn:
        raise invalid(self._path, f"{key}: {problem}")


def _plain(name: str) -> str:
    return name[:60] if name.isprintable() else repr(name[:60])


def _short(value: object) -> str:
    return "nothing" if value is None else repr(value)[:40]
