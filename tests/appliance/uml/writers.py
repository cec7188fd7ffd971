"""Clients that write without a pause until the computer is gone, and know what was acknowledged to them."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tests.appliance.agents import Agents
from tests.appliance.uml.serial_line import Silence

_SECONDS = 240

Write = Callable[[int], Any]


class Writer:
    """A context manager with a thread that calls `write` with 1, 2, … until the guest does not answer any more.

    `acknowledged` is what it got for each, None left out, kept on this side of the power cut; an error of a write is raised
    at the end.
    """

    def __init__(self, write: Write, first: int = 1) -> None:
        self.acknowledged: list[Any] = []
        self._write = write
        self._number = first
        self._error: BaseException | None = None
        self._grown = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def wait(self, count: int) -> None:
        """Wait until so many were acknowledged."""
        with self._grown:
            came = self._grown.wait_for(lambda: len(self.acknowledged) >= count or self._error is not None, _SECONDS)
        assert came, f"Only {len(self.acknowledged)} of {count} were acknowledged."
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while True:
                said = self._write(self._number)
                if said is not None:
                    with self._grown:
                        self.acknowledged.append(said)
                        self._grown.notify_all()
                self._number += 1
        except Silence:
            return
        except BaseException as error:
            with self._grown:
                self._error = error
                self._grown.notify_all()


def entries(computer: Agents) -> Write:
    """Writes entries of the journal; gives (id, text)."""

    def write(number: int) -> tuple[str, str]:
        text = f"Entry {number} of the day"
        status, made = computer.ask("/api/daily/entries", {"content": text})
        assert status == 200, made
        return str(made["id"]), text

    return write


def chats(computer: Agents) -> Write:
    """Begins conversations, each with one answer; gives (session, message), and None for one that did not come to its end."""

    def write(number: int) -> tuple[str, str] | None:
        last = computer.events(f"echo chat-{number}")[-1:]
        return (str(last[0]["sessionId"]), f"chat-{number}") if last and last[0]["type"] == "done" else None

    return write


def settings(computer: Agents) -> Write:
    """Changes a setting, and makes a workspace; gives (value, slug)."""

    def write(number: int) -> tuple[float, str]:
        value = 1000.0 + number
        computer.run(f"parachute config set daily_spending_limit {value}")
        status, made = computer.ask("/api/workspaces", {"name": f"Garden {number}"})
        assert status in (200, 201), made
        return value, str(made["workspace"]["slug"])

    return write
