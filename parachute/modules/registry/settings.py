"""The settings that manifests declare: what the system's configuration says, else what the user set.

The latter is in `~/.parachute/module-settings/{name}.json`.
"""

import json
import math
from pathlib import Path
from typing import Any

from parachute.base.answers import Answer
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.files import atomic_write, locked, private_folder, remove_tree
from parachute.base.private_files import NotPrivate, check_private_folder, read_private
from parachute.config.declared.models import NOTHING, Declaration
from parachute.modules.manifest.models import NAME, Manifest, Setting, SettingType
from parachute.modules.registry.models import Places

MAXIMUM_BYTES = 4 * 1024 * 1024

_PARTS = ("values", "secrets")
"""Of the file. An update that calls a secret a text would show it, if both were in one place."""


class SettingsUnreadable(ParachuteError):
    """The settings file of a module cannot be read; it is neither used nor overwritten."""

    status = 503
    key = "settings_unreadable"


class NotAsDeclared(Conflict):
    """A module cannot be as the system's configuration says, and stays as it is."""

    key = "not_as_declared"


class SettingRow(Answer, frozen=True):
    """A setting with its value, of a secret without it; `declared`: the system's configuration has set it."""

    name: str
    type: SettingType
    description: str
    choices: tuple[str, ...]
    default: Any
    is_set: bool
    value: Any
    declared: bool


class ModuleSettings:
    """Reads and changes values, checked against the manifest that the user approved; call it outside of an event loop.

    A change notifies nobody: a module reads its settings when it needs them. A value that does not fit the
    manifest, as after an update, counts as not set and stays in the file. Errors of every method: SettingsUnreadable, and
    NotAsDeclared where the system's configuration declares what cannot be.
    """

    def __init__(self, places: Places, declaration: Declaration = NOTHING) -> None:
        self._folder = places.settings
        self._declaration = declaration

    def values(self, name: str, manifest: Manifest) -> dict[str, Any]:
        """Every setting of the manifest with its value or its default, secrets included: for the module itself."""
        fitting = self._fitting(name, manifest)
        return {setting.name: fitting.get(setting.name, setting.default) for setting in manifest.settings}

    def shown(self, name: str, manifest: Manifest) -> tuple["SettingRow", ...]:
        """Every setting, for a person."""
        fitting, declared = self._fitting(name, manifest), self.declared(name, manifest)
        return tuple(
            SettingRow(
                name=setting.name,
                type=setting.type,
                description=setting.description,
                choices=setting.choices,
                default=setting.default,
                is_set=setting.name in fitting,
                value=None if setting.type == "secret" else fitting.get(setting.name, setting.default),
                declared=setting.name in declared,
            )
            for setting in manifest.settings
        )

    def declared(self, name: str, manifest: Manifest) -> dict[str, Any]:
        """Declared settings of a module; error: NotAsDeclared."""
        module = self._declaration.modules.get(name)
        return {
            setting: self._declared_value(manifest, f"modules.{name}.settings.{setting}", setting, value)
            for setting, value in (module.settings if module else {}).items()
        }

    def set(self, name: str, manifest: Manifest, setting: str, value: object) -> None:
        """Change one setting; errors: NotFound, InvalidInput if the value is not of its type, Declared."""
        found = setting_of(manifest, setting)
        self._check_free(name, setting)
        self._change(name, found, _checked(found, value))

    def delete(self, name: str, manifest: Manifest, setting: str) -> None:
        """Go back to the default, which may be what holds already; errors: NotFound, Declared."""
        found = setting_of(manifest, setting)
        self._check_free(name, setting)
        self._change(name, found, None)

    def forget(self, name: str) -> None:
        """Remove everything that was set for a module, whatever is in the file."""
        with locked(self._folder):
            remove_tree(self.path(name))

    def path(self, name: str) -> Path:
        """The file of a module; it may not exist. Error: NotFound for what cannot be a name."""
        if not NAME.fullmatch(name):
            raise NotFound(f"There is no module {name[:60]!r}.", key="module_not_installed")
        return self._folder / f"{name}.json"

    def _fitting(self, name: str, manifest: Manifest) -> dict[str, Any]:
        stored = self._load(name)
        found = {}
        for setting in manifest.settings:
            part = stored[_part(setting)]
            if setting.name in part:
                try:
                    found[setting.name] = _checked(setting, part[setting.name])
                except InvalidInput:
                    continue  # it was set for another version of the module
        return {**found, **self.declared(name, manifest)}

    def _declared_value(self, manifest: Manifest, key: str, name: str, value: object) -> Any:
        try:
            setting = setting_of(manifest, name)
            if setting.type == "secret":
                raise InvalidInput(
                    f"{name} is a secret, and everybody on this machine can read what is declared.",
                    key="secret_declared",
                )
            return _checked(setting, value)
        except ParachuteError as error:
            raise NotAsDeclared(f"{self._declaration.path}: {key}: {error.message}", error.hint) from error

    def _check_free(self, name: str, setting: str) -> None:
        module = self._declaration.modules.get(name)
        if module is not None and setting in module.settings:
            key = f"modules.{name}.settings.{setting}"
            raise self._declaration.refusal(f"The setting {setting} of the module {name}", key)

    def _change(self, name: str, setting: Setting, value: object) -> None:
        path = self.path(name)
        # One lock for all modules, next to the folder: a file of its own would be left when a module's settings go.
        with locked(self._folder):
            stored = self._load(name)
            before = _text(stored)
            for part in stored.values():
                part.pop(setting.name, None)
            if value is not None:
                stored[_part(setting)][setting.name] = value
            text = _text(stored)
            if text == before:
                return
            if len(text) > MAXIMUM_BYTES:
                raise InvalidInput(
                    f"{setting.name}: {name} would have more than {MAXIMUM_BYTES:,} bytes of settings.",
                    key="settings_too_large",
                )
            check_private_folder(private_folder(self._folder))
            atomic_write(path, text, 0o600)

    def _load(self, name: str) -> dict[str, dict[str, Any]]:
        path = self.path(name)
        try:
            document = json.loads(read_private(path, MAXIMUM_BYTES).data)
        except FileNotFoundError:
            document = {}
        except NotPrivate as error:
            raise _unreadable(name, error.message, path) from error
        except OSError as error:
            raise _unreadable(name, f"{path} cannot be read: {error.strerror or error}.", path) from error
        except (ValueError, RecursionError) as error:
            raise _unreadable(name, f"{path} is not JSON ({_reason(error)}).", path) from error
        if (
            not isinstance(document, dict)
            or not document.keys() <= set(_PARTS)
            or not all(isinstance(part, dict) for part in document.values())
        ):
            raise _unreadable(name, f"{path} must hold an object with the objects {' and '.join(_PARTS)}.", path)
        return {part: document.get(part, {}) for part in _PARTS}


