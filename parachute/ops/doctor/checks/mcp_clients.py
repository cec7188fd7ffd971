"""Assistants elsewhere that were let in and do not ask any more."""

from datetime import UTC, datetime, timedelta

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.keys import read_clients
from parachute.ops.doctor.models import Group, Result, check, ok, warning
from parachute.security.mcp_clients.store import FILE

_UNUSED = timedelta(days=30)


@check("Other assistants", Group.ACCESS)
def examine(computer: Computer) -> Result:
    try:
        state = read_clients(computer)
    except (OSError, ValueError) as error:
        return warning(
            f"{FILE} cannot be read, so none of them is let in: {error}.", "Remove it, and connect them again."
        )
    now = datetime.now(UTC)
    held = [each for each in state.grants if each.limits.ends_on >= now.date()]
    idle = [each for each in held if now - (each.used or each.given) > _UNUSED]
    if idle:
        return warning(
            f"Assistants were not used for a month, and may still come in: {', '.join(each.client.name for each in idle)}.",
            "`parachute mcp clients end ID` ends one.",
            details=tuple(f"{each.id} {each.client.name}: until {each.limits.ends_on}" for each in idle),
        )
    return ok(
        f"{len(held)} assistants elsewhere may look things up here." if held else "No assistant elsewhere may come in."
    )
