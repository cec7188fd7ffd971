"""A launcher of programs for a server in the process of a test: it starts what a connection waits for, and ends it."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket

from parachute.base.errors import Unavailable
from parachute.config.agent_program import agent_program
from parachute.config.settings.home import Home
from parachute.supervisor.children import listeners
from parachute.supervisor.logs import log_path
from parachute.supervisor.models import State, Status, Unit
from tests.support.changes import Changes

_FIRST_FD = 3  # SD_LISTEN_FDS_START


@dataclass(slots=True)
class _Program:
    unit: Unit
    sockets: list[socket]
    status: Status
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Programs(Changes):
    """Starts units that are on demand; the server itself is the test's process, and is neither started nor stopped.

    Tests wait here for what is so when one of them has begun or has ended.

    It does not try again what has failed: that is what tests of the supervisor's own launchers are for.

    `agent` takes the place of the agent's program in direct sessions.
    """

    confines = False

    def __init__(self, home: Home, environment: dict[str, str], agent: Path | None) -> None:
        super().__init__()
        self._home = home
        self._real = str(agent_program())
        self._agent = self._real if agent is None else str(agent)
        self._environment = environment
        self._programs: dict[str, _Program] = {}

    async def open(self, unit: Unit) -> None:
        """Open its sockets, and start it with the first connection."""
        if unit.name in self._programs:
            return
        program = _Program(unit, listeners.listen(unit.listen), Status(unit.name))
        self._programs[unit.name] = program
        self._listen(program)

    async def close(self, name: str) -> None:
        """End its process and close its sockets."""
        if (program := self._programs.pop(name, None)) is None:
            return
        self._ignore(program)
        if (process := program.status.process) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            try:
                async with asyncio.timeout(program.unit.stop_seconds):
                    await program.ended.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
                await program.ended.wait()
        listeners.close(program.sockets, program.unit.listen)
        self.tell()

    async def close_all(self) -> None:
        """End all programs."""
        await asyncio.gather(*(self.close(name) for name in list(self._programs)))

    async def start(self, name: str) -> None:
        """Leave it as it is."""

    async def ready(self, name: str, seconds: float = 60) -> None:
        """Return at once: none of them says when it is ready."""

    async def restart(self, name: str) -> None:
        """Refuse: `Server.stop` and `Server.start` do it."""
        raise Unavailable(f"{name} is restarted by the test.")

    async def stop(self, name: str) -> None:
        """Refuse: `Server.stop` does it."""
        raise Unavailable(f"{name} is stopped by the test.")

    async def begin_anew(self, problem: str | None = None, *, is_moved: bool = False) -> bool:
        """Leave it to the supervisor."""
        return False

    async def run_beside(self, name: str, command: Sequence[str]) -> None:
        """Refuse what outlives a server."""
        raise Unavailable(f"{name} outlives the server, which a test's must not do.")

    async def end_beside(self, name: str) -> None:
        """Do nothing, since nothing runs."""

    async def lost(self) -> None:
        """Wait until the task is cancelled."""
        await asyncio.Event().wait()

    def status(self) -> list[Status]:
        """The server and all open units."""
        return [Status("core", State.RUNNING), *(program.status for program in self._programs.values())]

    def _listen(self, program: _Program) -> None:
        program.status.state = State.LISTENING
        for listener in program.sockets:
            asyncio.get_running_loop().add_reader(listener, self._spawn, program)

    def _ignore(self, program: _Program) -> None:
        for listener in program.sockets:
            asyncio.get_running_loop().remove_reader(listener)

    def _spawn(self, program: _Program) -> None:
        self._ignore(program)
        program.ended.clear()
        unit = program.unit
        command = [self._agent if argument == self._real else argument for argument in unit.command]
        environment = {**self._environment, **unit.environment, "PARACHUTE_HOME": str(self._home.root)}
        environment["LISTEN_FDS"] = str(len(program.sockets))
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        for number, listener in enumerate(program.sockets):
            listener.setblocking(True)  # as systemd passes it
            actions.append((os.POSIX_SPAWN_DUP2, listener.fileno(), _FIRST_FD + number))
        log = listeners.raised(os.open(log_path(self._home, unit.name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        actions += [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        process = os.posix_spawn(command[0], command, environment, file_actions=actions, setpgroup=0)
        os.close(log)
        program.status.state, program.status.process = State.RUNNING, process
        self.tell()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            loop.call_soon_threadsafe(self._ended, program, process, code)

        threading.Thread(target=wait, name=f"end of {unit.name}").start()

    def _ended(self, program: _Program, process: int, code: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        program.status.process = None
        program.ended.set()
        if code > 0:  # whoever waits is refused, else it would be started for them again and again
            _refuse(program.sockets)
        if self._programs.get(program.unit.name) is program:
            self._listen(program)
        self.tell()


def _refuse(listening: Sequence[socket]) -> None:
    for listener in listening:
        listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                listener.accept()[0].close()
