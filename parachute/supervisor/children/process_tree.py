"""A process and all below it, which end together; a later process with a reused number is not taken for one of them."""

import os
import signal
import subprocess
import time

from parachute_runner import processes

Table = dict[int, tuple[int, str]]
"""Living processes: the parent of each, and when it began."""

_POLL_SECONDS = 0.02
_KILLED_SECONDS = 30.0
"""Seconds after SIGKILL, after which a process waits in the kernel, or cannot be killed."""


class ProcessTree:
    """A process and those below it, but for us, whom we were started by, and what we started."""

    def __init__(self, root: int) -> None:
        self._members: dict[int, str] = {}
        if found := _living().get(root):
            self._members[root] = found[1]
        self.grow()

    def grow(self) -> None:
        """Take in what its living members have started since."""
        table = _living()
        found = self._among(table)
        for member in found:  # grows while we walk
            found += [
                child
                for child, (parent, _) in table.items()
                if parent == member and child != os.getpid() and child not in found
            ]
        self._members |= {member: table[member][1] for member in found if member not in _above(table)}

    def end(self, seconds: float) -> list[int]:
        """Ask all of them to end, and kill who has not after so many seconds; those that live on all the same."""
        for number, limit in ((signal.SIGTERM, seconds), (signal.SIGKILL, _KILLED_SECONDS)):
            deadline = time.monotonic() + limit
            self.grow()
            processes.kill(left := self._among(_living()), number)
            while left and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                left = self._among(_living())
            if not left:
                break
        return left

    def _among(self, table: Table) -> list[int]:
        return [each for each, began in self._members.items() if each in table and table[each][1] == began]


def _above(table: Table) -> set[int]:
    """Processes that started this one, step by step."""
    found: set[int] = set()
    process = os.getpid()
    while (process := table.get(process, (0, ""))[0]) and process not in found:
        found.add(process)
    return found


def listed() -> Table:
    """The same as `processes.living`, as ps says it, for systems without /proc."""
    # One option for each column: in BSD's ps all that follows a = is the column's title.
    command = ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "lstart="]
    rows = [row.split(None, 3) for row in subprocess.run(command, capture_output=True, text=True).stdout.splitlines()]
    return {int(row[0]): (int(row[1]), row[3].strip()) for row in rows if len(row) == 4 and not row[2].startswith("Z")}


def _living() -> Table:
    return processes.living() or listed()
