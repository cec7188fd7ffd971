"""A hostile module in its box: whatever it does, it hurts itself and nobody else."""

import os
import socket
import threading

import pytest

from tests.conftest import needs_bubblewrap
from tests.host.activator import DEADLINE, HostedModule, hosted, wait_until

pytestmark = needs_bubblewrap

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


@pytest.mark.parametrize(
    ("at_load", "code"),
    [("os._exit(9)", 9), ("raise SystemExit(0)", 3), ("os.kill(os.getpid(), signal.SIGKILL)", None), ("1/0", 3)],
)
def test_code_that_fails_while_it_loads_fails_the_start(at_load: str, code: int | None) -> None:
    with _hostile(at_load) as module:  # type: ignore[attr-defined]
        module.environment["PATH"] = os.environ["PATH"]
        if code is None:
            # The first process of a namespace cannot kill itself: the kernel ignores it.
            assert module.get("/ok").status == 200
            return
        module.failure()
        assert module.exits == [code]


def test_a_fork_while_it_loads_makes_no_second_server() -> None:
    with _hostile("os.fork()") as module:  # type: ignore[attr-defined]
        pids = {module.get("/ok").json()["pid"] for _ in range(10)}
        assert pids == {1}


def test_code_that_hangs_while_it_loads_is_never_ready() -> None:
    with _hostile("time.sleep(600)") as module, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:  # type: ignore[attr-defined]
        said.bind(str(module.folder / "notify"))
        said.settimeout(1)
        module.environment["NOTIFY_SOCKET"] = str(module.folder / "notify")
        asking = threading.Thread(target=_ask, args=(module,))
        asking.start()
        with pytest.raises(TimeoutError):
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
        said.settimeout(1)
        while _hears(said):
            pass
        module.process.kill()
        asking.join(DEADLINE)


def test_a_module_that_ignores_signals_ends_with_its_box() -> None:
    ignoring = "threading.Timer(0, lambda: None).start()\nsignal.signal = lambda *a: None\n"
    module = HOSTILE.format(at_load=ignoring).replace(
        'return {"pid": os.getpid()}', 'signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); return {"pid": 1}'
    )
    with hosted("hostile", module, box=True) as running:
        assert running.get("/ok").status == 200
        assert running.process is not None
        running.process.kill()
        wait_until(lambda: len(running.exits) == 1, "the box ends")


def test_garbage_and_floods_are_survived() -> None:
    with _hostile() as module:  # type: ignore[attr-defined]
        assert module.get("/garbage").status >= 500
        assert module.get("/flood").json() == {}
        assert module.get("/ok").status == 200
