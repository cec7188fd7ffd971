"""`parachute logs`: what the processes said."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("logs")(logs)


def logs(
    name: str = typer.Argument("", help="supervisor, core, model, ...; all if none is named."),
    lines: int = typer.Option(50, "--lines", "-n", min=1, max=100_000, help="How many lines of each."),
) -> None:
    """Show the last lines of the logs."""
    from parachute.cli import log_files
    from parachute.cli.output import clean, print_note
    from parachute.settings.home import Home

    home = Home.find()
    if name:
        log_files.path_of(home, name)
    names = [name] if name else log_files.names(home)
    if not names:
        print_note("There are no logs: nothing has run yet.")
    for number, each in enumerate(names):
        if not name:
            print(f"{'' if number == 0 else chr(10)}==> {each} <==")
        for line in log_files.tail(home.logs / f"{each}.log", lines):
            print(clean(line))
