"""Settings of modules at a terminal: shown, typed in, and secrets without an echo."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from parachute.cli.module_output import can_ask
from parachute.cli.output import clean, print_json, print_note, print_table
from parachute.cli.setting_rows import as_text
from parachute.errors import InvalidInput
from parachute.modules.settings import from_text, setting_of

if TYPE_CHECKING:
    from parachute.manifest import Setting
    from parachute.modules.service import Modules

_LONGEST = 1024 * 1024


def show(modules: "Modules", name: str, as_json: bool) -> None:
    """Print every setting of a module; of a secret only whether it is set."""
    rows = modules.settings.shown(name, modules.manifest(name))
    if as_json:
        print_json([{"name": setting, **row} for setting, row in rows.items()])
    elif rows:
        cells = [(setting, _value(row), _from(row), _type(row), row["description"]) for setting, row in rows.items()]
        print_table(["Name", "Value", "From", "Type", "Meaning"], cells)
    else:
        print_note(f"The module {name} has no settings.")


def change(modules: "Modules", name: str, setting: str, text: str | None) -> None:
    """Set what was typed, what comes from standard input for `-`, or what is asked for where that is missing."""
    manifest = modules.manifest(name)
    found = setting_of(manifest, setting)
    if found.type == "secret" and text not in (None, "-"):
        raise InvalidInput(
            f"{setting} is a secret, and what stands on a command line is seen by other programs and kept by the shell.",
            f"Leave the value out to be asked for it, or pipe it: parachute modules set {name} {setting} -",
        )
    value = _asked(name, found) if text is None else _from_input() if text == "-" else text
    modules.settings.set(name, manifest, setting, from_text(found, value))
    _say(modules, name, setting)


def reset(modules: "Modules", name: str, setting: str) -> None:
    """Go back to the default."""
    modules.settings.delete(name, modules.manifest(name), setting)
    _say(modules, name, setting)


def _say(modules: "Modules", name: str, setting: str) -> None:
    row = modules.settings.shown(name, modules.manifest(name))[setting]
    is_now = f"now {_value(row) or 'empty'}" if "value" in row else "set" if row["is_set"] else "not set"
    print(clean(f"{setting} of {name} is {is_now}."))


def _asked(name: str, setting: "Setting") -> str:
    if setting.type != "secret":
        raise InvalidInput(
            f"{setting.name}: a value is expected, {_type_of(setting)}.",
            f"parachute modules set {name} {setting.name} VALUE",
        )
    if not can_ask(False):
        raise InvalidInput(
            f"{setting.name} is a secret, and there is no terminal to ask at.",
            f"Pipe it: parachute modules set {name} {setting.name} -",
        )
    import getpass

    try:
        return getpass.getpass(f"{setting.name} of {name}: ")
    except EOFError:
        print_note("Nothing was changed.")
        raise typer.Exit(1) from None


def _from_input() -> str:
    data = sys.stdin.buffer.read(_LONGEST)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("What came in is not UTF-8 text.") from error
    # The end of the line belongs to the program that wrote it.
    return text.removesuffix("\n").removesuffix("\r")


def _value(row: dict[str, Any]) -> str:
    return as_text(row["value"]) if "value" in row else "set" if row["is_set"] else "not set"


def _from(row: dict[str, Any]) -> str:
    if row.get("declared"):
        return "declared"
    return "you" if row["is_set"] else "default" if "value" in row else ""


def _type(row: dict[str, Any]) -> str:
    return " | ".join(row["choices"]) if row["choices"] else str(row["type"])


def _type_of(setting: "Setting") -> str:
    return f"one of {', '.join(setting.choices)}" if setting.choices else f"of type {setting.type}"
