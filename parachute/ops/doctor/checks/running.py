"""Running processes: the supervisor, the API and the units below."""

from typing import Any

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Result, check, ok, problem, warning
from parachute.ops.doctor.systemd import is_installed

_MODULE = "module@"


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
        return warning("The API is just starting.", "Try again in a moment: `parachute doctor running`.")
    if not computer.core_runs:
        return problem(
            "The supervisor runs, but the API does not.",
            "`parachute logs core` shows what it said, `parachute restart` starts it.",
            details=failed,
        )
    if failed:
        names = [line.partition(":")[0] for line in failed]
        return problem(
            f"These parts failed and are not started again: {', '.join(names)}.",
            "`parachute logs NAME` shows why; `parachute doctor running --fix` starts modules again.",
            details=failed,
            fix=_fix(computer, names),
        )
    return ok(f"The computer runs, version {computer.supervisor['main_server_version']}.")


def _fix(computer: Computer, names: list[str]) -> Fix | None:
    """Starting the failed modules again, None if nothing of it is a module."""
    restart = computer.restart_module
    modules = [name.removeprefix(_MODULE) for name in names if name.startswith(_MODULE)]
    if restart is None or not modules:
        return None

    def start() -> str:
        for module in modules:
            restart(module)
        return f"Started again: {', '.join(modules)}."

    return Fix(f"Start {', '.join(modules)} again.", start)


def _is_starting(units: list[dict[str, Any]]) -> bool:
    return any(unit["name"] == "core" and unit["state"] == "starting" for unit in units)
