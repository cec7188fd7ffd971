"""The memory of all sandboxes together: its limit and its use."""

import os

from parachute.base.errors import Unavailable
from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.home import Home
from parachute.supervisor import control

_UNIT = "sandbox@"


class TotalMemory:
    """The bound of all sandboxes together; `bound` is in bytes."""

    def __init__(self, home: Home, settings: SandboxSettings) -> None:
        self._home = home
        chosen = settings.total_memory_megabytes
        half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        self.bound = half if chosen is None else chosen << 20

    async def used(self) -> dict[str, int]:
        """Bytes that each session's sandbox holds now; empty where that cannot be found out."""
        try:
            held = (await control.ask(self._home, "memory"))["bytes"]
        except (Unavailable, OSError):  # the supervisor is just being started anew
            return {}
        return {name.removeprefix(_UNIT): count for name, count in held.items()}
