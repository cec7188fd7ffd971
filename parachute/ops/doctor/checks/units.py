"""Installed units: they are those that this version renders."""

import os
import shlex
import sys
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, NotApplicable, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.programs import ask
from parachute.ops.doctor.systemd import check_installed, of_this_user
from parachute.supervisor import backup_units, installed

_SECONDS = 300
_INSTALL = "`parachute service install` rewrites them and restarts the services."


@check("Installed units", Group.SERVICES)
def examine(computer: Computer) -> Result:
    check_installed(computer)
    if not of_this_user():
        raise NotApplicable(
            "The units are the system's: its configuration, or the package that brought them, keeps them."
        )
    settings = settings_of(computer, "the content of the units")
    folder = installed.folder()
    if installed.are_links():
        raise NotApplicable("The units are links to files of another program, such as Home Manager, which keeps them.")
    host, port, lingers = settings.host, settings.port, installed.enabled_linger()
    # Without namespaces for services of users, core cannot be held back: whoever installed them found that out.
    held, free = (
        installed.render(computer.home, host, port, lingers_for_us=lingers, confined=each) for each in (True, False)
    )
    supervisor = _text(folder / installed.SUPERVISOR)
    is_free = supervisor == free[installed.SUPERVISOR] != held[installed.SUPERVISOR]
    backup = settings.backup
    timers = backup_units.render(computer.home, backup.time, backup.drill) if backup.repository else {}
    wanted = {**dict.fromkeys(backup_units.NAMES), **(free if is_free else held), **timers}
    fix = Fix(_INSTALL.replace("`", ""), lambda: _install(computer), ends_server=True)
    if gone := _gone([folder / name for name in wanted]):
        return problem(f"The units start a program that no longer exists: {gone}.", _INSTALL, fix=fix)
    different = [name for name, text in wanted.items() if _text(folder / name) != text]
    if different:
        return warning(
            f"{', '.join(different)} {'is' if len(different) == 1 else 'are'} not what this version and its settings ask for.",
            f"{_INSTALL} Changes of your own belong into a drop-in: `systemctl --user edit {different[0]}`.",
            fix=fix,
        )
    if is_free:
        return ok("The installed units are those of this version for systems that cannot hold core back.")
    return ok("The installed units are those of this version.")


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _gone(paths: list[Path]) -> str | None:
    """The program of a unit that does not exist, such as an interpreter that went with an update."""
    for path in paths:
        for line in (_text(path) or "").splitlines():
            if line.startswith("ExecStart="):
                words = shlex.split(line.partition("=")[2])
                if words and not os.access(words[0].replace("%%", "%"), os.X_OK):
                    return words[0]
    return None


def _install(computer: Computer) -> str:
    answer = ask(computer, sys.executable, "-m", "parachute.cli", "service", "install", seconds=_SECONDS)
    if answer.code != 0:
        raise Unavailable(
            answer.err.removeprefix("Error: ")[-500:] or "The services could not be installed.", key="not_fixed"
        )
    return "The units were rewritten, and the services run."
