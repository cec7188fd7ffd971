"""Checks before a module is loaded: its confinement, and the server's permission to start."""

import asyncio
import contextlib
import errno
import os
from pathlib import Path

from parachute.base.errors import NotAllowed, ParachuteError
from parachute.modules.host_process.client import CoreClient, CoreGone
from parachute.supervisor.specifications.host import HostSpecification

_PRIVATE = ("modules.yaml", "config.yaml", "keys.yaml", "logs")
_OWN_INTERFACE = "lo"
_HEADER_LINES = 2  # of /proc/net/dev
_SECONDS = 60.0
_FAILURE_SECONDS = 2.0
_PATIENCE_SECONDS = 10.0  # in which a core that restarts is there again
_STEP_SECONDS = 0.1


async def ask_to_start(specification: HostSpecification, core: CoreClient, patience: float = _PATIENCE_SECONDS) -> None:
    """Ask the server whether the vault still holds what was approved; errors: those that core answers, Unavailable.

    The request names the folders that this process sees, since somebody may have put a link in the place of one just before it
    was mounted. A core that is away is waited for: when both were ended together, the module is often back before it, and
    five starts in vain would be its last.
    """
    document = {"hash": specification.hash, "folders": seen_folders(specification)}
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    while True:
        try:
            await core.request("POST", "/start", document, seconds=_SECONDS)
            return
        except CoreGone:
            if loop.time() > end:
                raise
        await asyncio.sleep(_STEP_SECONDS)


async def tell_failure(core: CoreClient, error: ParachuteError) -> None:
    """Tell the server why the module does not start, for its status; whoever waits for an answer is told as well."""
    with contextlib.suppress(ParachuteError):
        await core.request("POST", "/failed", {"reason": error.message}, seconds=_FAILURE_SECONDS)


def seen_folders(specification: HostSpecification) -> dict[str, list[int]]:
    """Device and inode of each folder of the vault that this process was given."""
    found = {}
    for path in (*specification.read, *specification.write):
        try:
            status = os.stat(path)  # noqa: PTH116 - the path as text is the answer's key
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                raise
            continue  # it is not there, and so cannot be the wrong one
        found[path] = [status.st_dev, status.st_ino]
    return found


def check_confined(root: Path, what: str = "module") -> None:
    """Check that systemd confines this process; an older one ignores settings that it does not know. Error: NotAllowed.

    `root` is the state directory, of which it must see no more than what is bound into it.
    """
    lines = Path("/proc/self/net/dev").read_text().splitlines()[_HEADER_LINES:]
    interfaces = {line.partition(":")[0].strip() for line in lines}
    if any((root / name).exists() for name in _PRIVATE):
        raise _not_held(what, "it sees the state directory")
    if interfaces != {_OWN_INTERFACE}:
        raise _not_held(what, "it has this computer's network")


def _not_held(what: str, problem: str) -> NotAllowed:
    return NotAllowed(
        f"The {what} is not started, since systemd does not hold it back as its unit says: {problem}.",
        "systemd 254 or newer is needed; `parachute service uninstall` and `parachute start` go on without it.",
        key="not_held_back",
    )
