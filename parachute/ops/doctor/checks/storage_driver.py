"""Podman's storage driver: with vfs each container is a whole copy of its image."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.podman import check_wanted
from parachute.ops.doctor.programs import ask

_RESET = (
    'Take `driver = "vfs"` out of ~/.config/containers/storage.conf (Debian before 12 needs `sudo apt-get install fuse-overlayfs` '
    "as well), then `podman system reset`, which removes all images and containers of this user, and `parachute sandbox build`."
)


@check("Podman's storage", Group.AGENTS)
def examine(computer: Computer) -> Result:
    check_wanted(computer)
    answer = ask(computer, "podman", "info", "--format", "{{.Store.GraphDriverName}}")
    if answer.code != 0 or not answer.out:
        return problem(
            f"Podman does not work: {' / '.join(answer.err.splitlines()[-2:])[:300] or 'no reason was given'}.",
            "`podman info` shows all that it says.",
        )
    driver = answer.out.splitlines()[-1]
    if driver == "vfs":
        return problem(
            "Podman stores images with vfs: each container copies the whole image, and starts slowly.", _RESET
        )
    if driver != "overlay":
        return warning(f"Podman stores images with {driver}; overlay is what is tested.", _RESET.replace("vfs", driver))
    return ok("Podman stores images with overlay.")
