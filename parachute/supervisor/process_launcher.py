"""The launcher for machines without systemd: it holds the sockets itself and passes them on as systemd would."""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import stat
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from parachute_runner.keeper import children, descendants

from parachute.errors import InvalidInput, Unavailable
from parachute.settings.home import Home
from parachute.supervisor.credentials import Credentials
from parachute.supervisor.models import State, Status, Unit
from parachute.supervisor.notify import NotifySocket

_FIRST_FD = 3  # SD_LISTEN_FDS_START
_START_LIMIT = 5
_START_PERIOD = 300.0
_BACKLOG = 128
_HIGH_FD = 100  # our own descriptors stay above those that a child is given, so that no dup2 overwrites its next source
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(slots=True)
class _Entry:
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


class ProcessLauncher:
    """Keeps units as its own child processes; create it inside a running event loop, on the main thread."""

    def __init__(self, home: Home, credentials: Credentials) -> None:
        self._home = home
        self._credentials = credentials
        self._entries: dict[str, _Entry] = {}
        # An open that arrives while the same unit is being closed has to wait for the end of that.
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._loop = asyncio.get_running_loop()
        self._loop.add_signal_handler(signal.SIGCHLD, self._reap)
        if sys.platform == "linux":
            # What a killed unit leaves behind becomes our child, and can be ended.
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    async def open(self, unit: Unit) -> None:
        async with self._locks[unit.name]:
            if unit.name in self._entries:
                return
            sockets = [_listen(address) for address in unit.listen]
            entry = _Entry(unit, Status(unit.name), sockets)
            self._entries[unit.name] = entry
            if unit.on_demand:
                self._wait_for_connection(entry)
            else:
                self._spawn(entry)

    async def start(self, name: str) -> None:
        entry = self._entry(name)
        entry.wanted = True
        entry.failures.clear()
        if entry.status.process is None:
            self._spawn(entry)
        await self.ready(name)

    async def stop(self, name: str) -> None:
        entry = self._entry(name)
        entry.wanted = False
        self._cancel_timers(entry)
        self._ignore_connections(entry)
        if entry.status.process is not None:
            await self._end(entry)
        self._set(entry, State.STOPPED)

    async def close(self, name: str) -> None:
        async with self._locks[name]:
            if name not in self._entries:
                return
            await self.stop(name)
            entry = self._entries.pop(name)
            for listener, address in zip(entry.sockets, entry.unit.listen, strict=True):
                listener.close()
                if isinstance(address, Path):
                    address.unlink(missing_ok=True)
            if entry.notify:
                entry.notify.close()
        if not self._locks[name].locked():
            del self._locks[name]

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
            reason = entry.status.reason or f"{name} did not answer within {seconds:.0f} seconds."
            raise Unavailable(reason, f"Its log is {self.log(name)}.")

    def status(self) -> list[Status]:
        return [entry.status for entry in self._entries.values()]

    def log(self, name: str) -> Path:
        """Where the output of a unit goes; all sandboxes share one file."""
        return self._home.logs / f"{name.partition('@')[0]}.log"

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            raise InvalidInput(f"The unit {name!r} is not open.")
        return self._entries[name]

    def _wait_for_connection(self, entry: _Entry) -> None:
        self._set(entry, State.LISTENING)
        for listener in entry.sockets:
            self._loop.add_reader(listener, self._spawn, entry)

    def _ignore_connections(self, entry: _Entry) -> None:
        for listener in entry.sockets:
            self._loop.remove_reader(listener)

    def _spawn(self, entry: _Entry) -> None:
        unit = entry.unit
        self._ignore_connections(entry)
        self._cancel_timers(entry)
        entry.exited.clear()
        entry.ready.clear()
        environment = {**os.environ, **unit.environment, "PARACHUTE_HOME": str(self._home.root)}
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        if entry.sockets:
            environment["LISTEN_FDS"] = str(len(entry.sockets))
        for number, listener in enumerate(entry.sockets):
            actions.append((os.POSIX_SPAWN_DUP2, listener.fileno(), _FIRST_FD + number))
        if unit.notifies:
            if entry.notify is None:
                entry.notify = NotifySocket(
                    self._home.run / f"notify-{unit.name}.sock", lambda text: self._notified(entry, text)
                )
            environment["NOTIFY_SOCKET"] = str(entry.notify.path)
            if unit.watchdog_seconds:
                environment["WATCHDOG_USEC"] = str(int(unit.watchdog_seconds * 1_000_000))
        secret: int | None = None
        if unit.with_credentials:
            secret = _raised(self._credentials.pipe())
            number = _FIRST_FD + len(entry.sockets)
            actions.append((os.POSIX_SPAWN_DUP2, secret, number))
            environment["PARACHUTE_CREDENTIALS_FD"] = str(number)
        log = _raised(os.open(self.log(unit.name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        actions += [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        try:
            entry.status.process = os.posix_spawn(
                unit.command[0], unit.command, environment, file_actions=actions, setpgroup=0, setsigmask=()
            )
        except OSError as error:
            self._failed(entry, f"{unit.name} could not be started: {error}.")
            return
        finally:
            os.close(log)
            if secret is not None:
                os.close(secret)
        self._set(entry, State.STARTING if unit.notifies else State.RUNNING)

    def _notified(self, entry: _Entry, text: str) -> None:
        if "READY=1" in text.splitlines():
            self._set(entry, State.RUNNING)
            entry.ready.set()
        if entry.unit.watchdog_seconds and entry.status.process is not None:
            if entry.watchdog:
                entry.watchdog.cancel()
            entry.watchdog = self._loop.call_later(entry.unit.watchdog_seconds, self._watchdog_missed, entry)

    def _watchdog_missed(self, entry: _Entry) -> None:
        if entry.status.process is not None:
            entry.status.reason = f"{entry.unit.name} did not answer its watchdog and was ended."
            os.killpg(entry.status.process, signal.SIGABRT)

    def _reap(self) -> None:
        units = {entry.status.process: entry for entry in self._entries.values()}
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                process, wait_status = found
                if entry := units.get(process):
                    self._exited(entry, os.waitstatus_to_exitcode(wait_status))

    def _exited(self, entry: _Entry, code: int) -> None:
        process, entry.status.process = entry.status.process, None
        self._cancel_timers(entry)
        if process is not None:
            # What it started goes with it: after a kill -9 nobody else would end it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)
            self._end_orphans()
        entry.exited.set()
        if not entry.wanted:
            return
        if code == 0 and entry.unit.on_demand:
            self._wait_for_connection(entry)
            return
        died = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        self._failed(entry, f"{entry.unit.name} {died}.")

    def _end_orphans(self) -> None:
        units = {entry.status.process for entry in self._entries.values()}
        for orphan in children(os.getpid()):
            if orphan not in units:
                for process in (*descendants(orphan), orphan):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

    def _failed(self, entry: _Entry, reason: str) -> None:
        now = time.monotonic()
        entry.failures = [moment for moment in entry.failures if now - moment < _START_PERIOD] + [now]
        entry.status.reason = reason
        if len(entry.failures) >= _START_LIMIT:
            self._set(entry, State.FAILED)
            entry.status.reason = (
                f"{reason} It failed {_START_LIMIT} times in five minutes; see {self.log(entry.unit.name)}."
            )
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
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(entry.exited.wait(), entry.unit.stop_seconds)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
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


def _refuse(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        listener.accept()[0].close()


def _listen(address: Path | tuple[str, int]) -> socket.socket:
    if isinstance(address, Path):
        address.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if address.exists() and stat.S_ISSOCK(address.lstat().st_mode):
            address.unlink()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(address))
        address.chmod(0o600)
    else:
        host, port = address
        try:
            listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            raise Unavailable(
                f"Port {port} on {host} cannot be used: {error.strerror or error}.",
                "Another program has it: end that one, or start with --port.",
            ) from error
        # Accepted connections inherit it; without it each small event of a stream waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return socket.socket(fileno=_raised(listener.detach()))


def _raised(descriptor: int) -> int:
    """The same file under a number above those that children are given."""
    raised = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    os.close(descriptor)
    return raised
