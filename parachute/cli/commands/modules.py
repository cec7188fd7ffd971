"""`parachute modules`: install, approve and remove what extends this computer."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.agent_limits import limit
from parachute.cli.agent_runs import run, runs
from parachute.cli.api import Api, quoted
from parachute.cli.asking import agrees, can_ask, confirm, secret
from parachute.cli.commands import JSON, YES, group
from parachute.cli.installation import modules as installed
from parachute.cli.modules import (
    print_changes,
    print_installed,
    print_module,
    print_modules,
    print_states,
    put_in_place,
    reload_server,
    shown_steps,
    with_units,
)
from parachute.cli.output import as_text, clean, print_answer, print_error, print_json, print_note, print_rows
from parachute.cli.staged_modules import staged
from parachute.config.settings.home import Home
from parachute.config.vault.place import VaultPlace
from parachute.modules.registry.scaffold import create_module

if TYPE_CHECKING:
    from parachute.modules.manifest.models import Setting
    from parachute.modules.registry.service import Modules
    from parachute.modules.registry.settings import SettingRow

_NAME = typer.Argument(help="Name of the module.")
_SETTING = typer.Argument(help="Name of the setting.")
_LONGEST = 1024 * 1024


def list_(as_json: bool = JSON) -> None:
    """List the modules, and what runs of them."""
    home, modules = _modules()
    found = with_units(home, modules.list())
    print_answer(found, as_json, lambda _: print_modules(found))


def status(name: str = typer.Argument("", help="Name of a module; all if none."), as_json: bool = JSON) -> None:
    """Show what modules do, whether they may start, and why not."""
    home, modules = _modules()
    found = with_units(home, [modules.status(name)] if name else modules.list())
    if as_json:
        print_json(found[0] if name else found)
    elif name:
        print_module(found[0])
    else:
        print_states(found)


def install(
    source: str = typer.Argument(help="Address of a git repository, path of a folder, or parachute://NAME."),
    path: str | None = typer.Option(None, "--path", help="Folder of the module inside of the source."),
    dev: bool = typer.Option(False, "--dev", help="Run it in place, from a folder outside of the vault."),
    untrusted: bool = typer.Option(False, "--untrusted", help="Shut it in: no network, and only its own folder."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Install a module, or bring it up to date from where it came; nothing of it runs before you say yes."""
    home, modules = _modules()
    with (
        shown_steps(as_json) as steps,
        modules.installing(
            source, subfolder=path, dev=dev, untrusted=untrusted, folder=Path.cwd(), progress=steps
        ) as installation,
    ):
        changed = put_in_place(installation, yes, as_json)
    name = installation.module.name
    what = "updated and approved" if installation.previous else "installed and approved"
    print_installed(home, modules, name, what if changed else "up to date", as_json)
    if dev and not as_json:
        print_note(f"It runs from {installation.module.dev}. After a change: parachute modules restart {name}")


