"""systemd's user manager, over D-Bus: jobs, properties and reloads, and nothing about what the units are."""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import DBusError

from parachute.base.errors import Unavailable

_SYSTEMD = "org.freedesktop.systemd1"
_MANAGER = f"{_SYSTEMD}.Manager"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_ROOT = "/org/freedesktop/systemd1"
_JOB_SECONDS = 300

Properties = dict[str, Any]


class Manager:
    """A connection to the user manager, which says which `version` of systemd it is; make it with `connect`."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._jobs: dict[str, asyncio.Future[str]] = {}
        self._waiting = 0
        self._watched: dict[str, Callable[[Properties], None]] = {}
        self.version: int | None = None
        bus.add_message_handler(self._received)

    @classmethod
    async def connect(cls) -> "Manager":
        """Connect and subscribe to the manager's signals; error: Unavailable with what to do."""
        address = os.environ.get("DBUS_SESSION_BUS_ADDRESS") or f"unix:path=/run/user/{os.getuid()}/bus"
        try:
            bus = await MessageBus(bus_address=address, bus_type=BusType.SESSION).connect()
        except (OSError, DBusError, EOFError) as error:
            raise Unavailable(
                f"The user manager of systemd does not answer: {error}.",
                "`loginctl enable-linger` starts one that stays; without systemd, leave out `--launcher systemd`.",
                key="systemd_silent",
            ) from error
        manager = cls(bus)
        for rule in (
            f"type='signal',sender='{_SYSTEMD}',interface='{_MANAGER}',member='JobRemoved'",
            f"type='signal',sender='{_SYSTEMD}',interface='{_PROPERTIES}',member='PropertiesChanged'",
        ):
            await manager._ask(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", rule
            )
        # Without it the manager sends no signals at all.
        await manager.call("Subscribe")
        (version,) = await manager._ask(_SYSTEMD, _ROOT, _PROPERTIES, "Get", "ss", _MANAGER, "Version")
        if number := re.match(r"\d+", version.value):
            manager.version = int(number[0])
        return manager

    async def lost(self) -> None:
        """Return when the connection has ended; it does not come back."""
        with contextlib.suppress(Exception):  # whatever it was, and however the library calls it
            await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]

    async def call(self, member: str, signature: str = "", *arguments: Any) -> list[Any]:
        """Call a method of the manager; error: Unavailable with what it says."""
        return await self._ask(_SYSTEMD, _ROOT, _MANAGER, member, signature, *arguments)

    async def job(self, method: str, unit: str) -> str:
        """Queue a job (`StartUnit`, `StopUnit`, `RestartUnit`) and wait for its result, such as `done` or `failed`."""
        loop = asyncio.get_running_loop()
        # JobRemoved may arrive in the same packet as the job's name: keep what comes until we know which one is ours.
        self._waiting += 1
        try:
            (path,) = await self.call(method, "ss", unit, "replace")
            future = self._jobs.setdefault(path, loop.create_future())
            async with asyncio.timeout(_JOB_SECONDS):
                return await future
        except TimeoutError as error:
            raise Unavailable(
                f"systemd did not carry out {method} of {unit} in {_JOB_SECONDS} seconds.", key="job_not_done"
            ) from error
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._jobs.clear()

    async def run_beside(
        self, unit: str, commands: Sequence[Sequence[str]], home: Path, *, log: Path | None = None
    ) -> None:
        """Start programs, one after the other, as a service which is gone with their end, as `systemd-run --collect` does."""
        outputs = ("StandardOutputFileToAppend", "StandardErrorFileToAppend") if log else ()
        properties = [
            ["Description", Variant("s", f"Parachute: {unit.removesuffix('.service')}")],
            ["CollectMode", Variant("s", "inactive-or-failed")],
            ["WorkingDirectory", Variant("s", "/")],
            ["Environment", Variant("as", [f"PARACHUTE_HOME={home}"])],
            ["Type", Variant("s", "oneshot")],
            # Who is killed takes up what it has left.
            ["Restart", Variant("s", "on-failure" if log else "no")],
            *([output, Variant("s", str(log))] for output in outputs),
            ["ExecStart", Variant("a(sasb)", [[command[0], list(command), False] for command in commands])],
        ]
        await self.call("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", properties, [])

    async def watch(self, unit: str, changed: Callable[[Properties], None]) -> str:
        """Call `changed` with the properties of a unit now and whenever some of them change; returns what `forget` takes."""
        (path,) = await self.call("LoadUnit", "s", unit)
        # Watched before they are read: of a change in between, the signal comes after the older value.
        self._watched[path] = changed
        await self.refresh(path)
        return str(path)

    async def refresh(self, path: str) -> None:
        """Read the properties of a watched unit now: a signal may come after the answer to the call that caused it."""
        changed = self._watched[path]
        kind = "Service" if path.endswith("_2eservice") else "Socket"
        names = {"Unit": ("ActiveState", "SubState"), kind: ("Result",)}
        if kind == "Service":
            names[kind] += ("MainPID", "ExecMainCode", "ExecMainStatus")
        for interface, members in names.items():
            for member in members:
                (value,) = await self._ask(_SYSTEMD, path, _PROPERTIES, "Get", "ss", f"{_SYSTEMD}.{interface}", member)
                changed({member: value.value})

    def forget(self, path: str) -> None:
        """End a watch."""
        self._watched.pop(path, None)

    async def reset(self, *units: str) -> None:
        """Forget failures and counted starts of units."""
        for unit in units:
            try:
                await self.call("ResetFailedUnit", "s", unit)
            except Unavailable:
                pass  # it is not loaded, so there is nothing to forget

    async def loaded(self, *patterns: str) -> list[str]:
        """Names of the loaded units that match and are not inactive."""
        (rows,) = await self.call("ListUnitsByPatterns", "asas", [], list(patterns))
        return [row[0] for row in rows if row[3] != "inactive"]

    async def _ask(
        self, destination: str, path: str, interface: str, member: str, signature: str, *arguments: Any
    ) -> list[Any]:
        message = Message(destination, path, interface, member, signature=signature, body=list(arguments))
        reply = await self._bus.call(message)
        if reply.message_type is MessageType.ERROR:
            said = reply.body[0] if reply.body else reply.error_name
            raise Unavailable(f"systemd refused {member}: {said}.", key="systemd")
        body: list[Any] = reply.body
        return body

    def _received(self, message: Message) -> None:
        if message.message_type is not MessageType.SIGNAL:
            return
        if message.member == "JobRemoved" and self._waiting:
            _, path, _, result = message.body
            future = self._jobs.setdefault(path, asyncio.get_running_loop().create_future())
            if not future.done():
                future.set_result(result)
        elif message.member == "PropertiesChanged" and (changed := self._watched.get(message.path or "")):
            found: dict[str, Variant] = message.body[1]
            changed({name: variant.value for name, variant in found.items()})