def setting_of(manifest: Manifest, name: str) -> Setting:
    """A setting of the manifest; error: NotFound, with those that there are."""
    for setting in manifest.settings:
        if setting.name == name:
            return setting
    known = ", ".join(setting.name for setting in manifest.settings)
    raise NotFound(
        f"The module {manifest.name} has no setting {name[:60]!r}.",
        f"It has: {known}." if known else "It has no settings at all.",
        key="unknown_setting",
    )


def from_text(setting: Setting, text: str) -> object:
    """The value that a person typed; what is not of the setting's type stays text, which `set` refuses."""
    if setting.type == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower(), text)
    if setting.type in ("integer", "number"):
        for kind in (int, float) if setting.type == "number" else (int,):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _checked(setting: Setting, value: object) -> Any:
    checked = setting.check(value)
    if isinstance(checked, float) and not math.isfinite(checked):
        raise InvalidInput(f"{setting.name}: a number is allowed.", key="not_a_number")
    if isinstance(checked, str):
        try:
            checked.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{setting.name}: an incomplete character is not valid text.", key="half_a_character"
            ) from error
        if setting.type == "secret" and not checked:
            raise InvalidInput(
                f"{setting.name}: a secret cannot be empty.", "Remove it instead, to set none.", key="secret_empty"
            )
    return checked


def _part(setting: Setting) -> str:
    return "secrets" if setting.type == "secret" else "values"


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}: {error.msg}"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error) or type(error).__name__


def _unreadable(name: str, message: str, path: Path) -> SettingsUnreadable:
    return SettingsUnreadable(
        f"The settings of {name} cannot be used: {message}",
        f"Fix {path}, or remove it to return to the defaults.",
    )
