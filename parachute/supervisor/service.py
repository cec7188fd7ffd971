"""The operations of the supervisor."""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from parachute import __version__
from parachute.base.addresses import parse_address
from parachute.base.clock import now
from parachute.base.errors import InvalidInput, Unavailable
from parachute.config.settings.home import Home
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import going_back, launch_agent, memory, units
from parachute.supervisor.enforcement import not_enforced
from parachute.supervisor.models import Launcher, State, Unit
from parachute.supervisor.systemd.rendering import service_name

log = logging.getLogger(__name__)

_HAND_OVER_SECONDS = 900.0
"""For so long the server may be down while databases are copied."""


class Supervisor:
    """Runs the server and the units that it names; `ended` is set when the supervisor shall stop, `shut_down` if its units shall too.

    `next_python`: the interpreter of the program that takes its place after that, the same one or an update.
    """

    def __init__(self, home: Home, launcher: Launcher, core: Unit) -> None:
        self._home = home
        self._launcher = launcher
        self._core = core
        self._kill_switch = KillSwitch(home.root)
        self._started = time.monotonic()
        self.ended = asyncio.Event()
        self.shut_down = False
        self.next_python: str | None = None
        self.next_host: str | None = None
        """Another address for the server, from its next start on."""
        self.keeps_sockets = False
        """The server's sockets stay open for who takes our place: connections wait in them."""
        self._hand_over_ends: asyncio.TimerHandle | None = None
        self._operations: dict[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]] = {
            "status": self._status,
            "started_with": self._started_with,
            "open": self._open,
            "close": self._close,
            "memory": self._memory,
            "reset": self._reset,
            "panic": self._panic,
            "resume": self._resume,
            "start": self._start,
            "stop": self._stop,
            "restart": self._restart,
            "shutdown": self._shutdown,
            "begin_anew": self._begin_anew,
            "listen_on": self._listen_on,
            "hand_over": self._hand_over,
            "become": self._become,
            "update": self._update,
        }

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request of the control socket; error: InvalidInput for an unknown operation or unit."""
        operation = self._operations.get(str(request.get("operation")))
        if operation is None:
            raise InvalidInput(f"operation: expected one of {', '.join(self._operations)}.", key="unknown_operation")
        return await operation(request)

    async def close(self) -> None:
        """End every unit: the server first, so that it can end its agents."""
        await (self._launcher.stop("core") if self.keeps_sockets else self._launcher.close("core"))
        await self._close_others()

    async def _close_others(self) -> None:
        names = [status.name for status in self._launcher.status() if status.name != "core"]
        await asyncio.gather(*(self._launcher.close(name) for name in names))

    def summary(self) -> dict[str, Any]:
        """The state of supervisor and core, in the app's words (`GET /supervisor/status`)."""
        core = next((status for status in self._launcher.status() if status.name == "core"), None)
        running = core is not None and core.state is State.RUNNING
        host, port = self._address()
        return {
            "supervisor_uptime_seconds": int(time.monotonic() - self._started),
            "supervisor_version": __version__,
            "main_server_healthy": running,
            "main_server_status": "running" if running else "stopped",
            "main_server_uptime_seconds": int(time.time() - core.since) if core and running else None,
            "main_server_version": __version__ if running else None,
            "main_server_host": host,
            "main_server_port": port,
            "config_loaded": True,
        }

    def _address(self) -> tuple[str, int]:
        address = self._core.listen[0]
        assert isinstance(address, tuple)
        return address

    async def _status(self, _: dict[str, Any]) -> dict[str, Any]:
        return {
            **self.summary(),
            "program": sys.prefix,
            "manager": "systemd" if self._launcher.confines else "process",
            "not_enforced": not_enforced(self._launcher.confines),
            "panic": to_builtins(panic) if (panic := self._kill_switch.panic) else None,
            "units": [status.describe() for status in self._launcher.status()],
        }

    async def _started_with(self, _: dict[str, Any]) -> dict[str, Any]:
        """The server's address, and the settings of the environment; for the owner, who alone opens the control socket."""
        host, port = self._address()
        environment = {name.upper(): value for name, value in os.environ.items()}
        # Credentials are never among them.
        environment = {name: value for name, value in environment.items() if name.startswith("PARACHUTE_")}
        return {"host": host, "port": port, "environment": environment}

    async def _memory(self, _: dict[str, Any]) -> dict[str, Any]:
        running = {
            status.name: status.process
            for status in self._launcher.status()
            if status.process and status.name.startswith("sandbox@")
        }

        def held() -> dict[str, int]:
            return {name: memory.held_bytes(process, service_name(name)) for name, process in running.items()}

        return {"bytes": await asyncio.to_thread(held)}

    async def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        environment = request.get("environment")
        if not isinstance(environment, dict | None):
            raise InvalidInput("environment: expected a JSON object.", key="environment_invalid")
        unit = self._unit(request, environment)
        if self._hand_over_ends is not None:
            raise Unavailable("An update is being installed.", "Try again in a minute.", key="updating")
        works_for_agents = units.works_for_agents(unit.name)
        if works_for_agents:
            self._kill_switch.check()
        await self._open_programs()
        await self._launcher.open(unit)
        if works_for_agents and (panic := self._kill_switch.panic):
            # Agents were stopped meanwhile, perhaps without this one.
            await self._launcher.close(unit.name)
            raise panic.refusal()
        return {}

    async def _close(self, request: dict[str, Any]) -> dict[str, Any]:
        name = str(request.get("unit"))
        units.check_name(name)
        await self._launcher.close(name)
        return {}

    def _unit(self, request: dict[str, Any], environment: dict[str, str] | None) -> Unit:
        return units.by_name(self._home, str(request.get("unit")), environment, confines=self._launcher.confines)

    async def _reset(self, _: dict[str, Any]) -> dict[str, Any]:
        names = [status.name for status in self._launcher.status() if status.name.startswith("sandbox@")]
        await asyncio.gather(*(self._launcher.close(name) for name in names))
        return {"closed": len(names)}

    async def _panic(self, request: dict[str, Any]) -> dict[str, Any]:
        engaged = self._kill_switch.engage(str(request.get("by") or "the supervisor"))
        names = [status.name for status in self._launcher.status() if units.works_for_agents(status.name)]
        # One that cannot be ended does not prevent the others.
        ends = await asyncio.gather(*(self._launcher.close(name) for name in names), return_exceptions=True)
        if failed := [f"{name}: {end}" for name, end in zip(names, ends, strict=True) if end is not None]:
            raise Unavailable(
                f"Not everything could be stopped: {'; '.join(failed)}",
                "`parachute stop` ends it.",
                key="panic_incomplete",
            )
        return {"closed": len(names), "saved": engaged.saved}

    async def _resume(self, _: dict[str, Any]) -> dict[str, Any]:
        was = self._kill_switch.release()
        await self._open_programs()
        return {"was": to_builtins(was) if was else None}

    async def _open_programs(self) -> None:
        """Open the command runner again if it was given up: on a read-only disk no service can begin its log."""
        if self._launcher.confines:
            try:
                await self._launcher.open(units.programs(self._home))
            except Unavailable as error:
                log.warning("The command runner cannot be opened: %s", error)

    async def _start(self, _: dict[str, Any]) -> dict[str, Any]:
        await self._launcher.start("core")
        return {}

    async def _stop(self, _: dict[str, Any]) -> dict[str, Any]:
        await self._launcher.stop("core")
        return {}

    async def _restart(self, _: dict[str, Any]) -> dict[str, Any]:
        await self._launcher.restart("core")
        return {}

    async def _shutdown(self, _: dict[str, Any]) -> dict[str, Any]:
        self.shut_down = True
        self.ended.set()
        return {}

    async def go_back(self, problem: str) -> None:
        """End everything and start it again with what was there before a restore; `problem` is why."""
        if not await self._launcher.begin_anew(problem):
            try:
                await asyncio.to_thread(going_back.order, self._home.root, problem)
            except OSError as error:
                log.error("It cannot come back: %s", error)
                return
            self._end_anew()

    async def _begin_anew(self, _: dict[str, Any]) -> dict[str, Any]:
        """End everything and start it again, and do in between what was ordered for a computer that does not run."""
        if not await self._launcher.begin_anew():
            self._end_anew()
        return {}

    def _end_anew(self) -> None:
        self.next_python, self.shut_down = sys.executable, True
        self.ended.set()

    async def _listen_on(self, request: dict[str, Any]) -> dict[str, Any]:
        """End everything and start it again with the server on another address, which the settings have already."""
        address = parse_address(str(request.get("host")))
        if address is None:
            raise InvalidInput("host: expected an address with numbers.", key="host_expected")
        if not await self._launcher.begin_anew(is_moved=True):
            self.move(str(address))
        return {}

    def move(self, host: str) -> None:
        """End everything and start it again with the server on this address, also at the next login; error: OSError."""
        launch_agent.move(self._home, host, self._address()[1])
        self.restart_on(host)

    def restart_on(self, host: str) -> None:
        """End everything and start it again with the server on this address."""
        self.next_host = host
        self._end_anew()

    async def _hand_over(self, _: dict[str, Any]) -> dict[str, Any]:
        """Close all units for an update but the server, and end that as well where we hold its sockets: connections wait in them.

        The caller must exec a replacement before the deadline; otherwise the server is restarted.
        """
        if self._hand_over_ends is not None:
            self._hand_over_ends.cancel()
        self._hand_over_ends = asyncio.get_running_loop().call_later(_HAND_OVER_SECONDS, self._take_back)
        if not self._launcher.confines:
            await self._launcher.stop("core")
        await self._close_others()
        return {}

    def _take_back(self) -> None:
        log.error("The update did not take over in time; restarting the server.")
        self._hand_over_ends = None
        self._starting = asyncio.ensure_future(self._launcher.start("core"))

    async def _become(self, request: dict[str, Any]) -> dict[str, Any]:
        """Become the program of another version, with the server's sockets; only where systemd does not hold us back."""
        python = str(request.get("python"))
        if self._launcher.confines:
            raise InvalidInput("become: systemd starts another program itself.", key="systemd_starts_others")
        if not Path(python).is_absolute() or not os.access(python, os.X_OK):
            raise InvalidInput("python: expected the path of an interpreter.", key="python_expected")
        self.next_python, self.shut_down, self.keeps_sockets = python, True, True
        self.ended.set()
        return {}

    async def _update(self, request: dict[str, Any]) -> dict[str, Any]:
        """Start an update from `source`, or from where the settings say, or go `back`, or `cancel` one; it outlives us.

        One that has ended since `ordered` is not begun again.
        """
        if request.get("cancel") is True:
            await self._launcher.end_beside("update")
            return {}
        source = request.get("source")
        if source is not None and not (isinstance(source, str) and Path(source).is_absolute()):
            raise InvalidInput("source: expected a path from / on.", key="source_not_absolute")
        words = ["--back"] if request.get("back") is True else []
        words += ["--unrehearsed"] if request.get("unrehearsed") is True else []
        words += ["--ordered", str(request.get("ordered") or now())]
        words += ["--", source] if source else []
        await self._launcher.run_beside("update", (sys.executable, "-m", "parachute.ops.updates", *words))
        return {}
