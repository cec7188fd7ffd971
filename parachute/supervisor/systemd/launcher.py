"""The launcher for machines with systemd: units of the user manager, which go on when the supervisor is started anew."""

import asyncio
import contextlib
import os
import stat
import sys
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write
from parachute.config.settings.home import Home
from parachute.supervisor import installed
from parachute.supervisor.logs import log_path
from parachute.supervisor.models import ATTEMPTS, State, Status, Unit
from parachute.supervisor.open_units import OpenUnits
from parachute.supervisor.systemd import rendering
from parachute.supervisor.systemd.manager import Manager, Properties


class _Entry(Struct):
    """`unit` is None for one that ran already when the supervisor came, until somebody opens it."""

    unit: Unit | None
    status: Status
    service: Properties = field(default_factory=dict)
    socket: Properties = field(default_factory=dict)
    watches: list[str] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    has_failed: bool = False


class SystemdLauncher(OpenUnits[_Entry]):
    """Runs units as services of the user manager; make it with `connect`.

    Units are written to the manager's folder below XDG_RUNTIME_DIR: they follow from what is asked for, and must not come
    back by themselves after a boot at which nobody asked. Files of the same name in ~/.config, which `parachute service
    install` wrote, stay as they are.
    """

    confines = True

    def __init__(self, home: Home, manager: Manager, folder: Path) -> None:
        super().__init__(home)
        self._manager = manager
        self._folder = folder
        self._installed = installed.folder()
        self._reload = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def connect(cls, home: Home) -> "SystemdLauncher":
        """Connect to the user manager and adopt what runs; error: Unavailable."""
        launcher = cls(home, await Manager.connect(), installed.runtime_folder())
        await launcher._adopt()
        return launcher

    async def begin_anew(self, problem: str | None = None, *, is_moved: bool = False) -> bool:
        # A service outside of ours: it ends us, and unlike us it may write next to the state directory.
        back = [] if problem is None else [(sys.executable, "-m", "parachute.supervisor.going_back", problem)]
        # The address stands in the units, which are written anew; if these do not start, the ones before come back.
        words = ("service", "install") if is_moved else ("restart",)
        commands = [*back, (sys.executable, "-m", "parachute.cli", *words)]
        await self._manager.run_beside(f"{rendering.PREFIX}restart-{os.getpid()}.service", commands, self._home.root)
        return True

    async def run_beside(self, name: str, command: Sequence[str]) -> None:
        log = log_path(self._home, name)
        await self._manager.run_beside(f"{rendering.PREFIX}{name}.service", [command], self._home.root, log=log)

    async def end_beside(self, name: str) -> None:
        await self._manager.job("StopUnit", f"{rendering.PREFIX}{name}.service")

    async def lost(self) -> None:
        await self._manager.lost()

    async def open(self, unit: Unit) -> None:
        async with self._lock(unit.name):
            entry = self._entries.get(unit.name)
            if entry and entry.unit == unit and entry.status.state is not State.FAILED:
                return
            _check_paths(unit, listening=entry is not None and entry.socket.get("ActiveState") == "active")
            await self._write(unit)
            if entry is None:
                entry = await self._watch(unit.name, unit)
            entry.unit = unit
            if entry.status.state is State.FAILED:
                self._forget_failures(entry)
                await self._manager.reset(*self._names(unit))
            try:
                await self._begin(unit)
            except Unavailable:
                await self._end(unit.name, entry)
                raise

    async def start(self, name: str) -> None:
        async with self._lock(name):
            entry = self._entry(name)
            unit = self._unit(entry)
            if entry.status.state is not State.RUNNING:
                self._forget_failures(entry)
                await self._manager.reset(*self._names(unit))
                await self._listen(unit)
                if await self._manager.job("StartUnit", rendering.service_name(name)) != "done":
                    raise self._down(name, f"{name} could not be started.")
        await self.ready(name)

    async def restart(self, name: str) -> None:
        async with self._lock(name):
            entry = self._entry(name)
            unit = self._unit(entry)
            self._forget_failures(entry)
            await self._manager.reset(*self._names(unit))
            await self._listen(unit)
            await self._manager.job("RestartUnit", rendering.service_name(name))
        await self.ready(name)

    async def stop(self, name: str) -> None:
        async with self._lock(name):
            await self._stop(name, self._entry(name))

    async def close(self, name: str) -> None:
        async with self._lock(name):
            if entry := self._entries.get(name):
                await self._end(name, entry)

    async def ready(self, name: str, seconds: float = 60) -> None:
        entry = self._entry(name)
        if entry.unit and not entry.unit.notifies:
            return

        def settled() -> bool:
            return entry.service.get("ActiveState") == "active" or entry.status.reason is not None

        async with entry.changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await entry.changed.wait_for(settled)
        if entry.service.get("ActiveState") != "active":
            raise self._down(name, f"{name} did not answer within {seconds:.0f} seconds.")

    def _unit(self, entry: _Entry) -> Unit:
        if entry.unit is None:
            raise InvalidInput(
                f"The unit {entry.status.name!r} runs from before, and has not been opened since.", key="unit_of_before"
            )
        return entry.unit

    def _names(self, unit: Unit) -> list[str]:
        sockets = [rendering.socket_name(unit.name)] if unit.listen else []
        return [rendering.service_name(unit.name), *sockets]

    async def _adopt(self) -> None:
        """Take over what an earlier supervisor left running, and remove the files of what does not run any more."""
        loaded = await self._manager.loaded(f"{rendering.PREFIX}*.service", f"{rendering.PREFIX}*.socket")
        found = {unit.removeprefix(rendering.PREFIX).rpartition(".")[0] for unit in loaded}
        # Others have names like ours, and are not ours to end: a backup that is being made, for instance.
        names = {name for name in found if name == "core" or self._has_written(name)}
        for name in sorted(names):
            await self._watch(name, None)
        kept = {f"{kind}@" for kind, at, _ in (name.partition("@") for name in names) if at} | names
        if self._folder.is_dir():
            for path in self._folder.glob(f"{rendering.PREFIX}*"):
                name = path.name.removesuffix(".d").removeprefix(rendering.PREFIX).rpartition(".")[0]
                if name not in kept:
                    _remove(path)

    def _has_written(self, name: str) -> bool:
        base, at, _ = name.partition("@")
        return any((self._folder / rendering.service_name(own)).exists() for own in (name, base + at))

    async def _watch(self, name: str, unit: Unit | None) -> _Entry:
        entry = _Entry(unit, Status(name, since=time.time()))
        for full, kept in ((rendering.service_name(name), entry.service), (rendering.socket_name(name), entry.socket)):
            if unit is None or unit.listen or kept is entry.service:
                changed = _Changes(self, entry, kept)
                entry.watches.append(await self._manager.watch(full, changed))
        # Not before: one that nobody watches would be taken for open, and never be begun.
        self._entries[name] = entry
        return entry

    async def _write(self, unit: Unit) -> None:
        changed = False
        for name, text in self._render(unit).items():
            path = self._folder / name
            provided = any((folder / name).exists() for folder in (self._installed, *installed.OF_ALL))
            if provided or (path.exists() and path.read_text() == text):
                continue
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            await asyncio.to_thread(atomic_write, path, text)
            changed = True
        if changed:
            async with self._reload:
                await self._manager.call("Reload")

    def _render(self, unit: Unit) -> dict[str, str]:
        return rendering.render(unit, self._home, log_path(self._home, unit.name), systemd=self._manager.version)

    async def _begin(self, unit: Unit) -> None:
        await self._listen(unit)
        if not unit.on_demand:
            # Not waited for, as it may take its time until it is ready.
            await self._manager.call("StartUnit", "ss", rendering.service_name(unit.name), "replace")

    async def _listen(self, unit: Unit) -> None:
        if not unit.listen:
            return
        if await self._manager.job("StartUnit", rendering.socket_name(unit.name)) != "done":
            address = unit.listen[0]
            where = str(address) if isinstance(address, Path) else f"Port {address[1]} on {address[0]}"
            raise Unavailable(
                f"{where} cannot be listened on.", "Another program may have it: end that one.", key="port_unusable"
            )

    async def _stop(self, name: str, entry: _Entry) -> None:
        names = [rendering.service_name(name)]
        if entry.unit is None or entry.unit.listen:
            # Otherwise the next connection would start it again; the socket goes first, and takes the service with it.
            names.insert(0, rendering.socket_name(name))
        for full in names:
            with contextlib.suppress(Unavailable):  # it is not loaded any more
                await self._manager.job("StopUnit", full)
        await self._manager.reset(*names)
        for watch in entry.watches:
            with contextlib.suppress(Unavailable):
                await self._manager.refresh(watch)
        self._forget_failures(entry)
        self._update(entry)

    async def _end(self, name: str, entry: _Entry) -> None:
        await self._stop(name, entry)
        for watch in entry.watches:
            self._manager.forget(watch)
        del self._entries[name]
        for suffix in ("service", "socket", "service.d"):
            with contextlib.suppress(OSError):  # a disk that became read-only; it has ended all the same
                _remove(self._folder / f"{rendering.PREFIX}{name}.{suffix}")
        for address in entry.unit.listen if entry.unit else ():
            if isinstance(address, Path):
                with contextlib.suppress(OSError):  # others have something in it
                    address.parent.rmdir()

    def changed(self, entry: _Entry, ended: bool) -> None:
        """Take over what the manager says about a unit; `ended`: its service has just become inactive."""
        if reason := self._reason(entry):
            entry.status.fail(reason)
            entry.has_failed = True
        self._update(entry)
        if ended and entry.unit and entry.unit.on_demand:
            # It has ended well: that must not count as one of the starts after which it is given up.
            self._later(self._manager.reset(rendering.service_name(entry.status.name)))
        self._later(_notify(entry.changed))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget_failures(self, entry: _Entry) -> None:
        entry.status.reason = None
        entry.has_failed = False

    def _reason(self, entry: _Entry) -> str | None:
        name, result = entry.status.name, entry.service.get("Result", "success")
        if entry.socket.get("Result") == "trigger-limit-hit":
            return f"{name} ended again and again without taking its connection."
        if result == "success":
            return None
        died = self._death(entry, result)
        if entry.service.get("ActiveState") == "failed" and entry.service.get("SubState") == "failed":
            return self._given_up(name, died, entry.unit.attempts if entry.unit else ATTEMPTS)
        return died

    def _death(self, entry: _Entry, result: str) -> str:
        name = entry.status.name
        code, status = entry.service.get("ExecMainCode"), entry.service.get("ExecMainStatus")
        if result == "watchdog":
            return f"{name} did not answer its watchdog and was ended."
        if result == "timeout":  # or did not end in its time, but then nobody reads this any more
            return f"{name} did not become ready and was ended."
        if result == "exit-code" and status == 203:  # EXIT_EXEC of systemd
            return f"{name} could not be started: the program does not exist or is not executable."
        if code in (2, 3):  # CLD_KILLED, CLD_DUMPED
            return f"{name} was ended by signal {status}."
        if result == "exit-code":
            return f"{name} ended with status {status}."
        return f"{name} failed: {result}."

    def _update(self, entry: _Entry) -> None:
        state = _state(entry)
        status = entry.status
        if status.state is not state:
            status.state = state
            status.since = time.time()
        process = entry.service.get("MainPID") or None
        if entry.has_failed and process not in (None, status.process):
            # systemd's own count begins anew when a waiting connection is quicker than its restart.
            status.restarts += 1
            entry.has_failed = False
        status.process = process
        if state is State.RUNNING:
            status.reason = None


