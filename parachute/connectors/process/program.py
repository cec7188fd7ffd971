"""The process of one connector, started with its listening socket as descriptor 3."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.memory import keep_little
from parachute.connectors.platforms import available
from parachute.connectors.platforms.models import Start, State
from parachute.connectors.platforms.platform import Platform, Refused
from parachute.connectors.process.application import Application
from parachute.connectors.process.masking import Masking
from parachute.connectors.process.server import Server
from parachute.modules.host_process import limits
from parachute.modules.host_process.client import CoreClient
from parachute.modules.host_process.egress_proxy import open_proxy
from parachute.modules.host_process.starting import check_confined
from parachute.supervisor.activation import adopt_listener
from parachute.supervisor.activity import Activity
from parachute.supervisor.idle_server import IdleServer
from parachute.supervisor.notify import feed_watchdog, notify
from parachute.supervisor.specifications.connector import ConnectorSpecification, connector_folder
from parachute.supervisor.systemd.main_process import announce

log = logging.getLogger("parachute.connector")

SANDBOX, UNIT = "--sandbox", "--unit"
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_STOP_SECONDS = 6  # less than the supervisor waits, so that what is being sent is answered


async def serve(specification: ConnectorSpecification, confinement: str, masking: Masking) -> None:
    """Connect the platform with the server until stopped; error: ParachuteError when it cannot be begun.

    `confinement` is SANDBOX in bubblewrap, UNIT in what systemd enforces.
    """
    keep_little()
    # First, so that nothing that the library starts inherits it.
    listener = adopt_listener(os.environ)
    if confinement == UNIT:
        check_confined(connector_folder(specification.platform).parents[2], "connector")
    limits.take_on(specification.memory, specification.pids if confinement == SANDBOX else None)
    limits.refuse_calls(programs=False)
    for unfinished in Path(specification.files).glob("*.part"):
        unfinished.unlink(missing_ok=True)
    platform: Platform = available.platform(specification.platform)()
    connection = Server(CoreClient(Path(specification.core_socket)), masking)
    activity = Activity()
    application = Application(platform, connection, activity, masking)
    server = IdleServer(application, listener, activity, None, _STOP_SECONDS)
    server.config.load()
    signal.signal(signal.SIGTERM, server.handle_exit)
    watchdog = asyncio.ensure_future(feed_watchdog(limits.has_memory))
    running = asyncio.ensure_future(_run(specification, platform, connection, masking))
    # One that fails ends the process, and the supervisor starts another.
    running.add_done_callback(lambda _: server.stop())
    notify("READY=1")
    try:
        await server.serve(sockets=[listener])
    finally:
        notify("STOPPING=1")
        for task in (watchdog, running):
            task.cancel()
        _, outcome = await asyncio.gather(watchdog, running, return_exceptions=True)
    if isinstance(outcome, Exception):
        raise outcome


async def _run(specification: ConnectorSpecification, platform: Platform, server: Server, masking: Masking) -> None:
    start = await server.start()
    masking.hide(start.token)
    # Kept by this name: a server that nobody refers to may be collected.
    proxy = await _way_out(Path(specification.core_socket))
    try:
        await _connect(start, Path(specification.files), platform, server)
    finally:
        proxy.close()


async def _way_out(core_socket: Path) -> asyncio.Server:
    """The listener in front of the egress proxy, whose socket the server opens a moment after its own."""
    while True:
        if (proxy := await open_proxy(core_socket)) is not None:
            return proxy
        await asyncio.sleep(_FIRST_WAIT)


async def _connect(start: Start, files: Path, platform: Platform, server: Server) -> None:
    """Run the platform for ever, and start it anew after errors that it cannot recover from."""
    wait = _FIRST_WAIT
    while True:
        begun = time.monotonic()
        try:
            await platform.run(start, files, server.hand_over, server.report)
        except Refused as refused:
            # The server ends this process; until then it is silent, since to ask again would be refused again.
            await server.report(State("refused", str(refused)))
            await asyncio.Event().wait()
        except ConnectionError as error:
            await server.report(State("waiting", str(error)))
        wait = _FIRST_WAIT if time.monotonic() - begun > _LONGEST_WAIT else min(2 * wait, _LONGEST_WAIT)
        await asyncio.sleep(wait)


def main() -> int:
    """Exit code 0 after a signal, 2 when it was started wrongly, 3 when the connector cannot begin or has failed."""
    masking = Masking.install()
    log.setLevel(logging.INFO)
    try:
        option, name = sys.argv[1:] if len(sys.argv) == 3 else ("", "")
        if option not in (SANDBOX, UNIT):
            raise InvalidInput(
                "`--unit` and a platform are expected: `python -m parachute.connectors.process --unit NAME`.",
                key="platform_missing",
            )
        specification = ConnectorSpecification.load(name)
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201 - this is where the supervisor keeps what a process says
        return 2
    if option == UNIT:
        announce(os.environ)
    try:
        asyncio.new_event_loop().run_until_complete(serve(specification, option, masking))
    except ParachuteError as error:
        log.error("%s", error)
        return 3
    except Exception:
        log.exception("The connector has failed")
        return 3
    return 0


def run() -> NoReturn:
    """`main` as a process."""
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
