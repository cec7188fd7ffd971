"""Lingering: services run while nobody is logged in."""

from parachute.base.errors import Unavailable
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, NotApplicable, Result, check, ok, problem
from parachute.ops.doctor.programs import ask, is_there
from parachute.ops.doctor.systemd import check_installed

_UNKNOWN = "is not logged in or lingering"


@check("Services after logout", Group.SERVICES)
def examine(computer: Computer) -> Result:
    check_installed(computer)
    if not is_there(computer, "loginctl"):
        raise NotApplicable("This machine has no loginctl to ask.")
    answer = ask(computer, "loginctl", "show-user", computer.user, "--property=Linger", "--value")
    if answer.out == "yes":
        return ok(f"Services of {computer.user} keep running after logout.")
    if answer.code != 0 and _UNKNOWN not in answer.err:
        raise NotApplicable(f"loginctl does not answer: {answer.err[:200] or f'status {answer.code}'}")
    return problem(
        "The services end when you log out, and do not start with the machine.",
        f"`sudo loginctl enable-linger {computer.user}` keeps them.",
        fix=Fix("Let your services run without a login (loginctl enable-linger).", lambda: _enable(computer)),
    )


def _enable(computer: Computer) -> str:
    answer = ask(computer, "loginctl", "--no-ask-password", "enable-linger")
    if answer.code != 0:
        raise Unavailable(
            f"Lingering could not be enabled: {answer.err[:200].rstrip('.')}.",
            f"`sudo loginctl enable-linger {computer.user}` enables it.",
            key="not_fixed",
        )
    return "Services now run without a login."
