"""The locale: names of files are UTF-8 to programs of this user."""

import sys

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, warning


@check("Locale", Group.MACHINE)
def examine(computer: Computer) -> Result:
    encoding = sys.getfilesystemencoding().lower()
    if encoding == "utf-8":
        return ok("Names of files are UTF-8.")
    said = next((name for name in ("LC_ALL", "LC_CTYPE", "LANG") if computer.environment.get(name)), "LANG")
    return warning(
        f"Names of files are taken for {encoding}, so that those with accents cannot be shown or made.",
        f"Set the variable {said} to C.UTF-8, or to the UTF-8 form of your language, where the computer is started.",
    )
