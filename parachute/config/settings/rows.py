"""Every setting with its value and where that comes from, and what is checked on this machine before one is written."""

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from parachute.base.addresses import own_addresses
from parachute.base.errors import InvalidInput, NotFound
from parachute.config.declared.file import load as load_declaration
from parachute.config.declared.settings import declares
from parachute.config.settings.expectations import allowed_words, field_of, is_mapping
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load, read_document

READ_EACH_TIME = ("backup", "voice", "messengers", "push", "daily_spending_limit", "daily_token_limit")
"""Settings, and groups of them, that a computer that runs reads whenever it needs them."""


class SettingRow(Struct, frozen=True):
    """One setting; `source` is `default`, `file`, `declared`, or the variable of the environment that goes over these.

    `running` is what the running computer has instead, as text, and `running_from` where it came from.
    """

    name: str
    value: Any
    default: Any
    source: str
    description: str
    title: str
    allowed: tuple[str, ...] = ()
    running: str | None = None
    running_from: str | None = None

    @property
    def meaning(self) -> str:
        """The description, and behind it the words that are allowed."""
        return f"{self.description} One of: {', '.join(self.allowed)}." if self.allowed else self.description


def all_rows(home: Home) -> list[SettingRow]:
    """Every setting in force; errors: ConfigError, DeclarationInvalid."""
    settings = load(home).model_dump(mode="json")
    document, declared = read_document(home), load_declaration().settings
    variables = {name.upper() for name in os.environ}
    return [
        SettingRow(
            ".".join(path),
            inside(settings, path),
            _plain(field.get_default(call_default_factory=True)),
            _source(path, variables, declared, document),
            str(field.description or ""),
            str(field.title or ""),
            tuple(allowed_words(field)),
        )
        for path, field in fields(Settings)
    ]


def one_row(home: Home, name: str) -> SettingRow:
    """One setting in force; errors: NotFound, ConfigError."""
    check_name(name)
    for row in all_rows(home):
        if name == row.name:
            return row
        if name.startswith(f"{row.name}."):  # one of a mapping
            return replace(row, name=name, value=inside(row.value, (name.removeprefix(f"{row.name}."),)), default=None)
    raise AssertionError(name)


def check_here(name: str, value: str) -> None:
    """Error: InvalidInput for an address or a vault that this machine has not."""
    if name == "host":
        _check_host(value)
    elif name == "vault":
        if not Path(value).expanduser().is_absolute():
            raise InvalidInput(
                f"vault: {value} is not a whole path.", "Write it from / or ~ on.", key="vault_not_absolute"
            )
        check_vault(Path(value).expanduser())


def fields(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    """Every setting with the parts of its name."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, (*above, name))
        else:
            yield (*above, name), field


def names() -> list[str]:
    """The names of all settings."""
    return [".".join(path) for path, _ in fields(Settings)]


def check_name(name: str) -> None:
    """Error: NotFound, with what may have been meant, unless it names a setting."""
    known = names()
    field = field_of(name.split(".")[:-1])
    if name in known or (field and is_mapping(field) and name.rpartition(".")[2]):
        return
    if inner := [each for each in known if each.startswith(f"{name}.")]:
        raise NotFound(
            f"{name!r} is a group of settings.", f"Name one of them: {', '.join(inner)}.", key="unknown_setting"
        )
    import difflib  # only for a mistake

    near = difflib.get_close_matches(name, known, 1)
    raise NotFound(
        f"There is no setting {name!r}.",
        f"Did you mean {near[0]}?" if near else "`parachute config` lists all settings.",
        key="unknown_setting",
    )


def check_vault(folder: Path) -> None:
    """Error: InvalidInput unless it is a folder that we may write."""
    if not folder.exists():
        raise InvalidInput(
            f"vault: there is no folder {folder}.",
            f"`parachute vault set --create {folder}` makes it.",
            key="no_folder",
        )
    if not folder.is_dir():
        raise InvalidInput(f"vault: {folder} is not a folder.", "Name a folder.", key="vault_not_a_folder")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InvalidInput(
            f"vault: you may not write in {folder}.", "Name a folder of your own.", key="vault_not_writable"
        )


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
            key="no_such_address",
        ) from error


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
    return "default" if inside(document, path, missing) is missing else "file"


def inside(document: Any, path: tuple[str, ...], missing: Any = None) -> Any:
    """The value at a path of names, or `missing`."""
    for part in path:
        if not isinstance(document, dict) or part not in document:
            return missing
        document = document[part]
    return document
