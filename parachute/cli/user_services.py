"""Installing the computer's services with the programs of systemd, as a person would."""

import os
import pwd
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import Conflict, Unavailable
from parachute.base.files import atomic_write
from parachute.cli import launchd, lifecycle, programs
from parachute.config.settings.home import Home
from parachute.supervisor import backup_units, installed, launch_agent, pid_file
from parachute.supervisor.systemd import hardening


class Linger(Struct, frozen=True):
    """Services that run while nobody is logged in; `problem` says in a sentence why they do not."""

    on: bool
    by_us: bool
    problem: str | None = None


def check_possible(home: Home) -> None:
    """Errors: Unavailable where there is no user manager, Conflict where the computer runs without one."""
    if not shutil.which("systemctl"):
        raise Unavailable(
            "There is no systemd on this machine.", "`parachute start` runs the computer without it.", key="no_systemd"
        )
    if _are_of_the_system() or installed.are_links():
        raise Conflict(
            "The system's configuration has these services already.",
            "Change it where they come from: on NixOS and with home-manager in `services.parachute`.",
            key="system_services",
        )
    _check_manager()
    if not are_installed(home):
        lifecycle.check_not_running(home)


def linger() -> Linger:
    """Let the user's services run while nobody is logged in, as far as this user may."""
    name = pwd.getpwuid(os.getuid()).pw_name
    if programs.run("loginctl", "show-user", name, "--property=Linger", "--value").stdout.strip() == "yes":
        return Linger(True, installed.enabled_linger())
    answer = programs.run("loginctl", "--no-ask-password", "enable-linger")
    if answer.returncode == 0:
        return Linger(True, True)
    return Linger(
        False,
        False,
        f"The services end when you log out, because lingering could not be enabled: {answer.stderr.strip()}. "
        f"`sudo loginctl enable-linger {name}` enables it.",
    )


def not_held_back() -> str | None:
    """Return why systemd cannot confine core on this machine, as a sentence, or None; found out by trying, since policies differ."""
    lines = [f"--property={line}" for line in hardening.of_core() if not line.startswith("#")]
    answer = programs.run("systemd-run", "--user", "--quiet", "--wait", "--collect", *lines, sys.executable, "-ISc", "")
    if answer.returncode == 0:
        return None
    return (
        "Core and the supervisor run unconfined: systemd gives your services no namespaces here "
        f"({answer.stderr.strip()[-200:] or 'a trial of it failed'})."
    )


def install(
    home: Home, host: str, port: int, linger: Linger, *, confined: bool = True, keeps_running: bool = False
) -> list[Path]:
    """Write and enable the units, and start them unless they run as they are; returns their files.

    Error: Unavailable, and then the old ones are back, and run if they did.
    """
    folder = installed.folder()
    folder.mkdir(parents=True, exist_ok=True)
    _ = home.logs  # made here: systemd opens them before anything of ours runs
    files = installed.render(home, host, port, lingers_for_us=linger.by_us, confined=confined)
    before = {name: (folder / name).read_text() if (folder / name).exists() else None for name in files}
    was_running = pid_file.is_running(home)
    try:
        for name, text in files.items():
            atomic_write(folder / name, text, 0o644)
        _systemctl("daemon-reload")
        _systemctl("enable", "--quiet", *installed.NAMES)
        if not keeps_running:
            _restart()
    except BaseException:
        _restore(folder, before)
        if was_running and not keeps_running:
            _restart(check=False)
        raise
    return [folder / name for name in files]


def uninstall(home: Home) -> list[Path]:
    """Stop everything, and remove what `install` wrote; returns the removed files, none if there were none."""
    files = installed.written()
    if not files:
        return []
    ends_linger = installed.enabled_linger()
    if pid_file.is_running(home):
        lifecycle.stop(home)
    names = [file.name for file in files]
    _systemctl("disable", "--quiet", "--now", *names, check=False)
    for file in (*files, *installed.rendered()):
        if file.is_dir():  # what confines a module that nobody closed, since no supervisor was there
            shutil.rmtree(file)
        else:
            file.unlink()
    _systemctl("daemon-reload")
    _systemctl("reset-failed", *names, check=False)
    if ends_linger:
        programs.run("loginctl", "--no-ask-password", "disable-linger")
    return files


def install_timers(files: Mapping[str, str]) -> list[Path]:
    """Write and start the timers of backups; without any files remove those that are there. Error: Unavailable."""
    folder = installed.folder()
    if not files:
        remove_timers()
        return []
    for name, text in files.items():
        atomic_write(folder / name, text, 0o644)
    _systemctl("daemon-reload")
    _systemctl("enable", "--quiet", *backup_units.TIMERS)
    # Anew, since the time may be another one.
    _systemctl("restart", *backup_units.TIMERS)
    return [folder / name for name in files]


def remove_timers() -> list[Path]:
    """Stop and remove the timers of backups; a backup that is being made goes on. Returns the removed files."""
    files = installed.written(backup_units.NAMES)
    if files:
        _systemctl("disable", "--quiet", "--now", *backup_units.TIMERS, check=False)
        for file in files:
            file.unlink()
        _systemctl("daemon-reload")
        _systemctl("reset-failed", *backup_units.NAMES, check=False)
    return files


def are_installed(home: Home) -> bool:
    """True if there are services of this user for this state directory: from `install`, a package or the system's configuration."""
    if launch_agent.is_for(home):
        return True
    return f"Environment={installed.environment_of(home)}" in _lines(_in_force() / installed.SUPERVISOR)


def start(home: Home) -> None:
    """Start what is installed, and wait until core serves; errors: Unavailable, NotStarted."""
    if launch_agent.is_for(home):
        launchd.start(home)
        return
    _check_manager()
    _systemctl("reset-failed", *installed.NAMES, check=False)
    _systemctl("start", *installed.NAMES)


def _check_manager() -> None:
    answer = programs.run("systemctl", "--user", "show", "--property=Version")
    if answer.returncode != 0:
        raise Unavailable(
            f"The user manager of systemd does not answer: {answer.stderr.strip()}.",
            "Log in as this user itself, not with su or sudo, and try again.",
            key="systemd_silent",
        )


def _in_force() -> Path:
    """The folder whose units are this user's."""
    if _are_of_the_system():
        return installed.SYSTEM
    if (installed.folder() / installed.SUPERVISOR).exists() or not installed.is_for_us(installed.PACKAGED):
        return installed.folder()
    return installed.PACKAGED


def _are_of_the_system() -> bool:
    return installed.is_for_us(installed.SYSTEM)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        return []


def _restart(*, check: bool = True) -> None:
    _systemctl("reset-failed", *installed.NAMES, check=False)
    for name in (installed.CORE_SOCKET, installed.SUPERVISOR, installed.CORE_SERVICE):
        _systemctl("restart", name, check=check)


def _restore(folder: Path, before: dict[str, str | None]) -> None:
    new = [name for name, text in before.items() if text is None]
    if new:
        _systemctl("disable", "--quiet", "--now", *new, check=False)
    for name, text in before.items():
        if text is None:
            (folder / name).unlink(missing_ok=True)
        else:
            atomic_write(folder / name, text, 0o644)
    _systemctl("daemon-reload", check=False)


def _systemctl(*arguments: str, check: bool = True) -> None:
    answer = programs.run("systemctl", "--user", *arguments)
    if check and answer.returncode != 0:
        raise Unavailable(
            f"systemctl {arguments[0]} failed: {answer.stderr.strip()}",
            "`journalctl --user -u 'parachute-*' -n 50` shows the output of the services, and `parachute logs` the log of core.",
            key="systemctl_failed",
        )
