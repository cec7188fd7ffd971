"""`parachute setup`: the official modules on a new computer."""

import typer

_OFFICIAL = ("brain", "daily", "chat")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("setup")(setup)


def setup(
    modules: str = typer.Option(",".join(_OFFICIAL), "--modules", help="Names of official modules, with commas."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Say yes to what would be asked."),
) -> None:
    """Install the official modules: Brain, Daily and Chat; what is installed already stays as it is."""
    from parachute.cli.module_installing import put_in_place
    from parachute.cli.module_output import Steps, tell_core
    from parachute.cli.output import print_note
    from parachute.errors import InvalidInput, NotFound
    from parachute.modules.models import State
    from parachute.modules.service import Modules
    from parachute.modules.sources import official_module
    from parachute.settings.home import Home
    from parachute.settings.store import load

    names = [name.strip() for name in modules.split(",") if name.strip()]
    if not names:
        raise InvalidInput("--modules: name at least one, such as daily.")
    for name in names:
        official_module(name)  # before anything is installed: one of them may be misspelt
    home = Home.find()
    vault = load(home).vault
    vault.mkdir(mode=0o700, parents=True, exist_ok=True)
    service = Modules(home, vault)
    changed = False
    try:
        for name in names:
            try:
                found = service.status(name)
                if found.declared:
                    print_note(f"The module {name} is declared by the system's configuration.")
                    continue
                if found.state is not State.NOT_INSTALLED:
                    print_note(f"The module {name} is installed already.")
                    continue
            except NotFound:
                pass
            steps = Steps(as_json=False)
            try:
                with service.installing(f"parachute://{name}", progress=steps) as installation:
                    changed = put_in_place(installation, yes, as_json=False) or changed
            finally:
                steps.close()
            typer.echo(f"✓ Module '{name}' installed and approved")
    finally:
        # Also when the person says no to one: those before it are installed.
        address = tell_core(home) if changed else None
    if address:
        typer.echo(f'They answer at {address}/api/. Try: parachute daily add "Today I …"')
    elif changed:
        typer.echo("Start the computer to load them: parachute start")
