"""`parachute service install` and `uninstall`: the computer as services of this user, which are there after a boot."""

from typing import Any

import typer

from parachute.cli.commands import group


def register(app: typer.Typer) -> None:
    """Add the group."""
    service = group("service", "Run the computer as services of systemd, also after a boot.")
    service.command("install")(install)
    service.command("uninstall")(uninstall)
    app.add_typer(service)


def install(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Write the units, start them, and keep them running while nobody is logged in."""
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_json, print_note
    from parachute.keys.service import Keys
    from parachute.settings.home import Home
    from parachute.settings.store import load
    from parachute.web.exposure import check_exposure

    home = Home.find()
    settings = load(home)
    check_exposure(settings.auth_mode, settings.host, Keys(home.root))
    with lifecycle.one_at_a_time(home):
        user_services.check_possible(home)
        linger = user_services.linger()
        files = user_services.install(home, settings.host, settings.port, linger)
    result: dict[str, Any] = {
        "installed": [str(file) for file in files],
        "lingers": linger.on,
        "problem": linger.problem,
    }
    if as_json:
        print_json(result)
        return
    for file in files:
        print(file)
    print(
        "The computer runs as a service, and starts with the machine."
        if linger.on
        else "The computer runs as a service."
    )
    if linger.problem:
        print_note(linger.problem)


def uninstall(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Stop the services and remove their units; data and settings stay."""
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_json
    from parachute.settings.home import Home

    home = Home.find()
    with lifecycle.one_at_a_time(home):
        files = user_services.uninstall(home)
    if as_json:
        print_json({"removed": [str(file) for file in files]})
    elif files:
        print("The services have been stopped, and these files removed:")
        for file in files:
            print(file)
    else:
        print("No services are installed.")
