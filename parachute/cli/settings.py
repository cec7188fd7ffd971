"""Settings for the command line: reading and changing config.yaml, and what the running computer has instead."""

import json
import os
from pathlib import Path

from msgspec.structs import replace

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli import given_address
from parachute.cli.api import ask_supervisor
from parachute.cli.output import as_text
from parachute.config.settings.checking import ConfigError
from parachute.config.settings.home import Home
from parachute.config.settings.rows import SettingRow, all_rows, check_here, check_name, check_vault, names, one_row
from parachute.config.settings.store import change_list, check_value, read_document, set_value, unset_value
from parachute.config.vault.place import VaultPlace


class SettingsFile:
    """The settings of a computer in config.yaml, and what goes over them."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def rows(self) -> list[SettingRow]:
        """Every setting in force; error: ConfigError."""
        return all_rows(self._home)

    def rows_with_running(self) -> list[SettingRow]:
        """The same, each with what holds in the running computer if that is not what this shell would start with."""
        try:
            started = ask_supervisor(self._home, "started_with", 5)
        except Unavailable:
            return self.rows()
        return [_compared(row, started) for row in self.rows()]

    def row(self, name: str) -> SettingRow:
        """One setting in force; errors: NotFound, ConfigError."""
        return one_row(self._home, name)

    def set(self, name: str, value: str) -> None:
        """Write a setting that holds on this machine; errors: InvalidInput, ConfigError."""
        check_name(name)
        check_value(self._home, name, value)
        check_here(name, value)
        set_value(self._home, name, value)

    def set_vault(self, folder: Path, create: bool) -> None:
        """Name a folder as the vault, and make it if asked to; errors: InvalidInput, ConfigError."""
        value = json.dumps(str(folder))  # quoted, for a path that would read as something else
        check_value(self._home, "vault", value)
        if create:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError) as error:
                raise InvalidInput(
                    f"vault: {folder} is not a folder.", "Name a folder.", key="vault_not_a_folder"
                ) from error
            VaultPlace(self._home.root, folder).begin_anew()
        check_vault(folder)
        set_value(self._home, "vault", value)

    def unset(self, name: str) -> str:
        """Take a setting out; returns what is so now, and nothing if its default holds again. Errors: InvalidInput, ConfigError."""
        try:
            is_changed = unset_value(self._home, name)[1]
        except ConfigError:
            # Of the mistakes in the file this was one; the error tells of the next.
            if name.partition(".")[0] not in read_document(self._home):
                print(f"{name} is no longer in config.yaml.")
            raise
        known = name in names()
        if is_changed:
            return "" if known else f"{name} is no longer in config.yaml."
        check_name(name)
        return f"{name} is not in config.yaml: nothing has changed."

    def change(self, name: str, added: list[str], removed: list[str]) -> bool:
        """Add to a list and take out of it; whether that changed something. Errors: InvalidInput, ConfigError."""
        check_name(name)
        return change_list(self._home, name, add=added, remove=removed)[1]


def _compared(row: SettingRow, started: dict[str, object]) -> SettingRow:
    variable = f"PARACHUTE_{row.name.replace('.', '__').upper()}"
    environment = started["environment"]
    assert isinstance(environment, dict)
    if row.name in ("host", "port"):
        held, since = as_text(started[row.name]), variable if variable in environment else "the start"
        if given_address.is_kept(started, row.name, row.value):
            since = given_address.source(row.name)
    elif variable in environment:
        held, since = str(environment[variable]), variable
    else:
        return row
    if held in (as_text(row.value), os.environ.get(variable)):
        return row
    return replace(row, running=held, running_from=since)
