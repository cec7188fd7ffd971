"""Host's end of the serial line, which asks the agent in the guest, from any number of threads."""

import base64
import json
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_GRACE_SECONDS = 60
_WINDOW = 2048  # bytes that may be on their way: the guest's terminal takes no more than 4096


class Silence(Exception):
    """Nothing came back from the guest."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command; without a code it was ended at its time limit."""

    code: int | None
    stdout: bytes
    stderr: bytes


class SerialLine:
    """A pair of connected sockets, one of which becomes the guest's serial line; `agent.py` has the protocol.

    `console` gives what the guest has printed, which says why it has ended.
    """

    def __init__(self, console: Callable[[], str]) -> None:
        self._console = console
        self._own, self.guests = socket.socketpair()
        self._answered = threading.Condition()
        self._sending = threading.Lock()
        self._waiting: set[int] = set()
        self._answers: dict[int, Answer] = {}
        self._ended = False
        self._last = 0
        self._sent = self._taken = 0
        self._reader = threading.Thread(target=self._read, name="serial line", daemon=True)
        self._reader.start()

    def listens(self, seconds: float) -> bool:
        """True when the agent answers within so many seconds."""
        with self._answered:
            self._answered.wait_for(lambda: 0 in self._answers or self._ended, seconds)
            return 0 in self._answers

    def ask(self, command: list[str], seconds: float) -> Answer:
        """Run a command in the guest; raises Silence if the guest has ended or no longer answers."""
        with self._answered:
            self._last += 1
            number = self._last
            self._waiting.add(number)
        request = json.dumps({"id": number, "command": command, "seconds": seconds}) + "\n"
        self._send(request.encode())
        with self._answered:
            self._answered.wait_for(lambda: number in self._answers or self._ended, seconds + _GRACE_SECONDS)
            self._waiting.discard(number)
            answer = self._answers.pop(number, None)
        if answer is None:
            what = "has ended" if self._ended else "does not answer"
            raise Silence(f"The guest {what}.\n--- console\n{self._console()}")
        return answer

    def close(self) -> None:
        """End it; whoever waits gets Silence."""
        if self._own.fileno() < 0:
            return  # the guest was ended before
        self.guests.close()
        # The reader has the descriptor in a call: it is woken first, or it would read from whatever gets that number next.
        self._own.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._own.close()

    def _send(self, request: bytes) -> None:
        with self._sending:
            while request:
                with self._answered:
                    self._answered.wait_for(lambda: self._sent < self._taken + _WINDOW or self._ended, _GRACE_SECONDS)
                    room = self._taken + _WINDOW - self._sent
                if not room:
                    raise Silence("The guest does not listen.")
                try:
                    self._own.sendall(request[:room])
                except OSError as error:
                    raise Silence("The guest has ended.") from error
                self._sent += len(request[:room])
                request = request[room:]

    def _read(self) -> None:
        pending = b""
        while chunk := self._receive():
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                self._take(line)
        with self._answered:
            self._ended = True
            self._answered.notify_all()

    def _receive(self) -> bytes:
        try:
            return os.read(self._own.fileno(), 1 << 16)
        except OSError:
            return b""  # the guest was killed

    def _take(self, line: bytes) -> None:
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:
            return  # what the terminal echoed before the agent had it
        if "taken" in said:
            with self._answered:
                self._taken = said["taken"]
                self._answered.notify_all()
            return
        answer = Answer(said["code"], base64.b64decode(said["stdout"]), base64.b64decode(said["stderr"]))
        with self._answered:
            if said["id"] == 0 or said["id"] in self._waiting:
                self._answers[said["id"]] = answer
                self._answered.notify_all()
