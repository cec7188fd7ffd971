"""`parachute modules`: install, approve and remove what extends this computer."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import NOT_ANSWERED, group

if TYPE_CHECKING:
    from parachute.modules.service import Modules
    from parachute.settings.home import Home

_JSON = typer.Option(False, "--json", help="Print JSON.")
_YES = typer.Option(False, "--yes", "-y", help="Answer yes to all questions.")
_NAME = typer.Argument(help="Name of the module.")
_SETTING = typer.Argument(help="Name of the setting.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    modules = group("modules", "Install, approve and remove modules.")
    modules.command("list")(list_)
    modules.command("status")(status)
    modules.command("install")(install)
    modules.command("diff")(diff)
    modules.command("approve")(approve)
    modules.command("enable")(enable)
    modules.command("disable")(disable)
    modules.command("restart")(restart)
    modules.command("remove")(remove)
    modules.command("uninstall", hidden=True)(remove)
    modules.command("apply")(apply)
    modules.command("settings")(settings)
    # A negative number is a value, and no option.
    modules.command("set", context_settings={"ignore_unknown_options": True})(set_)
    modules.command("unset")(unset)
    modules.command("check")(check)
    modules.command("new")(new)
    app.add_typer(modules)


def list_(as_json: bool = _JSON) -> None:
    """List the modules, and what runs of them."""
    from parachute.cli.module_output import print_modules, rows_as_json
    from parachute.cli.module_states import with_units
    from parachute.cli.output import print_json

    home, modules = _modules()
    found = with_units(home, modules.list())
    if as_json:
        print_json(rows_as_json(found))
    else:
        print_modules(found)


def status(name: str = typer.Argument("", help="Name of a module; all if none."), as_json: bool = _JSON) -> None:
    """Show what modules do, whether they may start, and why not."""
    from parachute.cli.module_output import print_module, print_states, rows_as_json
    from parachute.cli.module_states import with_units
    from parachute.cli.output import print_json

    home, modules = _modules()
    found = with_units(home, [modules.status(name)] if name else modules.list())
    if name and as_json:
        print_json(found[0].as_json())
    elif name:
        print_module(found[0])
    elif as_json:
        print_json(rows_as_json(found))
    else:
        print_states(found)


def install(
    source: str = typer.Argument(help="Address of a git repository, path of a folder, or parachute://NAME."),
    path: str | None = typer.Option(None, "--path", help="Folder of the module inside of the source."),
    dev: bool = typer.Option(False, "--dev", help="Run it in place, from a folder outside of the vault."),
    untrusted: bool = typer.Option(False, "--untrusted", help="Shut it in: no network, and only its own folder."),
    yes: bool = _YES,
    as_json: bool = _JSON,
) -> None:
    """Install a module, or bring it up to date from where it came; nothing of it runs before you say yes."""
    from parachute.cli.module_installing import print_installed, put_in_place
    from parachute.cli.module_output import Steps
    from parachute.cli.output import print_note

    home, modules = _modules()
    steps = Steps(as_json)
    try:
        with modules.installing(
            source, subfolder=path, dev=dev, untrusted=untrusted, folder=Path.cwd(), progress=steps
        ) as installation:
            changed = put_in_place(installation, yes, as_json)
    finally:
        steps.close()
    what = "updated and approved" if installation.previous else "installed and approved"
    print_installed(home, modules, installation.module.name, what if changed else "up to date", as_json)
    if dev and not as_json:
        print_note(
            f"It runs from {installation.module.dev}. After a change: parachute modules restart {installation.module.name}"
        )


def approve(name: str = _NAME, yes: bool = _YES, as_json: bool = _JSON) -> None:
    """Approve the changes of a module, after a look at them."""
    from parachute.cli.module_installing import print_installed, put_in_place
    from parachute.cli.module_output import Steps, print_changes

    home, modules = _modules()
    steps = Steps(as_json)
    try:
        with modules.approving(name, steps, modules.limits.wait_seconds) as installation:
            if not as_json:
                # Again, and of what is staged: what is in the vault may not be what `diff` showed.
                print_changes(installation.changes())
            changed = put_in_place(installation, yes, as_json)
    finally:
        steps.close()
    print_installed(home, modules, name, "approved" if changed else "approved already", as_json)


def diff(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Show what changed in a module since it was approved: files, and what it may do."""
    from parachute.cli.module_output import print_changes
    from parachute.cli.output import clean, print_json, print_note

    modules = _modules()[1]
    changes = modules.changes(name)
    permissions, problem = modules.permission_changes(name) if changes else (None, None)
    if as_json:
        print_json(
            {
                "name": name,
                "files": [change.as_json() for change in changes],
                "permissions": permissions.as_json() if permissions else None,
                "problem": problem,
            }
        )
        return
    print_changes(changes)
    if not changes:
        print_note(f"Nothing changed in {name} since it was approved.")
    elif problem:
        print_note(f"It could not be approved like this: {problem}")
    elif permissions:
        print("\nWhat it may do changes:", *map(clean, permissions.as_text()), sep="\n")


