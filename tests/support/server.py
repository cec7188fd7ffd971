"""A server in the process of the test: the composition, HTTP and control socket of a computer, started in a tenth of a second.

The programs that it asks for (agents, modules) are real processes, started by a launcher of the tests. A `Computer` is for what
tests the supervisor, a crash, a confinement or a restart.
"""

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psutil
from fastapi import FastAPI

from parachute.base.clock import SYSTEM, Clock
from parachute.base.services import ServiceRegistry
from parachute.config import agent_program
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.server.app import create
from parachute.server.http_server import HttpServer
from parachute.supervisor import control, units
from parachute.supervisor.credentials import VARIABLES, Credentials
from parachute.supervisor.logs import log_path
from parachute.supervisor.service import Supervisor
from tests.support.clock import ManualClock
from tests.support.installation import Installation
from tests.support.noon import around_noon
from tests.support.programs import Programs
from tests.support.scripted_agent.packing import scripted_program
from tests.support.waiting import SECONDS


class _Answering(HttpServer):
    """The server, which tells another thread when it answers."""

    def __init__(self, app: FastAPI, answers: threading.Event, agent: Path | None) -> None:
        super().__init__(app)
        self._answers = answers
        self._agent = agent

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # It asks for the program of agents once, while it starts.
        with _program_of_agents(self._agent):
            await super().startup(sockets)
        if self.started:
            self._answers.set()


_serving: ContextVar[Path] = ContextVar("home of the server that runs this task or thread")


_naming = threading.Lock()
"""Held while the program of agents is named in the environment, which all servers share."""


class _Log(logging.FileHandler):
    """The server's log: of all that this process logs, the records of one server."""

    def __init__(self, home: Home) -> None:
        super().__init__(log_path(home, "core"))
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self.addFilter(lambda _: _serving.get(None) == home.root)


class Server(Installation):
    """A server in a thread, with an event loop of its own; tests ask it as they ask a computer, also from the command line."""

    _thread: threading.Thread | None = None
    _server: _Answering | None = None
    _programs: Programs | None = None
    _failure: BaseException | None = None

    def __init__(
        self,
        *,
        settings: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
        real_agents: bool = False,
    ) -> None:
        # The rest of the environment is that of the test, and would hold for all of its servers.
        assert {*(environment or {})} <= {*VARIABLES}, "A server in the process takes credentials only: use a Computer."
        super().__init__(settings=settings, environment=environment)
        self._agent = None if real_agents else scripted_program()

    def start(self) -> None:
        """Start it and wait until it answers; error: the one that kept it from starting."""
        self._write_settings()
        settled = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(settled,), name=f"server of {self.folder.name}")
        self._thread.start()
        assert settled.wait(SECONDS), "The server did not start."
        if self._server is None or not self._server.started:
            self.stop()
            raise AssertionError("The server did not start.")

    @property
    def services(self) -> ServiceRegistry:
        """The services of the server that runs."""
        assert self._server is not None
        return self._server.services

    def stop(self) -> None:
        """End it and wait for its thread; error: the one that ended it before, or that its end met."""
        if self._thread is None:
            return
        if self._server is not None:
            self._server.should_exit = True
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "The server did not stop."
        self._thread = self._server = None
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    @property
    def programs(self) -> Programs:
        """The launcher of the programs that it asks for."""
        assert self._programs is not None, "The server was not started."
        return self._programs

    def processes(self) -> list[psutil.Process]:
        """The programs that it has started, and every process below them."""
        started = [] if self._programs is None else [each.process for each in self._programs.status() if each.process]
        found = []
        for number in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [program := psutil.Process(number), *program.children(recursive=True)]
        return found

    def _make_clock(self) -> Clock:
        return SYSTEM

    def _make_network(self) -> dict[str, Any]:
        """Make what stands for the name server and the network, `resolve` and `connect`, in place of the system's."""
        return {}

    def _run(self, settled: threading.Event) -> None:
        _serving.set(self.home.root)
        log = _Log(self.home)
        logging.getLogger().addHandler(log)
        try:
            asyncio.run(self._serve(settled))
        except BaseException as error:
            self._failure = error
        finally:
            logging.getLogger().removeHandler(log)
            log.close()
            settled.set()

    async def _serve(self, settled: threading.Event) -> None:
        settings = load(self.home).model_copy(update={"host": self.host, "port": self.port})
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self._programs = programs = Programs(self.home, environment, self._agent)
        supervisor = Supervisor(self.home, programs, units.core(self.host, self.port))
        app = create(self.home, settings, Credentials(self._environment), self._make_clock(), **self._make_network())
        async with await control.serve(self.home, supervisor.handle):
            self._server = _Answering(app, settled, self._agent)
            try:
                await self._server.serve([self._port.dup()])
            finally:
                await programs.close_all()


class TimedServer(Server):
    """A server whose time stands still, around noon, until a test lets it pass."""

    _clock: ManualClock
    _loop: asyncio.AbstractEventLoop

    def advance(self, seconds: float, *names: str) -> None:
        """Let time pass for the tasks of these names, which have to wait for it, as `ManualClock.advance` does."""
        asyncio.run_coroutine_threadsafe(self._clock.advance(seconds, *names), self._loop).result(SECONDS)

    def _make_clock(self) -> Clock:
        self._loop, self._clock = asyncio.get_running_loop(), ManualClock(datetime.now(UTC), ZoneInfo(around_noon()))
        return self._clock


@contextlib.contextmanager
def _program_of_agents(program: Path | None) -> Iterator[None]:
    """Name the program of agents to whatever asks for it here."""
    if program is None:
        yield
        return
    with _naming:
        before = os.environ.get(agent_program.VARIABLE)
        os.environ[agent_program.VARIABLE] = str(program)
        try:
            yield
        finally:
            del os.environ[agent_program.VARIABLE]
            if before is not None:
                os.environ[agent_program.VARIABLE] = before
