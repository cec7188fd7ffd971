"""Preconditions of checks about containers."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import NotApplicable
from parachute.ops.doctor.programs import is_there


def wants_containers(computer: Computer) -> bool:
    """Return whether agents are to run in containers: they are asked for, or an image was built for them."""
    if computer.settings is None or computer.settings.sandbox.engine == "bubblewrap":
        return False
    return computer.settings.sandbox.engine == "podman" or (computer.home.root / "image.json").exists()


def check_wanted(computer: Computer) -> None:
    """See that agents are to run in containers, and Podman is there; error: NotApplicable.

    Asking Podman something makes its folders for a user who has none, so nobody is asked who does not use it.
    """
    if not wants_containers(computer):
        raise NotApplicable("Agents do not run in containers here; `parachute sandbox build` makes their image.")
    if not is_there(computer, "podman"):
        raise NotApplicable("Podman is not installed.")
