"""Running processes: the supervisor, the API and the units below."""

from typing import Any

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.systemd import is_installed


@check("What runs", Group.SERVICES)
def examine(computer: Computer) -> Result:
    if error := computer.supervisor_problem:
        return problem(
            f"The supervisor is stuck: {error.message}", "`parachute stop` ends it, `parachute start` starts it."
        )
    if computer.supervisor is None:
        if is_installed(computer):
            return warning(
                "The computer is installed as a service, and does not run.",
                "`systemctl --user start parachute-supervisor` starts it; `journalctl --user -u parachute-supervisor` shows why it "
                "has ended.",
            )
        return ok("The computer is not running; `parachute start` starts it.")
    failed = tuple(
        f"{unit['name']}: {unit['reason'] or unit['failure'] or 'no reason was given'}"
        for unit in computer.supervisor["units"]
        if unit["state"] == "failed"
    )
    if not computer.core_runs and _is_starting(computer.supervisor["units"]):
        return warning("The API is just starting.", "Look again in a moment: `parachute doctor running`.")
    if not computer.core_runs:
        return problem(
            "The supervisor runs, but the API does not.",
            "`parachute logs core` shows what it said, `parachute restart` starts it.",
            details=failed,
        )
    if failed:
        names = ", ".join(line.partition(":")[0] for line in failed)
        return problem(
            f"What has failed and was given up: {names}.", "`parachute logs NAME` shows more.", details=failed
        )
    return ok(f"The computer runs, version {computer.supervisor['main_server_version']}.")


def _is_starting(units: list[dict[str, Any]]) -> bool:
    return any(unit["name"] == "core" and unit["state"] == "starting" for unit in units)
