"""The supervisor's process: `python -m parachute.supervisor --host H --port P [--launcher process|systemd]`."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
from typing import NoReturn

from parachute.base import swap, swap_note
from parachute.base.disk_errors import machine_error
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import control, going_back, launch_agent, pid_file, units
from parachute.supervisor.children.launcher import ProcessLauncher
from parachute.supervisor.credentials import CREDENTIALS_FD, Credentials, keep_private
from parachute.supervisor.logs import followed, keep_short
from parachute.supervisor.models import GIVEN_HOST, Launcher
from parachute.supervisor.notify import feed_watchdog, notify
from parachute.supervisor.service import Supervisor

_BEFORE = "PARACHUTE_HOST_BEFORE"
"""Names the address that the server has left for another one, until it is up there."""

_MAIN_PORT = 3333
"""An app whose server address contains this port looks for `/supervisor/*` on the next one (contract, section 0)."""

log = logging.getLogger(__name__)


def main() -> int:
    """Run until a signal ends it; 0 after a graceful stop, 1 with a sentence on standard error if it cannot start."""
    parser = argparse.ArgumentParser(prog="parachute-supervisor")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--launcher", choices=("process", "systemd"), default="process")
    if (moved := launch_agent.host_in_file(Home.named())) is not None and "--host" in sys.argv:
        sys.argv[sys.argv.index("--host") + 1] = moved
    options = parser.parse_args()
    if Credentials.in_environment():
        _start_again(Credentials.take())
    keep_private()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        if options.launcher == "process":
            _finish_restore(Home.named())
        credentials = Credentials.take()
        supervisor = asyncio.run(_run(Home.find(), credentials, options.host, options.port, options.launcher))
        if supervisor.next_python is not None:
            if supervisor.next_host is not None:
                _move(supervisor.next_host)
            _start_again(credentials, supervisor.next_python)
    except (ParachuteError, OSError, RuntimeError, MemoryError) as error:
        if (known := error if isinstance(error, ParachuteError) else machine_error(error)) is None:
            raise
        print(known, file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _finish_restore(home: Home) -> None:
    """Do what a restore has ordered: nothing of this computer runs now. Error: Conflict if it cannot be told what is what."""
    with followed(home.root / "logs" / "supervisor.log"):
        try:
            said = swap.recover(home.root)
        except OSError as error:
            log.error("What was restored cannot be put in place, and what was there stays: %s", error)
            return
    if said:
        log.warning("%s", said)


def _start_again(credentials: Credentials, python: str = sys.executable) -> NoReturn:
    """Become the same program anew, or that of another version, without credentials in its environment: what a process was started with stays readable."""
    pipe = credentials.pipe()
    os.set_inheritable(pipe, True)
    os.environ[CREDENTIALS_FD] = str(pipe)
    command = [python, "-m", "parachute.supervisor", *sys.argv[1:]]
    os.execv(command[0], command)  # noqa: S606 - no shell is the point


def _move(host: str) -> None:
    """Start with another address from now on; where it cannot be used, the one of now comes back."""
    place = sys.argv.index("--host") + 1
    before, sys.argv[place] = sys.argv[place], host
    os.environ[_BEFORE] = before
    # What the command line said at the start does not hold any more.
    os.environ.pop(GIVEN_HOST, None)


async def _run(home: Home, credentials: Credentials, host: str, port: int, kind: str) -> Supervisor:
    """Run until the end; the supervisor says which program to become then, if any."""
    before = os.environ.pop(_BEFORE, None)
    units.check_home(home)
    with pid_file.held(home):
        launcher = await _launcher(kind, home, credentials)
        core = units.core(host, port)
        supervisor = Supervisor(home, launcher, core)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, supervisor.ended.set)
        server = await control.serve(home, supervisor.handle)
        web: asyncio.Server | None = None
        watchdog: asyncio.Task[None] | None = None
        logs = asyncio.create_task(keep_short(home.logs))
        try:
            if KillSwitch(home.root).panic:
                # It was engaged while nobody watched over what systemd keeps.
                await supervisor.handle({"operation": "panic"})
            if launcher.confines:
                await launcher.open(units.programs(home))
            try:
                await launcher.open(core)
            except Unavailable as error:
                if before is None:
                    raise
                log.error(
                    "The server cannot listen on %s (%s): it listens on %s as before.", host, error.message, before
                )
                _go_back(supervisor, host, before)
                return supervisor
            if kind == "systemd" and swap.is_ordered(home.root):
                # What runs has gone on without us, and this unit may write nowhere else.
                await supervisor.handle({"operation": "begin_anew"})
            if kind == "systemd":
                # Core is a service of its own: if it does not come up, we are the one who can tell.
                notify("READY=1")
                watchdog = asyncio.create_task(feed_watchdog())
            if port == _MAIN_PORT:
                web = await _serve_web(home, supervisor, port + 1)
            await _ended(home, supervisor, launcher, before)
        finally:
            if supervisor.next_python is None:
                notify("STOPPING=1")
            server.close()
            if web:
                web.close()
            logs.cancel()
            if watchdog:
                watchdog.cancel()
            # What systemd keeps goes on when the supervisor is only started anew.
            if kind == "process" or supervisor.shut_down:
                await supervisor.close()
            if supervisor.next_python is not None and isinstance(launcher, ProcessLauncher):
                launcher.hand_on()
            home.control_socket.unlink(missing_ok=True)
        return supervisor


def _go_back(supervisor: Supervisor, host: str, before: str) -> None:
    try:
        supervisor.move(before)
    except OSError:
        log.exception("launchd's file still names %s; once there is room, move the computer again.", host)
        supervisor.restart_on(before)


async def _ended(home: Home, supervisor: Supervisor, launcher: Launcher, before: str | None) -> None:
    """Wait for the end, and before for the server: what was restored goes again if it does not come up, and so does an address.

    Error: Unavailable.
    """
    ready = asyncio.create_task(launcher.ready("core"))
    over = {asyncio.create_task(supervisor.ended.wait()), asyncio.create_task(launcher.lost())}
    await asyncio.wait({ready, *over}, return_when=asyncio.FIRST_COMPLETED)
    if ready.done() and ready.exception() is None:
        notify("READY=1")
        _prove(home)
    elif ready.done() and before is not None:
        log.error("The server does not start there (%s): it listens on %s as before.", ready.exception(), before)
        supervisor.move(before)
    elif ready.done() and going_back.is_called_for(home.root):
        log.error("What was restored does not start (%s): what was there before comes back.", ready.exception())
        await supervisor.go_back(str(ready.exception()))
    await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
    if not supervisor.ended.is_set():
        raise Unavailable(
            "The connection to systemd is lost.", "The next supervisor takes over what runs.", key="systemd_lost"
        )


def _prove(home: Home) -> None:
    """Note that the computer has come up with what was restored."""
    if (note := swap_note.read(home.root)) is not None and not note.is_proven:
        with contextlib.suppress(OSError):  # then the next start notes it
            swap_note.prove(home.root, note)


async def _launcher(kind: str, home: Home, credentials: Credentials) -> Launcher:
    if kind == "process":
        return ProcessLauncher(home, credentials)
    # D-Bus costs memory that this small process does not need otherwise.
    from parachute.supervisor.systemd.launcher import SystemdLauncher

    if credentials:
        log.warning("Credentials of the environment do not reach services: write them into %s.", home.credentials)
    return await SystemdLauncher.connect(home)


async def _serve_web(home: Home, supervisor: Supervisor, port: int) -> asyncio.Server | None:
    from parachute.supervisor.web import SupervisorWeb

    try:
        return await SupervisorWeb(home, supervisor).serve(port)
    except OSError as error:
        log.warning("Port %d is taken (%s): the app's supervisor screen will not find this computer.", port, error)
        return None
