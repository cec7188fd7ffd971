"""`parachute service`: the computer as services of this user, which are there after a boot, and as others find it."""

import typer

from parachute.cli import launchd, lifecycle, user_services
from parachute.cli.commands import JSON, group
from parachute.cli.installation import settings
from parachute.cli.output import print_json, print_note
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys
from parachute.supervisor import backup_units
from parachute.web.access.exposure import check_exposure
from parachute.web.discovery.announcement import service_file


def install(
    keeps_running: bool = typer.Option(False, "--keep-running", hidden=True, help="Restart nothing: an update did."),
    as_json: bool = JSON,
) -> None:
    """Write the units, start them, and keep them running while nobody is logged in."""
    home = Home.find()
    found = settings(home)
    keys = Keys(home.root)
    check_exposure(found.auth_mode, found.host, keys, BrowserSessions(home.root, keys))
    if launchd.is_there():
        _install_launch_agent(home, found, as_json=as_json)
        return
    with lifecycle.one_at_a_time(home):
        user_services.check_possible(home)
        linger = user_services.linger()
        free = user_services.not_held_back()
        files = user_services.install(
            home, found.host, found.port, linger, confined=free is None, keeps_running=keeps_running
        )
        backup = found.backup
        timers = backup_units.render(home, backup.time, backup.drill) if backup.repository else {}
        files += user_services.install_timers(timers)
    if as_json:
        state = {"lingers": linger.on, "problem": linger.problem, "not_held_back": free}
        print_json({"installed": [str(file) for file in files], **state})
        return
    for file in files:
        print(file)
    print(f"The computer runs as a service{', and starts with the machine' if linger.on else ''}.")
    for problem in (linger.problem, free):
        if problem:
            print_note(problem)


def uninstall(as_json: bool = JSON) -> None:
    """Stop the services and remove their units; data and settings stay."""
    home = Home.find()
    with lifecycle.one_at_a_time(home):
        if launchd.is_there():
            files = launchd.uninstall(home)
        else:
            files = [*user_services.uninstall(home), *user_services.remove_timers()]
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
    print(service_file(settings().port), end="")


app = group(install, uninstall, avahi)


def _install_launch_agent(home: Home, found: Settings, *, as_json: bool) -> None:
    with lifecycle.one_at_a_time(home):
        file = launchd.install(home, found.host, found.port)
    free = "Core and the supervisor run without being held back: that is only done with systemd."
    if as_json:
        print_json({"installed": [str(file)], "lingers": False, "problem": None, "not_held_back": free})
        return
    print(file)
    print("The computer runs as a service, and starts when you log in.")
    print_note(free)
    if found.backup.repository:
        print_note("No automatic backups here: `parachute backup create` makes one.")
