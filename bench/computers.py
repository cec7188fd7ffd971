"""Computers to measure: real processes in a folder of their own, with a scripted model."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any, Self

from psutil import Process

from bench.connection import Connection
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text


class MeasuredComputer(Computer):
    """A computer that is waited for without disturbing it, with names for what is measured."""

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    @property
    def supervisor(self) -> Process:
        """The supervisor's process."""
        return self.processes()[0]

    @property
    def core(self) -> Process:
        """Core's process."""
        return self.find_process("parachute.server")

    @property
    def others(self) -> list[Process]:
        """Everything but core and supervisor: sandboxes and the agents in them."""
        core = self.core
        return [process for process in self.processes()[1:] if process != core]

    def connect(self) -> Connection:
        """A connection that is kept open."""
        return Connection(self.port)

    def _answers(self) -> bool:
        # A client with TLS settings costs as much processor time as the start that is measured. The request is sent once: it
        # waits in the supervisor's socket until core takes it.
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


@contextmanager
def scripted_computer(**agents: Any) -> Iterator[tuple[MeasuredComputer, MessagesAPI]]:
    """A running computer and its model, which answers "Hello." until a test scripts another answer; `agents` are settings."""
    with MessagesAPI() as api:
        api.default(text("Hello."))
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-bench", "ANTHROPIC_BASE_URL": api.url}
        settings = {"agents": {"spare": False, **agents}}
        with MeasuredComputer(settings=settings, environment=environment) as computer:
            yield computer, api