class _Changes(Struct):
    """Takes changed properties of a service or its sockets to the entry."""

    launcher: SystemdLauncher
    entry: _Entry
    kept: Properties

    def __call__(self, properties: Properties) -> None:
        before = self.kept.get("ActiveState", "inactive")
        self.kept.update(properties)
        ended = self.kept is self.entry.service and before != "inactive" and self.kept.get("SubState") == "dead"
        self.launcher.changed(self.entry, ended)


def _state(entry: _Entry) -> State:
    state, sub = entry.service.get("ActiveState", "inactive"), str(entry.service.get("SubState", ""))
    listening = entry.socket.get("ActiveState")
    if state in ("active", "reloading"):
        return State.RUNNING
    if "auto-restart" in sub:
        return State.STOPPED  # also `failed-before-auto-restart`, which counts as failed for a moment
    if state == "activating":
        return State.STARTING
    if state == "deactivating":
        return State.STOPPING
    if state == "failed" or listening == "failed":
        return State.FAILED
    on_demand = entry.unit is None or entry.unit.on_demand
    return State.LISTENING if listening == "active" and on_demand else State.STOPPED


async def _notify(condition: asyncio.Condition) -> None:
    async with condition:
        condition.notify_all()


def _check_paths(unit: Unit, *, listening: bool) -> None:
    for address in unit.listen:
        if isinstance(address, Path) and not listening:
            with contextlib.suppress(FileNotFoundError):
                # systemd would remove whatever is there.
                if not stat.S_ISSOCK(address.lstat().st_mode):
                    raise Unavailable(
                        f"{address} cannot be listened on: there is a file of that name.", key="socket_in_use"
                    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
