"""The time zone: agents work, and days of the journal begin, by local time."""

from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning

_SET = "`sudo timedatectl set-timezone Europe/Berlin` sets one; `timedatectl list-timezones` shows all."


@check("Time zone", Group.MACHINE)
def examine(computer: Computer) -> Result:
    variable = computer.environment.get("TZ", "").removeprefix(":")
    if variable:
        if not _is_zone(variable):
            return problem(f"The variable TZ says {variable!r}, which is no time zone: UTC is used.", _SET)
        return ok(f"The time zone is {variable}, as the variable TZ says.")
    local = computer.path("/etc/localtime")
    if not local.exists():
        return warning("The machine has no time zone: its days begin and its agents work by UTC.", _SET)
    return ok(f"The time zone is {_name(local)}.")


def _name(local: Path) -> str:
    parts = local.resolve().parts
    # Debian copies the file, others link it from below a folder of this name.
    return "/".join(parts[parts.index("zoneinfo") + 1 :]) if "zoneinfo" in parts else "set"


def _is_zone(name: str) -> bool:
    if name.startswith("/"):
        return Path(name).is_file()
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # The older form, such as CET-1CEST, which the C library takes as well.
        return any(character.isdigit() for character in name)
    return True
