"""Resources of a hostile module are limited, and the computer that runs it goes on."""

import asyncio
import http.client
import os
from typing import Any

import psutil
import pytest

from parachute.modules.host_process.limits import LARGEST_FILE
from parachute.supervisor.logs import LIMIT, older, shorten
from tests.conftest import needs_bubblewrap
from tests.modules.host_process.launched import LaunchedModule, launched, open_unit
from tests.support.waiting import still_running

pytestmark = [needs_bubblewrap, pytest.mark.long]

FLOOD = 16_000_000

HOSTILE = """
import os, signal, subprocess, sys, threading, time
from parachute.core import Module, route

leaked = []

class Hostile(Module):
    name = "hostile"
    version = "1.0.0"

    @route("GET", "/ok")
    async def ok(self):
        return {"pid": os.getpid()}

    @route("GET", "/flood")
    async def flood(self):
        written = 0
        try:
            while written < 16_000_000:
                written += os.write(1, b"x" * 99 + b"\\n")
        except OSError as error:
            return {"written": written, "error": error.strerror}
        return {"written": written}

    @route("GET", "/leak/{least}")
    async def leak(self, least: int):
        piece = 1 << 20
        while True:
            try:
                leaked.append(bytearray(piece))
            except MemoryError:
                if piece <= least:
                    raise
                piece //= 16

    @route("GET", "/fork")
    async def fork(self):
        count = 0
        while count < 200:
            try:
                if os.fork() == 0:
                    time.sleep(600)
                    os._exit(0)
            except OSError as error:
                return {"count": count, "error": error.strerror}
            count += 1
        return {"count": count}

    @route("GET", "/giant")
    async def giant(self):
        found = []
        with open("giant", "wb", buffering=0) as file:
            for attempt in (lambda: file.truncate(2 << 30), lambda: os.posix_fallocate(file.fileno(), 0, 2 << 30)):
                try:
                    attempt()
                    found.append("done")
                except OSError as error:
                    found.append(error.strerror)
            file.seek((1 << 30) - 10)
            found.append(file.write(b"x" * 100))
            try:
                file.write(b"x")
            except OSError as error:
                found.append(error.strerror)
        return found

    @route("GET", "/ignore")
    async def ignore(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        return {}
"""


async def ask(module: LaunchedModule, path: str) -> Any:
    """Return the module's answer, as JSON."""
    return (await asyncio.to_thread(module.get, path)).json()


async def tried(module: LaunchedModule, path: str) -> int:
    """The status of an answer, 0 if there is none."""
    try:
        return (await asyncio.to_thread(module.get, path)).status
    except (OSError, http.client.HTTPException):
        return 0


@pytest.mark.parametrize(
    ("least", "watchdog"),
    [
        (1 << 16, None),  # nothing is left for the server to read a request with
        (1 << 20, 3),  # the server goes on, and only the module fails
    ],
)
async def test_a_module_that_leaks_is_started_anew_and_its_neighbour_is_not(least: int, watchdog: float | None) -> None:
    with launched("hostile", HOSTILE) as module:
        await open_unit(module, watchdog_seconds=watchdog)
        await module.launcher.open("neighbour", "/bin/sleep", "600", on_demand=False)
        before = await module.launcher.unit("neighbour")
        assert await ask(module, "/ok") == {"pid": 1}
        first = await module.launcher.unit(module.unit)
        assert first["restarts"] == 0, module.log.read_text()
        await tried(module, f"/leak/{least}")
        async with asyncio.timeout(60):
            while (unit := await module.launcher.unit(module.unit))["restarts"] == 0:
                await (tried(module, "/ok") if watchdog is None else asyncio.sleep(0.01))
        assert unit["process"] != first["process"]
        assert await ask(module, "/ok") == {"pid": 1}
        assert "has used up its memory" in module.log.read_text()
        after = await module.launcher.unit("neighbour")
        assert (after["process"], after["state"]) == (before["process"], "running")


async def test_a_log_that_is_flooded_has_an_end_and_is_written_on_when_it_was_shortened() -> None:
    with launched("hostile", HOSTILE) as module:
        await open_unit(module)
        assert await ask(module, "/ok") == {"pid": 1}
        os.truncate(module.log, LARGEST_FILE - (1 << 20))  # as if it had been flooded for a while
        assert await ask(module, "/flood") == {"written": 1 << 20, "error": "File too large"}
        assert module.log.stat().st_size == LARGEST_FILE
        assert await ask(module, "/ok") == {"pid": 1}
        shorten(module.log)
        assert module.log.stat().st_size + older(module.log).stat().st_size < LIMIT
        assert await ask(module, "/flood") == {"written": FLOOD}


async def test_no_file_of_a_module_is_larger_than_allowed() -> None:
    with launched("hostile", HOSTILE) as module:
        await open_unit(module)
        assert await ask(module, "/giant") == ["File too large", "File too large", 10, "File too large"]
        assert (module.data / "giant").stat().st_size == LARGEST_FILE


async def test_a_module_that_forks_has_a_limit_and_leaves_nothing() -> None:
    with launched("hostile", HOSTILE, pids=20) as module:
        await open_unit(module)
        answer = await ask(module, "/fork")
        sandbox = await module.process()
        family = sandbox.children(recursive=True)
        forked = [process for process in family if process.rlimit(psutil.RLIMIT_NPROC) == (20, 20)]
        assert len(forked) == 1 + answer["count"]
        if os.getuid():  # root's processes are not counted
            assert answer["count"] < 20
            assert answer["error"] == "Resource temporarily unavailable"
        await module.launcher.ask("stop_unit", name=module.unit)
        assert not still_running([sandbox, *family])


async def test_a_module_that_ignores_being_told_to_end_is_ended() -> None:
    with launched("hostile", HOSTILE) as module:
        await open_unit(module, stop_seconds=0.5)
        assert await ask(module, "/ignore") == {}
        sandbox = await module.process()
        family = [sandbox, *sandbox.children(recursive=True)]
        assert len(family) > 2
        await module.launcher.ask("stop_unit", name=module.unit)
        assert (await module.launcher.unit(module.unit))["state"] == "stopped"
        assert not still_running(family)
