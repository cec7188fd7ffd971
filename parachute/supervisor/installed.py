"""Units that are there at boot: the supervisor and core as files in ~/.config/systemd/user."""

import json
import os
import pwd
import sys
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from parachute.config.settings.home import Home
from parachute.supervisor import units
from parachute.supervisor.systemd import hardening, rendering

SUPERVISOR = "parachute-supervisor.service"
CORE_SOCKET, CORE_SERVICE = rendering.socket_name("core"), rendering.service_name("core")
NAMES = (SUPERVISOR, CORE_SOCKET, CORE_SERVICE)

SYSTEM = Path("/etc/systemd/user")
"""The folder of units in the system's configuration, as on NixOS."""
PACKAGED = Path("/usr/lib/systemd/user")
"""The folder of units that a package brings, as on Debian; those of the person, and of the system's configuration, go before them."""
OF_ALL = (SYSTEM, PACKAGED)
"""Folders whose units every user's manager sees."""

_LINGER = "EnabledLinger=yes"


def folder() -> Path:
    """The folder of a person's own units."""
    return Path.home() / ".config" / "systemd" / "user"


def written(names: Iterable[str] = NAMES) -> list[Path]:
    """Units of a person that are files of ours; home-manager leaves links there."""
    files = (folder() / name for name in names)
    return [file for file in files if file.exists() and not file.is_symlink()]


def are_links() -> bool:
    """Return whether another program, such as home-manager, keeps a person's own units."""
    return any((folder() / name).is_symlink() for name in NAMES)


def runtime_folder() -> Path:
    """The folder in which the launcher writes units; systemd empties it at every boot."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}", "systemd", "user")


def is_for_us(folder: Path) -> bool:
    """True if units there, which every user's manager sees, are this user's."""
    try:
        lines = (folder / SUPERVISOR).read_text().splitlines()
    except FileNotFoundError:
        return False
    return f"ConditionUser={pwd.getpwuid(os.getuid()).pw_name}" in lines


def rendered() -> list[Path]:
    """The units that a launcher has left there: templates stay for the next instance."""
    return sorted(runtime_folder().glob(f"{rendering.PREFIX}*"))


def render(home: Home, host: str, port: int, *, lingers_for_us: bool, confined: bool = True) -> dict[str, str]:
    """The files by name; `lingers_for_us` notes that nobody needs the user to linger but us.

    `confined` False is for systems on which a user's service can have no namespaces: with them it would not start there.
    """
    core = replace(units.core(host, port), hardened=confined)
    files = rendering.render(core, home, _logs(home) / "core.log", wanted_at_boot=True)
    hardened = hardening.of_supervisor(rendering.absolute(home.root)) if confined else hardening.WITHOUT_NAMESPACES
    return {SUPERVISOR: _supervisor(home, host, port, lingers_for_us, hardened), **files}


def _logs(home: Home) -> Path:
    # Not `home.logs`, which makes the folder: these may be files for another machine.
    return home.root / "logs"


def environment_of(home: Home) -> str:
    """The line of a unit that names its owner."""
    return rendering.quoted(f"PARACHUTE_HOME={home.root}", dollars=False)


def enabled_linger() -> bool:
    """True if the installation has made the user linger, so that uninstalling should end it."""
    try:
        return _LINGER in (folder() / SUPERVISOR).read_text().splitlines()
    except FileNotFoundError:
        return False


def _supervisor(home: Home, host: str, port: int, lingers_for_us: bool, hardened: Iterable[str]) -> str:
    command = (
        sys.executable,
        "-m",
        "parachute.supervisor",
        "--host",
        host,
        "--port",
        str(port),
        "--launcher",
        "systemd",
    )
    lines = [
        "[Unit]",
        "Description=Parachute: supervisor",
        "StartLimitIntervalSec=300",
        "StartLimitBurst=5",
        "",
        "[Service]",
        f"ExecStart={rendering.command_line(command)}",
        "# Python imports from the folder it is started in, which would be the home.",
        "WorkingDirectory=/",
        f"Environment={environment_of(home)}",
        "Type=notify",
        "NotifyAccess=main",
        "# Long enough for a machine that has just started.",
        "TimeoutStartSec=180",
        "WatchdogSec=60",
        "TimeoutStopSec=60",
        "# `parachute stop` ends it well, and then it stays down.",
        "Restart=on-failure",
        "RestartSec=1s",
        *hardened,
        "# A dump of memory could hold keys.",
        "LimitCORE=0",
        "# Where `parachute logs` looks.",
        f"StandardOutput=append:{rendering.absolute(_logs(home) / 'supervisor.log')}",
        "StandardError=inherit",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    if lingers_for_us:
        lines += ["", "# systemd skips this; `parachute service uninstall` does not.", "[X-Parachute]", _LINGER]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    # An update has the units rendered by the version that they are to start.
    home, host, port, lingers, confined = json.loads(sys.argv[1])
    print(json.dumps(render(Home(Path(home)), host, port, lingers_for_us=lingers, confined=confined)))  # noqa: T201
