"""Killing a change at every step in which it touches a file, as a power cut would; for programs that one test starts.

Such a program has no threads, which a fork would lose.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

_CHANGES = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod"})


def at_every_step(
    prepare: Callable[[], object],
    change: Callable[[Callable[[], None]], object],
    look: Callable[[], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Kill `change` before the first thing that it does to a file, then before the second, until it comes to its end.

    `prepare` comes before each time, and `look` says what was disconnected. `change` calls its argument where the steps begin to count.
    The last one has `ended` 0.
    """
    found: list[dict[str, Any]] = []
    while not found or found[-1]["ended"]:
        step = len(found) + 1
        prepare()
        child = os.fork()
        if child == 0:
            change(partial(kill_at, step))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        assert ended in (0, -signal.SIGKILL), ended
        found.append({"step": step, "ended": ended, **look()})
    return found


def kill_at(step: int) -> None:
    """Kill this process before it changes a file for the so manyth time; also in SQLite's thread, which opens nothing by Python."""
    left = step

    def killing(event: str, arguments: Any) -> None:
        nonlocal left
        is_new = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if is_new or event in _CHANGES:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    # It cannot be taken away any more, which is why the child ends with the change.
    sys.addaudithook(killing)
