"""Notes and days: each can be read whole."""

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, warning

_SHOWN = 5


@check("Notes", Group.DATA)
def examine(computer: Computer) -> Result:
    if computer.unread is None:
        if computer.core_runs:
            raise NotApplicable("Neither Brain nor the journal answers.")
        raise NotApplicable("The computer must run to check whether notes can be read.")
    if not computer.unread:
        return ok("Every note and every day can be read.")
    shown = "; ".join(f"{each['path']}: {each['problem'].rstrip('.')}" for each in computer.unread[:_SHOWN])
    more = len(computer.unread) - _SHOWN
    return warning(
        f"{len(computer.unread)} files of Brain or the journal cannot be read whole: {shown}{f'; and {more} more' if more > 0 else ''}.",
        "Do what is said of each; fields are the lines at the top, between two lines `---`.",
    )
