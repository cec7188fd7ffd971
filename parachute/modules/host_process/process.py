"""The process of one module, started with its listening socket as descriptor 3."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.memory import keep_little
from parachute.core import runtime
from parachute.core.application import Application
from parachute.modules.host_process import limits
from parachute.modules.host_process.app import HostApp
from parachute.modules.host_process.client import CoreClient
from parachute.modules.host_process.egress_proxy import open_proxy
from parachute.modules.host_process.life_cycle import LifeCycle
from parachute.modules.host_process.loading import load, verified
from parachute.modules.host_process.refusal import refuse_waiting
from parachute.modules.host_process.starting import ask_to_start, check_confined, tell_failure
from parachute.supervisor.activation import adopt_listener
from parachute.supervisor.activity import Activity
from parachute.supervisor.idle_server import IdleServer
from parachute.supervisor.notify import feed_watchdog, notify
from parachute.supervisor.specifications.host import HostSpecification, specification_path
from parachute.supervisor.systemd.main_process import announce

log = logging.getLogger("parachute.module")

SANDBOX, UNIT = "--sandbox", "--unit"
_THREADS = 8
_STOP_SECONDS = 8  # less than the supervisor waits, so that on_stop is called
_ON_STOP_SECONDS = 1.5


async def serve(specification: HostSpecification, confinement: str | None) -> None:
    """Load the module and answer until idle or stopped; error: ParachuteError when it cannot be loaded.

    `confinement` is SANDBOX in bubblewrap, UNIT in what systemd enforces, None where nothing holds the module back.
    """
    keep_little()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    # First, so that nothing that the module starts inherits it.
    listener = adopt_listener(os.environ)
    activity = Activity()
    app = HostApp(activity)
    server = IdleServer(app, listener, activity, specification.idle_seconds, _STOP_SECONDS)
    # Imports the rest of what we need. After that the module may bring other versions of the same libraries for itself.
    server.config.load()
    # Kept by this name: a server that nobody refers to may be collected.
    proxy = await open_proxy(Path(specification.core_socket)) if confinement else None
    try:
        application, life_cycle = await _loaded(specification, confinement, activity)
        app.open(application, life_cycle)
        await app.refresh()
        await life_cycle.start()
    except ParachuteError as error:
        await tell_failure(CoreClient(Path(specification.core_socket)), error)
        refuse_waiting(specification.name, listener, error)
        raise
    watchdog = asyncio.ensure_future(feed_watchdog(limits.has_memory))
    # Also for the moments before and after it serves, so that on_stop is called, and called to its end.
    signal.signal(signal.SIGTERM, server.handle_exit)
    notify("READY=1")
    try:
        await server.serve(sockets=[listener])
    finally:
        notify("STOPPING=1")
        watchdog.cancel()
        await asyncio.gather(watchdog, return_exceptions=True)
        await _stop(life_cycle, application)
        if proxy is not None:
            proxy.close()


async def _loaded(
    specification: HostSpecification, confinement: str | None, activity: Activity
) -> tuple[Application, LifeCycle]:
    core = CoreClient(Path(specification.core_socket))
    if confinement == UNIT:
        check_confined(specification_path(specification.name).parents[3])
    await ask_to_start(specification, core)
    # A unit's processes are counted by its control group.
    limits.take_on(specification.memory, specification.pids if confinement == SANDBOX else None)
    limits.end_when_exhausted(asyncio.get_running_loop())
    limits.refuse_calls(programs=specification.programs)
    application = load(specification, core, verified(specification), activity.under_way)
    runtime.enter(application.module.core, whole_process=True)
    return application, LifeCycle(application, Path(specification.data), specification.hash)


async def _stop(life_cycle: LifeCycle, application: Application) -> None:
    try:
        async with asyncio.timeout(_ON_STOP_SECONDS):
            await life_cycle.stop()
    except (ParachuteError, TimeoutError) as error:
        log.warning("on_stop did not end well: %s", error or "it took too long")
    application.module.core.storage.close()


def main() -> int:
    """Exit code 0 after an idle time or a signal, 2 when it was started wrongly, 3 when the module cannot be loaded.

    The process ends with 4 when its memory is used up.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    log.setLevel(logging.INFO)
    try:
        *options, name = sys.argv[1:] or [""]
        if options not in ([], [SANDBOX], [UNIT]):
            raise InvalidInput(
                "The name of a module is expected: `python -m parachute.modules.host_process NAME`.",
                key="name_expected",
            )
        specification = HostSpecification.load(name)
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201 - this is where the supervisor keeps what a process says
        return 2
    if options == [UNIT]:
        announce(os.environ)
    # Nothing of what an author writes begins with the name of a program.
    sys.argv = [specification.name]
    try:
        # Not asyncio.run: in the end it would wait for every thread of the module.
        asyncio.new_event_loop().run_until_complete(serve(specification, options[0] if options else None))
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 3
    return 0


def run() -> NoReturn:
    """`main` as a process."""
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Threads of the module that still run would keep a process that nobody can reach.
    os._exit(code)
