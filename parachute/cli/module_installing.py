"""The end of an installation at a terminal: the question, and what came of it."""

import typer

from parachute.cli.commands import NOT_ANSWERED
from parachute.cli.module_output import ask, can_ask, tell_core
from parachute.cli.output import clean, print_json, print_note
from parachute.modules.installation import Installation
from parachute.modules.service import Modules
from parachute.settings.home import Home


def put_in_place(installation: Installation, yes: bool, as_json: bool) -> bool:
    """Put a staged module in place if the person says yes; else exit, and nothing is left. False if it is there already."""
    if installation.is_unchanged:
        return False
    question = installation.question
    if not as_json:
        print(f"\n{clean(question.as_text())}\n", flush=True)
    elif not yes:
        print_json(question.as_json())
    if not yes:
        if not can_ask(as_json):
            print_note("Nothing was changed: say --yes to agree.")
            raise typer.Exit(NOT_ANSWERED)
        if not ask(question.sentence):
            print_note("Nothing was changed.")
            raise typer.Exit(1)
    installation.finish()
    return True


def print_installed(home: Home, modules: Modules, name: str, what: str, as_json: bool) -> None:
    """Tell a running core, and say what has become of the module."""
    address = tell_core(home)
    found = modules.status(name)
    if as_json:
        print_json(found.as_json())
        return
    print(f"✓ Module '{name}' {what if 'approved' in what else f'is {what}'}")
    print(f"  Path: {found.folder}")
    if found.reason:
        print(f"  {found.reason}")
    elif address:
        print(f"  It answers at {address}/api/{name}/")
    else:
        print("\nStart the computer to load it: parachute start")
