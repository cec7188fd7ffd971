"""A wall clock for all processes of a computer that a test sets ahead, between them and the system."""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path


class VirtualClock:
    """The time of every process that is started with its `environment`; of files and of programs in sandboxes it is the real one."""

    def __init__(self, folder: Path) -> None:
        self._file, self._library = folder / "clock", folder / "clock.so"
        self.seconds = 0
        self._file.write_bytes(struct.pack("l", 0))
        source = Path(__file__).with_suffix(".c")
        subprocess.run(
            ["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(self._library), str(source)], check=True
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that has this clock."""
        return {"LD_PRELOAD": str(self._library), "VIRTUAL_CLOCK": str(self._file)}

    def ahead(self, seconds: int, look: Callable[[], object], step: int) -> None:
        """Set it ahead in steps, and have a computer look at it after each: it does by itself once a minute of real time."""
        end = self.seconds + seconds
        while self.seconds < end:
            self.seconds = min(end, self.seconds + step)
            # In place: the file is mapped.
            with self._file.open("r+b") as file:
                file.write(struct.pack("l", self.seconds))
            look()
