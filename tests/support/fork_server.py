"""Processes that run the command and start quickly: forked from one that has imported what others have written.

Nothing of our own is imported before the fork, so that every command still imports and finds everything by itself.
"""

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import traceback
from pathlib import Path
from typing import Any

from tests.support.waiting import SECONDS

IMPORTED = ("asyncio", "http.client", "pydantic", "pydantic_settings", "typer.testing", "yaml")
STREAMS = ("stdin", "stdout", "stderr")


class ForkServer:
    """The process that is forked from; one command at a time."""

    def __init__(self) -> None:
        self._start()

    def run(
        self, arguments: tuple[str, ...], environment: dict[str, str], folder: str, stdin: str, seconds: float
    ) -> tuple[int, str, str]:
        """Run a command to its end; returns its exit code and what it wrote. `TimeoutError` if it takes too long."""
        with tempfile.TemporaryDirectory() as place:
            paths = {name: Path(place) / name for name in STREAMS}
            for name, path in paths.items():
                path.write_text(stdin if name == "stdin" else "")
            self._socket.settimeout(seconds)
            request = {"arguments": arguments, "environment": environment, "folder": folder, "place": place}
            try:
                self._socket.sendall(json.dumps(request).encode() + b"\n")
                code = int(self._lines.readline())
            except TimeoutError:
                # Its answer would be taken for that to the next command.
                self._kill()
                self._start()
                raise
            return code, paths["stdout"].read_text(), paths["stderr"].read_text()

    def start(self, arguments: tuple[str, ...], environment: dict[str, str], folder: str, terminal: str) -> "Started":
        """Start a command on a terminal, beside whatever runs."""
        with tempfile.TemporaryDirectory() as place:
            told = Path(place, "told")
            os.mkfifo(told)
            started = Started(os.open(told, os.O_RDONLY | os.O_NONBLOCK))
            request = {"arguments": arguments, "environment": environment, "folder": folder}
            self._socket.sendall(json.dumps({**request, "terminal": terminal, "told": str(told)}).encode() + b"\n")
            self._lines.readline()
            started.process = started.next_number()
            return started

    def close(self) -> None:
        """End it."""
        self._lines.close()
        self._socket.close()
        self._process.wait(60)

    def _start(self) -> None:
        self._socket, other = socket.socketpair()
        with other:
            command = [sys.executable, "-m", __name__, str(other.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[other.fileno()], process_group=0)
        self._lines = self._socket.makefile("r")

    def _kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self.close()


class Started:
    """A command on a terminal; whoever waits for it tells its number and then its exit code."""

    def __init__(self, told: int) -> None:
        self._told = told
        self._unread = b""
        self.process = 0

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        code = self.next_number()
        os.close(self._told)
        return code

    def next_number(self) -> int:
        """Wait for the next line."""
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._told], [], [], SECONDS)
            data = os.read(self._told, 100) if ready else b""
            assert data, "the command does not start or end"
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return int(line)


@functools.cache
def shared_forks() -> ForkServer:
    """The one that all tests of this process share."""
    server = ForkServer()
    atexit.register(server.close)
    return server


def serve(descriptor: int) -> None:
    """Fork for each request until the other side is closed."""
    for name in IMPORTED:
        importlib.import_module(name)
    # A command would look through all of it again each time that it collects garbage.
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as connection, connection.makefile("r") as lines:
        connection.set_inheritable(False)
        for line in lines:
            request = json.loads(line)
            child = os.fork()
            if child == 0:
                if "terminal" in request:
                    _start_on_a_terminal(request)
                _become(request)
            _, status = os.waitpid(child, 0)
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(request: dict[str, Any]) -> None:
    for number, name in enumerate(STREAMS):
        opened = os.open(f"{request['place']}/{name}", os.O_RDWR)
        os.dup2(opened, number)
        os.close(opened)
    _run(request)


def _start_on_a_terminal(request: dict[str, Any]) -> None:
    """Leave a process behind that waits for the command, and end."""
    told = os.open(request["told"], os.O_WRONLY)
    if os.fork() != 0:
        os._exit(0)
    child = os.fork()
    if child == 0:
        os.setsid()
        terminal = os.open(request["terminal"], os.O_RDWR)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(terminal, number)
        os.close(terminal)
        # A shell starts its background jobs with this signal ignored, and the tests may be one of them.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        os.write(told, f"{os.getpid()}\n".encode())
        os.close(told)
        _run(request)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(BrokenPipeError):
        os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _run(request: dict[str, Any]) -> None:
    code: object = 1
    try:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        sys.argv = ["parachute", *request["arguments"]]
        try:
            runpy.run_module("parachute.cli", run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
