"""Putting a version in the place of the running one, where the supervisor holds the sockets and where systemd does."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, private_folder, remove_tree
from parachute.config.settings.home import Home
from parachute.ops.updates.models import UpdateFailed, Version
from parachute.ops.updates.state import State
from parachute.sandbox.image import programs
from parachute.supervisor import control, installed, pid_file
from parachute.supervisor.systemd import rendering

log = logging.getLogger(__name__)

_COPY_SECONDS = 900.0
_COMMAND_SECONDS = 960.0
_END_SECONDS = 60.0
_DROP_IN = "50-update.conf"
_KEEPER = f"{rendering.PREFIX}keep-state.service"


class Place(Protocol):
    """Way in which the computer is started on this machine."""

    manager: str
    has_link: bool = True
    """True if a link decides which version is started."""

    async def put(self, new: Version) -> None:
        """Let a version take the place of the running one; its state is kept in between. Errors: ParachuteError, OSError."""

    async def put_back(self, old: Version, *, whole: bool = False) -> list[str]:
        """Let the old version and its state come back; sentences about what was written since. Errors: ParachuteError, OSError."""

    async def bless(self, old: Version, new: Version) -> None:
        """Make the version the one that is started from now on. Errors: ParachuteError, OSError."""


class Held(Place):
    """The supervisor holds the sockets, and passes them on to the program that it becomes."""

    manager = "process"

    def __init__(self, home: Home, state: State, host: str, port: int) -> None:
        self._home = home
        self._state = state
        self._address = ("--host", host, "--port", str(port))

    async def put(self, new: Version) -> None:
        await control.ask(self._home, "hand_over", _END_SECONDS + 30)
        await asyncio.to_thread(self._state.keep)
        await control.ask(self._home, "become", python=str(new.python))

    async def put_back(self, old: Version, *, whole: bool = False) -> list[str]:
        try:
            await control.ask(self._home, "hand_over", _END_SECONDS)
        except ParachuteError:
            await asyncio.to_thread(pid_file.end, self._home, _END_SECONDS / 2)
        since = await asyncio.to_thread(lambda: self._state.put_back(whole=whole))
        try:
            await control.ask(self._home, "become", python=str(old.python))
        except ParachuteError:
            await asyncio.to_thread(self._start, old)
        return since

    async def bless(self, old: Version, new: Version) -> None:
        pass  # the link is all there is

    def _start(self, old: Version) -> None:
        log = str(self._home.logs / "supervisor.log")
        environment = {**os.environ, "PARACHUTE_HOME": str(self._home.root)}
        # It outlives this process, which is no parent to wait for it.
        os.posix_spawn(
            old.python,
            [str(old.python), "-m", "parachute.supervisor", *self._address],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=(),
        )


class Units(Place):
    """systemd holds the sockets; until the version stays, its units are where the next boot does not find them."""

    manager = "systemd"

    def __init__(self, home: Home, state: State, host: str, port: int, report: Callable[[], list[str]]) -> None:
        self._home = home
        self._state = state
        self._address = (host, port)
        self._since = report

    async def put(self, new: Version) -> None:
        supervisor = (installed.folder() / installed.SUPERVISOR).read_text()
        wanted = [str(self._home.root), *self._address, installed.enabled_linger(), "PrivateUsers=yes" in supervisor]
        render = [str(new.python), "-m", "parachute.supervisor.installed", json.dumps(wanted)]
        files = json.loads(await programs.run(render, os.environ, seconds=_COMMAND_SECONDS))
        write_trial({**files, **keeping(self._home)})
        await control.ask(self._home, "hand_over", _END_SECONDS)
        await self._restart(new)

    async def put_back(self, old: Version, *, whole: bool = False) -> list[str]:
        try:
            await control.ask(self._home, "hand_over", _END_SECONDS)
        except ParachuteError:
            pass  # systemd ends what does not answer
        if whole:
            await systemctl("stop", installed.CORE_SERVICE)
            since = await asyncio.to_thread(lambda: self._state.put_back(whole=True))
            await self._restart(old)
            return since
        remove_trial()
        if before := self._units_before():
            for name, text in before.items():
                atomic_write(installed.folder() / name, text, 0o644)
        await self._restart(old)
        return self._since()

    async def bless(self, old: Version, new: Version) -> None:
        kept = private_folder(self._state.units)
        for name in installed.NAMES:
            atomic_write(kept / name, (installed.folder() / name).read_text())
        command = [str(new.python), "-m", "parachute.cli", "service", "install", "--keep-running"]
        await programs.run(command, os.environ, seconds=_COMMAND_SECONDS)
        remove_trial()
        await systemctl("daemon-reload")

    def _units_before(self) -> dict[str, str]:
        folder = self._state.units
        return {path.name: path.read_text() for path in folder.iterdir()} if folder.is_dir() else {}

    async def _restart(self, version: Version) -> None:
        await systemctl("daemon-reload")
        await systemctl("reset-failed", *installed.NAMES, check=False)
        try:
            await systemctl("restart", installed.SUPERVISOR, installed.CORE_SERVICE)
        except Unavailable as error:
            log.error("%s", error.message)
            raise UpdateFailed(
                f"Version {version.name} does not come up: systemd could not start it; `parachute logs core` shows why."
            ) from error


def _trial_folder() -> Path:
    # Before the files of ~/.config (systemd.unit(5)), and gone with the next boot, which starts the version before.
    return installed.runtime_folder().with_name("user.control")


def keeping(home: Home) -> dict[str, str]:
    """Units that keep the state on the way from one version to the next, and have systemd not give the new one up.

    It is the update that gives it up, before whose end a socket that refuses would be seen.
    """
    on_trial = f"[Unit]\nRequires={_KEEPER}\nAfter={_KEEPER}\nStartLimitIntervalSec=0\n"
    return {_KEEPER: _keeper(home), f"{installed.CORE_SERVICE}.d/{_DROP_IN}": on_trial}


def _keeper(home: Home) -> str:
    """The unit that keeps the state when the old program has ended, and before the new one begins.

    systemd orders the end of a unit that is started anew before the start of others. As ExecStartPre= of the server it would
    get namespaces that the server itself could not join (seen with 257: status 226/NAMESPACE).
    """
    keep = rendering.command_line((sys.executable, "-m", "parachute.ops.updates.keeping"))
    lines = [
        "[Unit]",
        "Description=Parachute: the state of the version before",
        "",
        "[Service]",
        "Type=oneshot",
        f"ExecStart={keep}",
        "WorkingDirectory=/",
        f"Environment={installed.environment_of(home)}",
        f"TimeoutStartSec={_COPY_SECONDS:.0f}",
        "UMask=0077",
    ]
    return "\n".join(lines) + "\n"


def write_trial(files: Mapping[str, str]) -> None:
    """Write units that hold until the next boot; error: OSError."""
    folder = _trial_folder()
    for name, text in files.items():
        private_folder((folder / name).parent)
        atomic_write(folder / name, text)


def remove_trial() -> None:
    """Remove the units of a trial. Error: OSError."""
    for name in (*installed.NAMES, _KEEPER):
        (_trial_folder() / name).unlink(missing_ok=True)
        remove_tree(_trial_folder() / f"{name}.d")


async def systemctl(*arguments: str, check: bool = True) -> None:
    """Ask the user's manager; error: Unavailable if it refuses and `check`."""
    try:
        await programs.run(["systemctl", "--user", *arguments], os.environ, seconds=_COMMAND_SECONDS)
    except Unavailable:
        if check:
            raise
