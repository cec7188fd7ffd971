"""Reading and changing `config.yaml`."""

import os
from typing import Any

import yaml
from pydantic import ValidationError

from parachute.errors import InvalidInput
from parachute.files import atomic_write, locked, read_regular
from parachute.settings.home import Home
from parachute.settings.models import Settings

_LIMIT = 1024 * 1024


class ConfigError(InvalidInput):
    """`config.yaml` or the environment says something that cannot be; nothing starts with it."""

    key = "config_invalid"


def load(home: Home) -> Settings:
    """The settings in force; error: ConfigError naming file and line, or the variable."""
    return _validate(home, _read_text(home))


def set_value(home: Home, name: str, value: str) -> Settings:
    """Write one setting (`port`, `offline.model`) after checking the whole file with it, and return all."""
    with locked(home.config):
        text = _read_text(home)
        document = _parse(home, text)
        parent = document
        *folders, last = name.split(".")
        for folder in folders:
            parent = parent.setdefault(folder, {})
            if not isinstance(parent, dict):
                raise ConfigError(f"{name} is not a setting.", "`parachute config` lists all settings.")
        try:
            parent[last] = yaml.safe_load(value) if value else None
        except yaml.YAMLError as error:
            raise ConfigError(f"The value of {name} cannot be read: {value!r}.") from error
        changed = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        settings = _validate(home, changed)
        atomic_write(home.config, changed)
    return settings


def _read_text(home: Home) -> str:
    try:
        return read_regular(home.config, _LIMIT).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{home.config} cannot be read: {error}.", "Mend or remove the file.") from error


def _parse(home: Home, text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{home.config}, line {line}: this is not YAML ({error.problem}).") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{home.config}, line 1: expected lines of the form `name: value`.")
    return document


def _validate(home: Home, text: str) -> Settings:
    document = _parse(home, text)
    try:
        return Settings(**document)
    except ValidationError as error:
        first = error.errors()[0]
        location = [str(part) for part in first["loc"]]
        name = ".".join(location)
        message = "there is no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        variable = "PARACHUTE_" + "__".join(location).upper()
        if variable in os.environ:
            raise ConfigError(f"The variable {variable}: {message}.") from error
        line = _line_of(text, location)
        raise ConfigError(
            f"{home.config}, line {line}: {name}: {message}.", "`parachute config` lists all settings."
        ) from error


def _line_of(text: str, location: list[str]) -> int:
    """The line, from 1, on which the named setting stands."""
    node = yaml.compose(text)
    line = 1
    for part in location:
        if not isinstance(node, yaml.MappingNode):
            break
        for key, value in node.value:
            if key.value == part:
                line, node = key.start_mark.line + 1, value
                break
        else:
            break
    return line
