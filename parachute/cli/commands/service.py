"""`parachute service`: the computer as services of this user, which are there after a boot, and as others find it."""

from typing import Any

import typer

from parachute.cli.commands import group


def register(app: typer.Typer) -> None:
    """Add the group."""
    service = group("service", "Run the computer as services of systemd, also after a boot.")
    service.command("install")(install)
    service.command("uninstall")(uninstall)
    service.command("avahi")(avahi)
    app.add_typer(service)


def install(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Write the units, start them, and keep them running while nobody is logged in."""
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_json, print_note
    from parachute.keys.service import Keys
    from parachute.settings.home import Home
    from parachute.settings.store import load
    from parachute.supervisor import backup_units
    from parachute.web.exposure import check_exposure

    home = Home.find()
    settings = load(home)
    check_exposure(settings.auth_mode, settings.host, Keys(home.root))
    with lifecycle.one_at_a_time(home):
        user_services.check_possible(home)
        linger = user_services.linger()
        free = user_services.not_held_back()
        files = user_services.install(home, settings.host, settings.port, linger, confined=free is None)
        backup = settings.backup
        timers = backup_units.render(home, backup.time, backup.drill) if backup.repository else {}
        files += user_services.install_timers(timers)
    result: dict[str, Any] = {
        "installed": [str(file) for file in files],
        "lingers": linger.on,
        "problem": linger.problem,
        "not_held_back": free,
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
    for problem in (linger.problem, free):
        if problem:
            print_note(problem)


def uninstall(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Stop the services and remove their units; data and settings stay."""
    from parachute.cli import lifecycle, user_services
    from parachute.cli.output import print_json
    from parachute.settings.home import Home

    home = Home.find()
    with lifecycle.one_at_a_time(home):
        files = user_services.uninstall(home)
        files += user_services.remove_timers()
    if as_json:
        print_json({"removed": [str(file) for file in files]})
    elif files:
        print("The services have been stopped, and these files removed:")
        for file in files:
            print(file)
    else:
        print("No services are installed.")


def avahi() -> None:
    """Print the file with which Avahi announces the computer on the local network, for /etc/avahi/services."""
    from parachute.discovery.announcement import service_file
    from parachute.settings.home import Home
    from parachute.settings.store import load

    print(service_file(load(Home.find()).port), end="")
