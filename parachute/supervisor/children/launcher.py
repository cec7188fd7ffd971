"""The launcher for machines without systemd: it holds the sockets itself and passes them on as systemd would."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Sequence

from msgspec import Struct, field
from parachute_runner import processes

from parachute.base.errors import Unavailable
from parachute.config.settings.home import Home
from parachute.supervisor.children import listeners
from parachute.supervisor.credentials import CREDENTIALS_FD, Credentials
from parachute.supervisor.logs import log_path
from parachute.supervisor.models import State, Status, Unit
from parachute.supervisor.notify import NotifySocket
from parachute.supervisor.open_units import OpenUnits

_FIRST_FD = 3  # SD_LISTEN_FDS_START
_START_PERIOD = 300.0
_SHORT_LIFE, _SHORT_LIVES = 1.0, 20
_OWN_VARIABLES = ("LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")
"""Variables for the supervisor alone."""
_BESIDE = "PARACHUTE_BESIDE"
"""Names the processes that `run_beside` has started, for the program that this process becomes."""


class _Entry(Struct):
    unit: Unit
    status: Status
    sockets: list[socket.socket]
    notify: NotifySocket | None = None
    failures: list[float] = field(default_factory=list)
    exited: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    wanted: bool = True
    watchdog: asyncio.TimerHandle | None = None
    restart: asyncio.TimerHandle | None = None
    ended_because: str | None = None
    short_lives: int = 0


class ProcessLauncher(OpenUnits[_Entry]):
    """Runs units as its own child processes; create it inside a running event loop, on the main thread."""

    confines = False

    def __init__(self, home: Home, credentials: Credentials) -> None:
        super().__init__(home)
        self._credentials = credentials
        self._loop = asyncio.get_running_loop()
        # The program that was in our place before may have started some.
        self._beside: dict[str, int] = json.loads(os.environ.pop(_BESIDE, "{}"))
        self._loop.add_signal_handler(signal.SIGCHLD, self._reap)
        # What a killed unit leaves behind becomes our child, and can be ended.
        processes.adopt_orphans()

    async def open(self, unit: Unit) -> None:
        async with self._lock(unit.name):
            if entry := self._entries.get(unit.name):
                entry.unit = unit  # from its next start on, as with systemd
                if entry.status.state is State.FAILED:
                    self._forget_failures(entry)
                    self._ignore_connections(entry)
                    self._begin(entry)
                return
            sockets = listeners.handed_on(unit.listen) if unit.name == "core" else None
            entry = _Entry(unit, Status(unit.name), sockets or listeners.listen(unit.listen))
            self._entries[unit.name] = entry
            self._begin(entry)

    async def start(self, name: str) -> None:
        # The lock: an end that is under way has to come first. Waiting for readiness must not hold off a stop.
        async with self._lock(name):
            entry = self._entry(name)
            entry.wanted = True
            self._forget_failures(entry)
            if entry.status.process is None:
                self._spawn(entry)
        await self.ready(name)

    async def restart(self, name: str) -> None:
        await self.stop(name)
        await self.start(name)

    async def stop(self, name: str) -> None:
        async with self._lock(name):
            await self._stop(self._entry(name))

    async def close(self, name: str) -> None:
        async with self._lock(name):
            if name not in self._entries:
                return
            await self._stop(self._entries[name])
            entry = self._entries.pop(name)
            listeners.close(entry.sockets, entry.unit.listen)
            if entry.notify:
                entry.notify.close()

    async def ready(self, name: str, seconds: float = 60) -> None:
        """Wait until a unit that notifies serves; error: Unavailable with the reason."""
        entry = self._entry(name)
        if not entry.unit.notifies:
            return
        waits = {asyncio.ensure_future(event.wait()) for event in (entry.ready, entry.exited)}
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if not entry.ready.is_set():
            raise self._down(name, f"{name} did not answer within {seconds:.0f} seconds.")

    async def begin_anew(self, problem: str | None = None, *, is_moved: bool = False) -> bool:
        return False

    def hand_on(self) -> None:
        """Leave what is still open to the program that this process becomes: the server's sockets, and what runs beside it."""
        os.environ[_BESIDE] = json.dumps(self._beside)
        if entry := self._entries.get("core"):
            listeners.hand_on(entry.sockets)
            if entry.notify:
                entry.notify.close()

    async def run_beside(self, name: str, command: Sequence[str]) -> None:
        self._spawn_beside(name, command)

    async def end_beside(self, name: str) -> None:
        if process := self._beside.get(name):
            os.kill(process, signal.SIGTERM)

    def _spawn_beside(self, name: str, command: Sequence[str]) -> None:
        if beside := self._beside.get(name):
            raise Unavailable(
                f"Another {name} is under way (process {beside}).", "Wait until it has ended.", key="busy"
            )
        log = os.open(log_path(self._home, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ]
        inherited = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
        environment = {**inherited, "PARACHUTE_HOME": str(self._home.root)}
        try:
            process = os.posix_spawn(
                command[0], list(command), environment, file_actions=actions, setsid=True, setsigmask=()
            )
        finally:
            os.close(log)
        self._beside[name] = process

    async def lost(self) -> None:
        await asyncio.Event().wait()

    def _forget_failures(self, entry: _Entry) -> None:
        entry.failures.clear()
        entry.short_lives = 0
        entry.status.reason = None

    def _begin(self, entry: _Entry) -> None:
        if entry.unit.on_demand:
            self._wait_for_connection(entry)
        else:
            self._spawn(entry)

    async def _stop(self, entry: _Entry) -> None:
        entry.wanted = False
        self._cancel_timers(entry)
        self._ignore_connections(entry)
        await self._end(entry)
        self._set(entry, State.STOPPED)

    def _wait_for_connection(self, entry: _Entry) -> None:
        self._set(entry, State.LISTENING)
        for listener in entry.sockets:
            self._loop.add_reader(listener, self._spawn, entry)

    def _ignore_connections(self, entry: _Entry) -> None:
        for listener in entry.sockets:
            self._loop.remove_reader(listener)

    def _spawn(self, entry: _Entry) -> None:
        self._ignore_connections(entry)
        self._cancel_timers(entry)
        entry.exited.clear()
        entry.ready.clear()
        entry.ended_because = None
        try:
            entry.status.process = self._spawned(entry)
        except OSError as error:  # also of its log or its notify socket: nobody else would start it again
            entry.exited.set()
            self._failed(entry, f"{entry.unit.name} could not be started: {error}.")
            return
        self._set(entry, State.STARTING if entry.unit.notifies else State.RUNNING)
        if entry.unit.notifies:
            self._expect(entry, entry.unit.start_seconds, "did not become ready")

    def _spawned(self, entry: _Entry) -> int:
        """The process of a unit, just started; error: OSError."""
        unit = entry.unit
        inherited = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
        environment = {**inherited, **unit.environment, "PARACHUTE_HOME": str(self._home.root)}
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        if entry.sockets:
            environment["LISTEN_FDS"] = str(len(entry.sockets))
        for number, listener in enumerate(entry.sockets):
            listener.setblocking(True)  # as systemd passes it; parent and child share this flag
            actions.append((os.POSIX_SPAWN_DUP2, listener.fileno(), _FIRST_FD + number))
        if unit.notifies:
            if entry.notify is None:
                entry.notify = NotifySocket(
                    self._home.run / f"notify-{unit.name}.sock", lambda text: self._notified(entry, text)
                )
            environment["NOTIFY_SOCKET"] = str(entry.notify.path)
            if unit.watchdog_seconds:
                environment["WATCHDOG_USEC"] = str(int(unit.watchdog_seconds * 1_000_000))
        with contextlib.ExitStack() as stack:
            if unit.with_credentials:
                secret = listeners.raised(self._credentials.pipe())
                stack.callback(os.close, secret)
                number = _FIRST_FD + len(entry.sockets)
                actions.append((os.POSIX_SPAWN_DUP2, secret, number))
                environment[CREDENTIALS_FD] = str(number)
            log = os.open(log_path(self._home, unit.name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            log = listeners.raised(log)
            stack.callback(os.close, log)
            actions += [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
            actions += [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
            return os.posix_spawn(
                unit.command[0], unit.command, environment, file_actions=actions, setpgroup=0, setsigmask=()
            )

    def _notified(self, entry: _Entry, text: str) -> None:
        if entry.status.process is None or entry.status.state is State.STOPPING:
            return  # said before it ended, read after
        if "READY=1" in text.splitlines():
            self._set(entry, State.RUNNING)
            entry.ready.set()
        if entry.ready.is_set():
            self._expect(entry, entry.unit.watchdog_seconds, "did not answer its watchdog")

    def _expect(self, entry: _Entry, seconds: float | None, otherwise: str) -> None:
        """End the unit unless it says something within this time; None: it may take as long as it likes."""
        if entry.watchdog:
            entry.watchdog.cancel()
        entry.watchdog = self._loop.call_later(seconds, self._overdue, entry, otherwise) if seconds else None

    def _overdue(self, entry: _Entry, what: str) -> None:
        if entry.status.process is not None:
            entry.ended_because = f"{what} and was ended"
            # A milder signal would wait as long as the process is stopped.
            os.kill(entry.status.process, signal.SIGKILL)

    def _reap(self) -> None:
        units = {entry.status.process: entry for entry in self._entries.values()}
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                process, wait_status = found
                if entry := units.get(process):
                    self._exited(entry, process, os.waitstatus_to_exitcode(wait_status))
                self._beside = {name: beside for name, beside in self._beside.items() if beside != process}
        # What an ended unit left behind becomes our child once its own parent is gone, perhaps after several steps.
        own = [entry.status.process for entry in self._entries.values()]
        processes.kill_orphans([*own, *self._beside.values()])

    def _exited(self, entry: _Entry, process: int, code: int) -> None:
        entry.status.process = None
        self._cancel_timers(entry)
        # What it started goes with it: after a kill -9 nobody else would end it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
        entry.exited.set()
        if not entry.wanted:
            return
        if code == 0 and entry.unit.on_demand:
            entry.short_lives = entry.short_lives + 1 if _left_waiting(entry) else 0
            if not entry.short_lives:
                entry.failures.clear()
            if entry.short_lives < _SHORT_LIVES:
                self._wait_for_connection(entry)
                return
            entry.ended_because = "ended again and again without taking its connection"
        died = entry.ended_because or (f"was ended by signal {-code}" if code < 0 else f"ended with status {code}")
        self._failed(entry, f"{entry.unit.name} {died}.")

    def _failed(self, entry: _Entry, reason: str) -> None:
        now = time.monotonic()
        entry.failures = [moment for moment in entry.failures if now - moment < _START_PERIOD] + [now]
        entry.status.fail(reason)
        limit = entry.unit.attempts
        if len(entry.failures) >= limit:
            self._set(entry, State.FAILED)
            entry.status.fail(self._given_up(entry.unit.name, reason, limit))
            for listener in entry.sockets:
                # Refuse those who wait: otherwise they would hang until somebody starts the unit again.
                self._loop.add_reader(listener, _refuse, listener)
            return
        entry.status.restarts += 1
        delay = 0.05 * 4 ** (len(entry.failures) - 1)
        self._set(entry, State.STOPPED)
        again = self._wait_for_connection if entry.unit.on_demand else self._spawn
        entry.restart = self._loop.call_later(delay, again, entry)

    async def _end(self, entry: _Entry) -> None:
        process = entry.status.process
        if process is None:
            return
        self._set(entry, State.STOPPING)
        os.kill(process, signal.SIGTERM)
        try:
            async with asyncio.timeout(entry.unit.stop_seconds):
                await entry.exited.wait()
        except TimeoutError:
            if entry.status.process is not None:
                os.kill(process, signal.SIGKILL)
            await entry.exited.wait()

    def _cancel_timers(self, entry: _Entry) -> None:
        for timer in (entry.watchdog, entry.restart):
            if timer:
                timer.cancel()
        entry.watchdog = entry.restart = None

    def _set(self, entry: _Entry, state: State) -> None:
        if entry.status.state is not state:
            entry.status.state = state
            entry.status.since = time.time()
        if state is State.RUNNING:
            entry.status.reason = None


def _left_waiting(entry: _Entry) -> bool:
    """True if a unit has ended soon although a connection waits: this may be by chance, or go on for ever."""
    return time.time() - entry.status.since < _SHORT_LIFE and bool(select.select(entry.sockets, [], [], 0)[0])


def _refuse(listener: socket.socket) -> None:
    listener.setblocking(False)
    with contextlib.suppress(OSError):
        listener.accept()[0].close()
