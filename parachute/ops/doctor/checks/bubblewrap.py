"""bubblewrap can confine programs, found out by doing it."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.podman import wants_containers
from parachute.sandbox.engines import bubblewrap

_INSTALL = "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu; the check `user-namespaces` shows what forbids it."


@check("bubblewrap", Group.AGENTS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the sandbox")
    reason = bubblewrap.unavailable()
    if reason is None:
        return ok("bubblewrap works.")
    if wants_containers(computer):
        return warning(f"{reason} MCP servers need it, and modules where systemd does not confine them.", _INSTALL)
    is_needed = settings.sandbox.required or computer.home.sandbox_worked.exists()
    without = (
        "no conversation begins"
        if is_needed
        else "your own conversations run with all of your rights, others do not begin"
    )
    return problem(f"{reason} Without a sandbox {without}.", _INSTALL)
