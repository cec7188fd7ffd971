"""Every setting with its value and where that comes from, checked on this machine before it is written."""

import difflib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from parachute.base.addresses import own_addresses
from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.api import ask_supervisor
from parachute.cli.output import as_text
from parachute.config.declared.file import load as load_declaration
from parachute.config.declared.settings import declares
from parachute.config.settings.checking import ConfigError
from parachute.config.settings.expectations import allowed_words, field_of, is_mapping
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import change_list, check_value, load, read_document, set_value, unset_value


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting; `source` is `default`, `file`, `declared`, or the variable of the environment that goes over these.

    `running` is what the running computer has instead, as text, and `running_from` where it came from.
    """

    name: str
    value: Any
    default: Any
    source: str
    description: str
    allowed: tuple[str, ...] = ()
    running: str | None = None
    running_from: str | None = None

    @property
    def meaning(self) -> str:
        """The description, and behind it the words that are allowed."""
        return f"{self.description} One of: {', '.join(self.allowed)}." if self.allowed else self.description


class SettingsFile:
    """The settings of a computer in config.yaml, and what goes over them."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def rows(self) -> list[SettingRow]:
        """Every setting in force; error: ConfigError."""
        settings = load(self._home).model_dump(mode="json")
        document, declared = read_document(self._home), load_declaration().settings
        variables = {name.upper() for name in os.environ}
        return [
            SettingRow(
                ".".join(path),
                _inside(settings, path),
                _plain(field.get_default(call_default_factory=True)),
                _source(path, variables, declared, document),
                str(field.description or ""),
                tuple(allowed_words(field)),
            )
            for path, field in fields(Settings)
        ]

    def rows_with_running(self) -> list[SettingRow]:
        """The same, each with what holds in the running computer if that is not what this shell would start with."""
        try:
            started = ask_supervisor(self._home, "started_with", 5)
        except Unavailable:
            return self.rows()
        return [_compared(row, started) for row in self.rows()]

    def row(self, name: str) -> SettingRow:
        """One setting in force; errors: InvalidInput for an unknown name, ConfigError."""
        _check_name(name)
        for row in self.rows():
            if name == row.name:
                return row
            if name.startswith(f"{row.name}."):  # one of a mapping
                return replace(
                    row, name=name, value=_inside(row.value, (name.removeprefix(f"{row.name}."),)), default=None
                )
        raise AssertionError(name)

    def set(self, name: str, value: str) -> None:
        """Write a setting that holds on this machine; errors: InvalidInput, ConfigError."""
        _check_name(name)
        check_value(self._home, name, value)
        if name == "host":
            _check_host(value)
        elif name == "vault":
            if not Path(value).expanduser().is_absolute():
                raise InvalidInput(f"vault: {value} is not a whole path.", "Write it from / or ~ on.")
            _check_vault(Path(value).expanduser())
        set_value(self._home, name, value)

    def set_vault(self, folder: Path, create: bool) -> None:
        """Name a folder as the vault, and make it if asked to; errors: InvalidInput, ConfigError."""
        value = json.dumps(str(folder))  # quoted, for a path that would read as something else
        check_value(self._home, "vault", value)
        if create:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError) as error:
                raise InvalidInput(f"vault: {folder} is not a folder.", "Name a folder.") from error
        _check_vault(folder)
        set_value(self._home, "vault", value)

    def unset(self, name: str) -> str:
        """Take a setting out; returns what is so now, and nothing if its default holds again. Errors: InvalidInput, ConfigError."""
        try:
            is_changed = unset_value(self._home, name)[1]
        except ConfigError:
            # Of the mistakes in the file this was one; the error tells of the next.
            if name.partition(".")[0] not in read_document(self._home):
                print(f"{name} is not in config.yaml any more.")
            raise
        known = name in _names()
        if is_changed:
            return "" if known else f"{name} is no longer in config.yaml."
        _check_name(name)
        return f"{name} is not in config.yaml: nothing has changed."

    def change(self, name: str, added: list[str], removed: list[str]) -> bool:
        """Add to a list and take out of it; whether that changed something. Errors: InvalidInput, ConfigError."""
        _check_name(name)
        return change_list(self._home, name, add=added, remove=removed)[1]


def _names() -> list[str]:
    return [".".join(path) for path, _ in fields(Settings)]


def _check_name(name: str) -> None:
    """Raise InvalidInput, with what may have been meant, unless it names a setting."""
    known = _names()
    field = field_of(name.split(".")[:-1])
    if name in known or (field and is_mapping(field) and name.rpartition(".")[2]):
        return
    if inner := [each for each in known if each.startswith(f"{name}.")]:
        raise InvalidInput(f"{name!r} is a group of settings.", f"Name one of them: {', '.join(inner)}.")
    near = difflib.get_close_matches(name, known, 1)
    raise InvalidInput(
        f"There is no setting {name!r}.",
        f"Did you mean {near[0]}?" if near else "`parachute config` lists all settings.",
    )


def _check_vault(folder: Path) -> None:
    """Error: InvalidInput unless it is a folder that we may write."""
    if not folder.exists():
        raise InvalidInput(
            f"vault: there is no folder {folder}.",
            f"`parachute vault set --create {folder}` makes it.",
            key="no_folder",
        )
    if not folder.is_dir():
        raise InvalidInput(f"vault: {folder} is not a folder.", "Name a folder.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InvalidInput(f"vault: you may not write in {folder}.", "Name a folder of your own.")


def _check_host(host: str) -> None:
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        own = ", ".join(sorted(str(address) for address in own_addresses() if not address.is_link_local))
        raise InvalidInput(
            f"host: this computer has no address {host}.",
            f"0.0.0.0 listens on all of them, which are {own}; 127.0.0.1 on this computer only.",
        ) from error


def _compared(row: SettingRow, started: dict[str, object]) -> SettingRow:
    variable = f"PARACHUTE_{row.name.replace('.', '__').upper()}"
    environment = started["environment"]
    assert isinstance(environment, dict)
    if row.name in ("host", "port"):
        held, since = as_text(started[row.name]), variable if variable in environment else "the start"
    elif variable in environment:
        held, since = str(environment[variable]), variable
    else:
        return row
    if held in (as_text(row.value), os.environ.get(variable)):
        return row
    return replace(row, running=held, running_from=since)


def fields(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Every setting with the parts of its name."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, (*above, name))
        else:
            yield (*above, name), field


def _plain(value: Any) -> Any:
    """A default as JSON has it: paths are texts."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {name: _plain(element) for name, element in value.items()}
    return value if isinstance(value, bool | int | float | None) else str(value)


def _source(path: tuple[str, ...], variables: set[str], declared: Mapping[str, Any], document: dict[str, Any]) -> str:
    for length in range(len(path), 0, -1):
        # A group may be given whole, as JSON, in one variable.
        variable = "PARACHUTE_" + "__".join(path[:length]).upper()
        if variable in variables:
            return variable
    if declares(declared, path):
        return "declared"
    missing = object()
    return "default" if _inside(document, path, missing) is missing else "file"


def _inside(document: Any, path: tuple[str, ...], missing: Any = None) -> Any:
    for part in path:
        if not isinstance(document, dict) or part not in document:
            return missing
        document = document[part]
    return document
