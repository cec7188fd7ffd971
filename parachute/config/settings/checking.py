"""Checks of `config.yaml`, of the environment over it and of declared settings: each mistake is a sentence with its place."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from parachute.base.documents import Bounds, NotYaml, child, compose, line_of, load_mapping
from parachute.base.errors import InvalidInput
from parachute.config.declared.file import load as load_declaration
from parachute.config.declared.settings import laid_over
from parachute.config.settings.expectations import check, expected, field_of, is_mapping, not_this
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.removed import removed_in, without_removed

_PREFIX = "PARACHUTE_"

MEND = "Fix or delete the file."
_SYSTEM = tuple(map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")))
"""Folders of the system, in which nobody keeps notes."""

_BOUNDS = Bounds(size=1024 * 1024)


class ConfigError(InvalidInput):
    """`config.yaml` or the environment says something that cannot be; nothing starts with it."""

    key = "config_invalid"


def parse(home: Home, text: str) -> dict[str, Any]:
    """The text as a mapping, unchecked; error: ConfigError."""
    try:
        return load_mapping(text, _BOUNDS)
    except NotYaml as error:
        raise ConfigError(f"{home.config}, line {error.line}: {error.reason}", MEND) from error


def is_valid(home: Home, text: str) -> bool:
    """True if a computer would start with the text."""
    try:
        validate(home, text)
    except ConfigError:
        return False
    return True


def validate(home: Home, text: str, changing: str | None = None, on_disk: str | None = None) -> Settings:
    """Check a text; `changing` is the setting that is about to change, `on_disk` the text that a line number is about."""
    declaration = load_declaration()
    document = without_removed(parse(home, text), changing)
    declared = without_removed(declaration.settings)

    def wrong(location: list[str], message: str, *, in_declaration: bool = False) -> ConfigError:
        name = ".".join(location)
        hint = _hint(location)
        if location[0] in Settings.model_fields and (variable := _variable(location)):
            return ConfigError(f"The variable {variable}: {message}.")
        if in_declaration:
            return ConfigError(f"{declaration.path}: settings.{name}: {message}.")
        if changing and f"{name}.".startswith(f"{changing}."):
            # The file does not say this yet, so there is no line to name.
            return ConfigError(f"{name}: {message}.", f"`parachute config get {changing}` shows the current value.")
        line = _line_of(text if on_disk is None else on_disk, location)
        return ConfigError(f"{home.config}, line {line}: {name}: {message}.", hint)

    if declared:
        # By itself first: what is wrong in it is not to depend on what the file says.
        _settings(declared, partial(wrong, in_declaration=True))
        document = laid_over(document, declared)
    settings = _settings(document, wrong)
    vault, trust = settings.vault.resolve(), home.root.resolve()
    if vault.is_relative_to(trust) or trust.is_relative_to(vault):
        # What an agent may write must not hold what its rights are read from.
        apart = f"the vault {settings.vault} and {home.root} must lie apart, neither inside the other"
        raise wrong(["vault"], apart, in_declaration="vault" in declaration.settings)
    if any(vault.is_relative_to(folder) for folder in _SYSTEM):
        raise wrong(
            ["vault"], f"{settings.vault} belongs to the system", in_declaration="vault" in declaration.settings
        )
    return settings


def removed_lines(home: Home, text: str) -> dict[str, int]:
    """The settings of a text that are gone, each with its line; error: ConfigError."""
    return {name: _line_of(text, name.split(".")) for name in removed_in(parse(home, text))}


def _hint(location: list[str]) -> str:
    """A command that mends the file, which no other command reads before."""
    name = ".".join(location[:-1] if len(location) > 1 and location[-1].isdecimal() else location)
    takes_out = f"`parachute config unset {name}` takes it out of the file."
    import difflib  # only for a mistake

    near = difflib.get_close_matches(name, Settings.model_fields, 1)
    return f"Did you mean {near[0]}? {takes_out}" if near and near[0] != name else takes_out


def check_value(name: str, value: object) -> None:
    """Error: ConfigError for what a setting cannot be, also where a variable of the environment goes over it."""
    path = name.split(".")
    if (field := field_of(path)) is None:
        return
    try:
        check(field, value)
    except ValidationError as error:
        first = error.errors()[0]
        first["loc"] = (*path, *first["loc"])
        raise ConfigError(
            f"{'.'.join(_location(first))}: {_sentence(first)}.",
            f"`parachute config get {name}` shows the current value.",
        ) from error


def _settings(document: Mapping[str, Any], wrong: Callable[[list[str], str], ConfigError]) -> Settings:
    for name in document:
        # Checked before the model sees them: its constructor takes names of its own, and texts only.
        if not isinstance(name, str) or name not in Settings.model_fields:
            raise wrong([str(name)], "unknown setting")
    try:
        return Settings(**document)
    except ValidationError as error:
        first = error.errors()[0]
        raise wrong(_location(first), _sentence(first)) from error
    except SettingsError as error:
        name = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        raise ConfigError(
            f"The variable {_PREFIX}{name.upper()} cannot be read.", "Lists and groups are written as JSON there."
        ) from error


def _location(error: ErrorDetails) -> list[str]:
    """Return the location of a mistake: behind the name of a setting, only the name in its mapping and the place in its list."""
    path = [str(part) for part in error["loc"]]
    length = next((length for length in range(len(path), 0, -1) if field_of(path[:length])), len(path))
    field = field_of(path[:length])
    if field and is_mapping(field):
        length += 1
    return path[:length] + [part for part in path[length:] if part.isdecimal()]


def _sentence(error: ErrorDetails) -> str:
    path = _location(error)
    field = field_of(path)
    if error["type"] == "extra_forbidden":
        return "unknown setting"
    if error["type"] == "value_error":
        said = error["msg"].removeprefix("Value error, ").rstrip(".")
        if repr(error["input"]) in said:
            return said
    elif field:
        said = expected(field)
    elif error["type"] == "literal_error":
        said = str(error["ctx"]["expected"])
    elif error["type"] == "list_type":
        said = "a list such as [one, two]"
    else:
        said = "a text" if error["type"] == "string_type" else "settings of its own below it"
    return said + not_this(error["input"])


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
