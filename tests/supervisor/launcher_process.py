"""A supervisor without core, as a process of its own: `python -m tests.supervisor.launcher_process process|systemd`.

It answers on the control socket like the real one, and besides to `open_unit`, with the fields of a `Unit`.
"""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

from parachute.config.settings.home import Home
from parachute.supervisor import control, units
from parachute.supervisor.children.launcher import ProcessLauncher
from parachute.supervisor.credentials import Credentials
from parachute.supervisor.models import Confinement, Launcher, Unit
from parachute.supervisor.service import Supervisor


async def run() -> None:
    """Serve until SIGTERM."""
    home = Home.find()
    launcher: Launcher
    if sys.argv[1] == "systemd":
        from parachute.supervisor.systemd.launcher import SystemdLauncher

        launcher = await SystemdLauncher.connect(home)
    else:
        launcher = ProcessLauncher(home, Credentials())
    supervisor = Supervisor(home, launcher, units.core("127.0.0.1", 1))

    async def handle(request: dict[str, Any]) -> dict[str, Any]:
        operation = request.get("operation")
        if operation == "open_unit":
            unit = request["unit"]
            listen = tuple(Path(path) for path in unit["listen"])
            confined = unit.get("confinement") or {}
            places: dict[str, Any] = {name: tuple(map(Path, paths)) for name, paths in confined.items()}
            confinement = unit.get("confinement") and Confinement(**places)
            await launcher.open(
                Unit(**{**unit, "command": tuple(unit["command"]), "listen": listen, "confinement": confinement})
            )
        elif operation in ("start_unit", "stop_unit", "ready_unit", "restart_unit"):
            await getattr(launcher, operation.removesuffix("_unit"))(request["name"])
        elif operation == "close_unit":
            await launcher.close(request["name"])
        else:
            return await supervisor.handle(request)
        return {}

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, supervisor.ended.set)
    await control.serve(home, handle)
    sys.stdout.write("serving\n")
    sys.stdout.flush()
    await supervisor.ended.wait()
    await supervisor.close()


if __name__ == "__main__":
    asyncio.run(run())
