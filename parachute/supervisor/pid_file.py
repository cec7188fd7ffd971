"""The supervisor's pid file, whose lock says whether one runs: the kernel releases it however the process ends.

A descriptor of a process, which could be waited for, only Linux has.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.single_instance import Taken, is_taken, single_instance
from parachute.config.settings.home import Home
from parachute.supervisor.children.process_tree import ProcessTree

_POLL_SECONDS = 0.01


@contextmanager
def held(home: Home) -> Iterator[None]:
    """Be the one supervisor of this installation; error: ParachuteError while another is."""
    with ExitStack() as stack:
        try:
            stack.enter_context(single_instance(home.pid_file))
        except Taken as error:
            raise ParachuteError(
                "The computer is running already.", "`parachute status` shows it.", key="already_running"
            ) from error
        yield


def is_running(home: Home) -> bool:
    """True if a supervisor holds the pid file; call it where none is being started, since it takes the lock shortly."""
    return is_taken(home.pid_file)


def process(home: Home) -> int | None:
    """The number that is in it; None without one."""
    try:
        text = home.pid_file.read_text()[:20].strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def end(home: Home, seconds: float) -> None:
    """End a supervisor that does not answer, and what it started; whoever does not end within so many seconds is killed.

    We may be what it started: then we go on. Error: Unavailable if something runs on.
    """
    holder = process(home)
    if holder is None or not is_running(home):
        return
    # Before the first signal: whom their parent has left behind nobody finds.
    tree = ProcessTree(holder)
    with suppress(ProcessLookupError):
        # Alone at first: it ends the others in order, and notes what it has to.
        os.kill(holder, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while is_running(home) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    tree.grow()
    if is_running(home):
        with suppress(ProcessLookupError):
            os.kill(holder, signal.SIGKILL)
    if left := tree.end(seconds):
        raise Unavailable(
            f"Processes of the computer cannot be ended: {', '.join(map(str, left))}.",
            "The system's log may say why; a restart of the machine ends them.",
            key="processes_not_ended",
        )
