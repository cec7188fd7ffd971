"""Preconditions of checks about services."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import NotApplicable
from parachute.ops.doctor.programs import is_there
from parachute.supervisor import installed


def is_booted(computer: Computer) -> bool:
    """Return whether systemd runs this machine."""
    # The test of sd_booted(3).
    return computer.path("/run/systemd/system").is_dir() and is_there(computer, "systemctl")


def check_runs(computer: Computer) -> None:
    """See that systemd is what runs this machine; error: NotApplicable."""
    if not is_booted(computer):
        raise NotApplicable("This machine is not run by systemd.")


def of_this_user() -> bool:
    """Return whether `parachute service install` has written units."""
    return any((installed.folder() / name).exists() for name in installed.NAMES)


def of_the_system(computer: Computer) -> bool:
    """Return whether the system's configuration has the units, as NixOS does, or a package of the system, as Debian's."""
    in_configuration = computer.path(str(installed.SYSTEM / installed.SUPERVISOR)).exists()
    return in_configuration or installed.is_for_us(computer.path(str(installed.PACKAGED)))


def is_installed(computer: Computer) -> bool:
    """Return whether the computer is to run as a service."""
    return of_this_user() or of_the_system(computer)


def check_installed(computer: Computer) -> None:
    """See that the computer is to run as a service; error: NotApplicable."""
    if not is_installed(computer):
        raise NotApplicable("The computer is not installed as a service; `parachute service install` does that.")
