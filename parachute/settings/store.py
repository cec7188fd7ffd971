"""Reading and changing `config.yaml`, over which goes what the system's configuration declares."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_settings import SettingsError

from parachute.base.documents import Bounds, NotYaml, child, compose, line_of, load_mapping
from parachute.base.documents import load as load_value
from parachute.declared.file import load as load_declaration
from parachute.declared.settings import declares, laid_over
from parachute.errors import InvalidInput
from parachute.files import atomic_write, locked, read_regular
from parachute.settings.home import Home
from parachute.settings.models import Settings

_LIMIT = 1024 * 1024
_BOUNDS = Bounds(size=_LIMIT)
_PREFIX = "PARACHUTE_"

_MEND = "Mend or remove the file."


class ConfigError(InvalidInput):
    """`config.yaml` or the environment says something that cannot be; nothing starts with it."""

    key = "config_invalid"


def load(home: Home) -> Settings:
    """The settings in force; errors: ConfigError naming file and line, key, or the variable, DeclarationInvalid."""
    return _validate(home, _read_text(home))


def read_document(home: Home) -> dict[str, Any]:
    """What the file itself says, unchecked; error: ConfigError if it is no YAML mapping."""
    return _parse(home, _read_text(home))


def set_value(home: Home, name: str, value: str) -> Settings:
    """Write one setting (`port`, `offline.model`) after checking the whole file with it, and return all.

    Errors: ConfigError, Declared.
    """
    return _change(home, name, _setting(name, value))[0]


def check_value(home: Home, name: str, value: str) -> None:
    """See that a setting can have a value, and change nothing; errors: ConfigError, Declared."""
    _change(home, name, _setting(name, value), write=False)


def _setting(name: str, value: str) -> Callable[[dict[str, Any]], bool]:
    try:
        parsed = load_value(value) if value else None
    except NotYaml as error:
        raise ConfigError(
            f"The value of {name} cannot be read: {value[:80]!r}.", "Put it in quotes; lists look like [one, two]."
        ) from error

    def edit(document: dict[str, Any]) -> bool:
        parent = document
        *folders, last = name.split(".")
        for folder in folders:
            if parent.get(folder) is None:
                parent[folder] = {}
            parent = parent[folder]
            if not isinstance(parent, dict):
                raise ConfigError(f"{name} is not a setting.", "`parachute config` lists all settings.")
        parent[last] = parsed
        return True

    return edit


def unset_value(home: Home, name: str) -> tuple[Settings, bool]:
    """Take one setting out of the file, so that its default holds; returns all, and whether it was there.

    Errors: ConfigError, Declared.
    """

    def edit(document: dict[str, Any]) -> bool:
        parents = [document]
        *folders, last = name.split(".")
        for folder in folders:
            inner = parents[-1].get(folder)
            if not isinstance(inner, dict):
                return False
            parents.append(inner)
        if last not in parents[-1]:
            return False
        del parents[-1][last]
        for folder, parent, inner in zip(reversed(folders), reversed(parents[:-1]), reversed(parents[1:]), strict=True):
            if not inner:
                del parent[folder]
        return True

    return _change(home, name, edit)


def _change(
    home: Home, name: str, edit: Callable[[dict[str, Any]], bool], *, write: bool = True
) -> tuple[Settings, bool]:
    """Let `edit` change the document, and write it if it says that it did and the result can be; else nothing changes."""
    check_free(name)
    with locked(home.config):
        text = _read_text(home)
        document = _parse(home, text)
        if not edit(document):
            return _validate(home, text), False
        changed = yaml.safe_dump(document, sort_keys=False, allow_unicode=True) if document else ""
        settings = _validate(home, changed, name, text)
        if write:
            atomic_write(home.config, changed)
    return settings, True


def check_free(name: str) -> None:
    """Error: Declared if the system's configuration says what a setting is, or something in that group."""
    declaration = load_declaration()
    if found := declares(declaration.settings, name.split(".")):
        raise declaration.refusal(f"The setting {found}", f"settings.{found}")


def _read_text(home: Home) -> str:
    try:
        return read_regular(home.config, _LIMIT).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{home.config} cannot be read: {error}.", _MEND) from error


def _parse(home: Home, text: str) -> dict[str, Any]:
    try:
        return load_mapping(text, _BOUNDS)
    except NotYaml as error:
        raise ConfigError(f"{home.config}, line {error.line}: {error.reason}", _MEND) from error


def _validate(home: Home, text: str, changing: str | None = None, on_disk: str | None = None) -> Settings:
    """Check a text; `changing` is the setting that is about to change, `on_disk` the text that a line number is about."""
    declaration = load_declaration()
    document = _parse(home, text)

    def wrong(location: list[str], message: str, *, in_declaration: bool = False) -> ConfigError:
        name, hint = ".".join(location), "`parachute config` lists all settings."
        if location[0] in Settings.model_fields and (variable := _variable(location)):
            return ConfigError(f"The variable {variable}: {message}.")
        if in_declaration:
            return ConfigError(f"{declaration.path}: settings.{name}: {message}.", hint)
        if changing and f"{name}.".startswith(f"{changing}."):
            # The file does not say this yet, so there is no line to name.
            return ConfigError(f"{name}: {message}.", hint)
        line = _line_of(text if on_disk is None else on_disk, location)
        return ConfigError(f"{home.config}, line {line}: {name}: {message}.", hint)

    if declaration.settings:
        # By itself first: what is wrong in it is not to depend on what the file says.
        _settings(declaration.settings, partial(wrong, in_declaration=True))
        document = laid_over(document, declaration.settings)
    settings = _settings(document, wrong)
    vault, trust = settings.vault.resolve(), home.root.resolve()
    if vault.is_relative_to(trust) or trust.is_relative_to(vault):
        # What an agent may write must not hold what its rights are read from.
        apart = f"the vault {settings.vault} and {home.root} must lie apart, neither inside the other"
        raise wrong(["vault"], apart, in_declaration="vault" in declaration.settings)
    return settings


def _settings(document: Mapping[str, Any], wrong: Callable[[list[str], str], ConfigError]) -> Settings:
    for name in document:
        # Checked before the model sees them: its constructor takes names of its own, and texts only.
        if not isinstance(name, str) or name not in Settings.model_fields:
            raise wrong([str(name)], "there is no such setting")
    try:
        return Settings(**document)
    except ValidationError as error:
        first = error.errors()[0]
        message = "there is no such setting" if first["type"] == "extra_forbidden" else first["msg"].rstrip(".")
        raise wrong([str(part) for part in first["loc"]], message.removeprefix("Value error, ")) from error
    except SettingsError as error:
        name = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise ConfigError(
            f"The variable {_PREFIX}{name.upper()} cannot be read.", "Lists and groups are written as JSON there."
        ) from error


def _variable(location: list[str]) -> str | None:
    """The environment variable that says the named setting, or a group that it is in, if there is one."""
    present = {name.upper(): name for name in os.environ}
    for length in range(len(location), 0, -1):
        if found := present.get(_PREFIX + "__".join(location[:length]).upper()):
            return found
    return None


def _line_of(text: str, location: list[str]) -> int:
    """The line, from 1, on which the named setting stands."""
    node, line = compose(text, _BOUNDS), 1
    for part in location:
        if (found := child(node, part)) is None:
            break
        line, node = line_of(found[0]), found[1]
    return line