def enable(name: str = _NAME) -> None:
    """Let a module start again, also one that stays down after failures."""
    from parachute.cli.api import Api, quoted
    from parachute.errors import Unavailable

    home, modules = _modules()
    try:
        api = Api.find(home)
    except Unavailable:
        found = modules.enable(name)
    else:
        # Core forgets the failures of the module as well.
        api.post(f"/api/modules/{quoted(name)}/enable")
        found = modules.status(name)
    print(f"The module {name} is enabled.{f' {found.reason}' if found.reason else ''}")


def disable(name: str = _NAME) -> None:
    """Keep a module from starting, and end it if it runs."""
    from parachute.cli.module_output import tell_core

    home, modules = _modules()
    modules.disable(name)
    tell_core(home)
    print(f"The module {name} is disabled.")


def restart(name: str = _NAME) -> None:
    """End a module's process; the next request starts it again, with its files as they are then."""
    from parachute.cli.api import Api, quoted

    home, _ = _modules()
    Api.find(home).post(f"/api/modules/{quoted(name)}/restart")
    print(f"The module {name} was ended. The next request starts it.")


def remove(
    name: str = _NAME,
    purge: bool = typer.Option(False, "--purge", help="Remove its private data and settings too."),
    yes: bool = _YES,
) -> None:
    """Remove a module; what it wrote into the vault stays."""
    from parachute.cli.module_output import ask, can_ask, tell_core
    from parachute.cli.output import print_note

    home, modules = _modules()
    found = modules.status(name)
    private = " and ".join(map(str, modules.private(name)))
    if not yes:
        print_note(f"What the module {name} wrote into the vault stays.")
        if not (found.module and found.module.dev):
            print_note(f"The folder {found.folder} is deleted.")
        if private and (purge or not can_ask(False)):
            print_note(f"Its private data in {private} {'is deleted' if purge else 'stays'}.")
        if found.pending_hash:
            print_note("There are changes in that folder which were never approved; they are lost.")
        if not can_ask(False):
            print_note("Nothing was removed: say --yes.")
            raise typer.Exit(NOT_ANSWERED)
        if not ask(f"Remove the module {name}?"):
            raise typer.Exit(1)
        purge = purge or (bool(private) and ask(f"Delete its private data in {private}, too?"))
    with modules.removing(name, purge, modules.limits.wait_seconds):
        # What runs of it ends before its files go.
        tell_core(home)
    print(f"The module {name} is removed.")
    if private and not purge:
        print_note(f"Its private data is still in {private}.")


def apply(as_json: bool = _JSON) -> None:
    """Install, update and remove modules as the system's configuration declares; nothing is asked."""
    from parachute.cli.module_applying import apply_declared

    home, modules = _modules()
    if not apply_declared(home, modules, as_json):
        raise typer.Exit(1)


def settings(name: str = _NAME, as_json: bool = _JSON) -> None:
    """Show the settings of a module; of secrets only whether they are set."""
    from parachute.cli.module_settings import show

    show(_modules()[1], name, as_json)


def set_(
    name: str = _NAME,
    setting: str = _SETTING,
    value: str | None = typer.Argument(None, help="Its value; - reads it, and a secret is asked for."),
) -> None:
    """Change one setting of a module."""
    from parachute.cli.module_output import tell_core
    from parachute.cli.module_settings import change

    home, modules = _modules()
    change(modules, name, setting, value)
    tell_core(home)


def unset(name: str = _NAME, setting: str = _SETTING) -> None:
    """Go back to the default of one setting of a module."""
    from parachute.cli.module_output import tell_core
    from parachute.cli.module_settings import reset

    home, modules = _modules()
    reset(modules, name, setting)
    tell_core(home)


def check(path: Path = typer.Argument(Path(), help="Folder of the module."), as_json: bool = _JSON) -> None:
    """Look whether a module can be installed; nothing of it runs."""
    from parachute.cli.output import clean, print_json
    from parachute.modules.check import check_folder

    report = check_folder(path.absolute())
    if as_json:
        print_json({"name": report.name, "version": report.version, "hash": report.hash, "problems": report.problems})
    elif report.problems:
        for problem in report.problems:
            print(clean(problem))
    else:
        print(f"The module {report.name} {report.version} can be installed.")
        print(f"Its hash is {report.hash}.")
    if report.problems:
        raise typer.Exit(1)


def new(
    name: str = typer.Argument(help="Name of the new module."),
    folder: Path | None = typer.Option(None, "--into", help="Folder to make it in; the present one if none."),
) -> None:
    """Write a new module that works, with tests."""
    import sys
    from importlib.util import find_spec

    from parachute.modules.new import create_module

    made = create_module(name, (folder or Path()).absolute())
    print(f"The module is in {made}.")
    print(f"Test it:     cd {made} && {sys.executable} -m pytest")
    if find_spec("pytest") is None:
        print(f"             (once: {sys.executable} -m pip install pytest pytest-asyncio)")
    print(f"Install it:  parachute modules install {made}")


def _modules() -> "tuple[Home, Modules]":
    from parachute.modules.service import Modules
    from parachute.settings.home import Home
    from parachute.settings.store import load

    home = Home.find()
    return home, Modules(home, load(home).vault)
