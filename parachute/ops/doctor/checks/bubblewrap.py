"""Whether bubblewrap can shut programs in, found out by doing it."""

from parachute.doctor.computer import Computer
from parachute.doctor.models import Check, Group, NotApplicable, Result, ok, problem, warning
from parachute.doctor.podman import wants_containers
from parachute.sandbox import bubblewrap

_INSTALL = "`sudo apt-get install bubblewrap` installs it on Debian and Ubuntu; the check `user-namespaces` shows what forbids it."


def _examine(computer: Computer) -> Result:
    settings = computer.settings
    if settings is None:
        raise NotApplicable("Whether a sandbox is required cannot be told, because config.yaml cannot be understood.")
    reason = bubblewrap.unavailable()
    if reason is None:
        return ok("bubblewrap works.")
    if wants_containers(computer):
        return warning(f"{reason} MCP servers need it, and modules where systemd does not shut them in.", _INSTALL)
    is_needed = settings.sandbox.required or computer.home.sandbox_worked.exists()
    without = (
        "no conversation begins"
        if is_needed
        else "your own conversations run with all of your rights, others do not begin"
    )
    return problem(f"{reason} Without a sandbox {without}.", _INSTALL)


CHECK = Check("bubblewrap", Group.AGENTS, _examine)
