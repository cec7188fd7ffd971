"""A hostile module in its sandbox: whatever it does, it hurts itself and nobody else."""

import socket
import threading

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.host_process.activator import HostedModule, hosted
from tests.support.activation import DEADLINE
from tests.support.waiting import wait_until

pytestmark = [needs_bubblewrap, pytest.mark.process]

HOSTILE = """
import os, signal, threading, time
from parachute.core import Module, route
{at_load}
class Hostile(Module):
    name = "hostile"
    version = "1.0.0"

    @route("GET", "/ok")
    async def ok(self):
        return {{"pid": os.getpid()}}

    @route("GET", "/die")
    async def die(self):
        os._exit(7)

    @route("GET", "/hang")
    async def hang(self):
        print("hanging", flush=True)
        while True:
            pass

    @route("GET", "/garbage")
    async def garbage(self):
        os.write(3, b"garbage")
        return {{"value": {{1, 2}}, "odd": object()}}

    @route("GET", "/flood")
    async def flood(self):
        for _ in range(2000):
            print("x" * 1000)
        return {{}}
"""


def _hostile(at_load: str = "", **options: object) -> object:
    return hosted("hostile", HOSTILE.format(at_load=at_load), box=True, **options)


def test_code_that_ends_its_process_while_it_loads_fails_the_start() -> None:
    with _hostile("os._exit(9)") as module:  # type: ignore[attr-defined]
        module.failure()
        assert module.exits == [9]


def test_a_fork_while_it_loads_makes_no_second_server_and_nobody_kills_itself() -> None:
    # The first process of a namespace cannot kill itself: the kernel ignores it.
    with _hostile("os.kill(os.getpid(), signal.SIGKILL)\nos.fork()") as module:  # type: ignore[attr-defined]
        pids = {module.get("/ok").json()["pid"] for _ in range(10)}
        assert pids == {1}


def test_code_that_hangs_while_it_loads_is_never_ready() -> None:
    at_load = "print('loading', flush=True)\ntime.sleep(600)"
    with _hostile(at_load) as module, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:  # type: ignore[attr-defined]
        said.bind(str(module.folder / "notify"))
        said.setblocking(False)
        module.environment["NOTIFY_SOCKET"] = str(module.folder / "notify")
        asking = threading.Thread(target=_ask, args=(module,))
        asking.start()
        wait_until(lambda: "loading" in module.log, "the module is being loaded")
        with pytest.raises(BlockingIOError):
            said.recv(100)
        module.process.kill()
        asking.join(DEADLINE)


def _ask(module: HostedModule, path: str = "/ok") -> None:
    try:
        module.get(path)
    except OSError:
        pass


def _hears(said: socket.socket) -> bool:
    try:
        return bool(said.recv(100))
    except TimeoutError:
        return False


def test_code_that_ends_its_process_hurts_one_request() -> None:
    with _hostile() as module:  # type: ignore[attr-defined]
        with pytest.raises(OSError):
            module.get("/die")
        wait_until(lambda: module.exits == [7], "the process ends")
        assert module.get("/ok").status == 200


def test_a_module_that_hangs_stops_feeding_its_watchdog() -> None:
    with _hostile() as module, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:  # type: ignore[attr-defined]
        said.bind(str(module.folder / "notify"))
        said.settimeout(DEADLINE)
        module.environment |= {"NOTIFY_SOCKET": str(module.folder / "notify"), "WATCHDOG_USEC": "200000"}
        assert module.get("/ok").status == 200
        asking = threading.Thread(target=_ask, args=(module, "/hang"))
        asking.start()
        wait_until(lambda: "hanging" in module.log, "the module hangs")
        # What it said before; after that, nothing for five times as long as it says something otherwise.
        said.settimeout(0.5)
        while _hears(said):
            pass
        module.process.kill()
        asking.join(DEADLINE)


def test_a_module_that_ignores_signals_ends_with_its_sandbox() -> None:
    ignoring = "threading.Timer(0, lambda: None).start()\nsignal.signal = lambda *a: None\n"
    module = HOSTILE.format(at_load=ignoring).replace(
        'return {"pid": os.getpid()}', 'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); return {"pid": 1}'
    )
    with hosted("hostile", module, box=True) as running:
        assert running.get("/ok").status == 200
        assert running.process is not None
        running.process.kill()
        wait_until(lambda: len(running.exits) == 1, "the sandbox ends")


def test_garbage_and_floods_are_survived() -> None:
    with _hostile() as module:  # type: ignore[attr-defined]
        assert module.get("/garbage").status >= 500
        assert module.get("/flood").json() == {}
        assert module.get("/ok").status == 200
