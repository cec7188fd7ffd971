"""What the machine says about itself: its names on the network, and its time zone."""

import os
import socket
from pathlib import Path

from parachute.discovery.avahi import announced_name

_LOCAL_TIME = Path("/etc/localtime")
_ZONES = "zoneinfo/"


async def names_of() -> tuple[str | None, str]:
    """The name under which others find it, if Avahi gave it one, and the name it has itself."""
    return await announced_name(), socket.gethostname()


def time_zone() -> str:
    """Such as `Europe/Berlin`; `UTC` where nothing is set."""
    if named := os.environ.get("TZ", "").removeprefix(":"):
        return named
    try:
        target = os.readlink(_LOCAL_TIME)  # noqa: PTH115 - the text of the link; what it leads to may be a link itself
    except OSError:
        return "UTC"
    return target.partition(_ZONES)[2] or "UTC"