def diff(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show what changed in a module since it was approved: files, and what it may do."""
    modules = _modules()[1]
    changes = modules.changes(name)
    permissions, problem = modules.permission_changes(name) if changes else (None, None)
    if as_json:
        allowed = permissions or None
        print_json({"name": name, "files": changes, "permissions": allowed, "problem": problem})
        return
    print_changes(changes)
    if not changes:
        print_note(f"Nothing changed in {name} since it was approved.")
    elif problem:
        print_note(f"It could not be approved like this: {problem}")
    elif permissions:
        print("\nIts permissions change:", *map(clean, permissions.as_text()), sep="\n")


def approve(name: str = _NAME, yes: bool = YES, as_json: bool = JSON) -> None:
    """Approve the changes of a module, after a look at them."""
    home, modules = _modules()
    with (
        shown_steps(as_json) as steps,
        modules.approving(name, steps, modules.limits.wait_seconds) as installation,
    ):
        if not as_json:
            # Again, and of what is staged: what is in the vault may not be what `diff` showed.
            print_changes(installation.changes())
        changed = put_in_place(installation, yes, as_json)
    print_installed(home, modules, name, "approved" if changed else "approved already", as_json)


def enable(name: str = _NAME) -> None:
    """Let a module start again, also one that stays down after failures."""
    home, modules = _modules()
    if api := Api.if_available(home):
        # The server forgets the failures of the module as well.
        api.post(f"/api/modules/{quoted(name)}/enable")
        found = modules.status(name)
    else:
        found = modules.enable(name)
    print(f"The module {name} is enabled.{f' {found.reason}' if found.reason else ''}")


def disable(name: str = _NAME) -> None:
    """Keep a module from starting, and end it if it runs."""
    home, modules = _modules()
    modules.disable(name)
    reload_server(home)
    print(f"The module {name} is disabled.")


def restart(name: str = _NAME) -> None:
    """End a module's process; the next request starts it again, with its files as they are then."""
    Api.find().post(f"/api/modules/{quoted(name)}/restart")
    print(f"The module {name} was ended. The next request starts it.")


def remove(
    name: str = _NAME,
    purge: bool = typer.Option(False, "--purge", help="Remove its private data and settings too."),
    yes: bool = YES,
) -> None:
    """Remove a module; what it wrote into the vault stays."""
    home, modules = _modules()
    found = modules.status(name)
    private = " and ".join(map(str, modules.private(name)))
    if not yes:
        print_note(f"What the module {name} wrote into the vault stays.")
        if not found.dev:
            print_note(f"The folder {found.folder} is deleted.")
        if private and (purge or not can_ask()):
            print_note(f"Its private data in {private} {'is deleted' if purge else 'stays'}.")
        if found.pending_hash:
            print_note("There are changes in that folder which were never approved; they are lost.")
        confirm(f"Remove the module {name}?", "Nothing was removed.", yes=False)
        purge = purge or (bool(private) and agrees(f"Delete its private data in {private}, too?"))
    with modules.removing(name, purge, modules.limits.wait_seconds):
        # What runs of it ends before its files go.
        reload_server(home)
    print(f"The module {name} is removed.")
    if private and not purge:
        print_note(f"Its private data is still in {private}.")


def apply(as_json: bool = JSON) -> None:
    """Install, update and remove modules as the system's configuration declares; nothing is asked."""
    # pydantic
    from parachute.modules.registry.reconcile import reconcile

    home, modules = _modules()
    # A computer that was never started has no vault yet.
    VaultPlace(home.root, modules.places.vault).check()
    modules.places.vault.mkdir(mode=0o700, parents=True, exist_ok=True)
    with shown_steps(as_json) as steps:
        outcomes = reconcile(modules, steps, lambda: reload_server(home))
    if as_json:
        print_json(outcomes)
    elif not outcomes:
        print_note("Nothing is declared of modules on this computer.")
    for outcome in outcomes if not as_json else ():
        if outcome.problem:
            print_error(f"The module {outcome.name} differs from its declaration: {outcome.problem}")
        else:
            print(clean(f"The module {outcome.name} is {outcome.done or 'as declared'}."))
    if any(outcome.problem for outcome in outcomes):
        raise typer.Exit(1)


def settings(name: str = _NAME, as_json: bool = JSON) -> None:
    """Show the settings of a module; of secrets only whether they are set."""
    modules = _modules()[1]
    rows = modules.settings.shown(name, modules.manifest(name))
    print_rows(
        rows,
        as_json,
        ["Name", "Value", "From", "Type", "Meaning"],
        lambda row: (row.name, _value(row), _source(row), _type(row), row.description),
        f"The module {name} has no settings.",
    )


def set_(
    name: str = _NAME,
    setting: str = _SETTING,
    value: str | None = typer.Argument(None, help="Its value; - reads it, and a secret is asked for."),
) -> None:
    """Change one setting of a module."""
    # pydantic
    from parachute.modules.registry.settings import from_text, setting_of

    home, modules = _modules()
    manifest = modules.manifest(name)
    found = setting_of(manifest, setting)
    if found.type == "secret" and value not in (None, "-"):
        raise InvalidInput(
            f"{setting} is a secret, and other programs and the shell's history can see a command line.",
            f"Leave the value out to be asked for it, or pipe it: parachute modules set {name} {setting} -",
            key="secret_on_command_line",
        )
    text = _asked(name, found) if value is None else _from_input() if value == "-" else value
    modules.settings.set(name, manifest, setting, from_text(found, text))
    _print_setting(home, modules, name, setting)


def unset(name: str = _NAME, setting: str = _SETTING) -> None:
    """Go back to the default of one setting of a module."""
    home, modules = _modules()
    modules.settings.delete(name, modules.manifest(name), setting)
    _print_setting(home, modules, name, setting)


def check(path: Path = typer.Argument(Path(), help="Folder of the module."), as_json: bool = JSON) -> None:
    """Look whether a module can be installed; nothing of it runs."""
    # pydantic
    from parachute.modules.registry.check import check_folder

    report = check_folder(path.absolute())
    if as_json:
        found = {"name": report.name, "version": report.version, "hash": report.hash, "problems": report.problems}
        print_json({**found, "without_effect": report.without_effect})
    elif report.problems:
        print(clean("\n".join(report.problems)))
    else:
        print(f"The module {report.name} {report.version} can be installed.")
        print(f"Its hash is {report.hash}.")
    if report.without_effect and not as_json:
        lines = "".join(f"\n  {line}" for line in report.without_effect)
        print_note(clean(f"These lines of manifest.yaml have no effect here:{lines}"))
    if report.problems:
        raise typer.Exit(1)


def new(
    name: str = typer.Argument(help="Name of the new module."),
    folder: Path | None = typer.Option(None, "--into", help="Folder to make it in; the present one if none."),
) -> None:
    """Write a new module that works, with tests."""
    made = create_module(name, (folder or Path()).absolute())
    print(f"The module is in {made}.")
    print(f"Test it:     cd {made} && {sys.executable} -m pytest")
    if find_spec("pytest") is None:
        print(f"             (once: {sys.executable} -m pip install pytest pytest-asyncio)")
    print(f"Install it:  parachute modules install {made}")


# A negative number is a value, and no option.
app = group(
    *(
        list_,
        status,
        install,
        staged,
        diff,
        approve,
        enable,
        disable,
        restart,
        run,
        runs,
        limit,
        remove,
        apply,
        settings,
        set_,
        unset,
        check,
        new,
    ),
    dashes=set_,
)
app.command("uninstall", hidden=True)(remove)


def _modules() -> "tuple[Home, Modules]":
    home = Home.find()
    return home, installed(home)


def _print_setting(home: Home, modules: "Modules", name: str, setting: str) -> None:
    (row,) = (each for each in modules.settings.shown(name, modules.manifest(name)) if each.name == setting)
    is_now = _value(row) if row.type == "secret" else f"now {_value(row) or 'empty'}"
    print(clean(f"{setting} of {name} is {is_now}."))
    reload_server(home)


def _asked(name: str, setting: "Setting") -> str:
    if setting.type != "secret":
        expected = f"one of {', '.join(setting.choices)}" if setting.choices else f"of type {setting.type}"
        raise InvalidInput(
            f"{setting.name}: a value is expected, {expected}.",
            f"parachute modules set {name} {setting.name} VALUE",
            key="value_expected",
        )
    if not can_ask():
        raise InvalidInput(
            f"{setting.name} is a secret, and there is no terminal to ask at.",
            f"Pipe it: parachute modules set {name} {setting.name} -",
            key="cannot_ask",
        )
    return secret(f"{setting.name} of {name}")


def _from_input() -> str:
    data = sys.stdin.buffer.read(_LONGEST)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("What came in is not UTF-8 text.", key="not_text") from error
    # The end of the line belongs to the program that wrote it.
    return text.removesuffix("\n").removesuffix("\r")


def _value(row: "SettingRow") -> str:
    if row.type == "secret":
        return "set" if row.is_set else "not set"
    return as_text(row.value)


def _source(row: "SettingRow") -> str:
    if row.declared:
        return "declared"
    return "you" if row.is_set else "" if row.type == "secret" else "default"


def _type(row: "SettingRow") -> str:
    return " | ".join(row.choices) if row.choices else row.type
