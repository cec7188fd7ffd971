"""Processes that run the command and start quickly: forked from one that has imported what others have written.

Nothing of our own is imported before the fork, so that every command still imports and finds everything by itself.
"""

import atexit
import functools
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

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
    with socket.socket(fileno=descriptor) as connection, connection.makefile("r") as lines:
        connection.set_inheritable(False)
        for line in lines:
            child = os.fork()
            if child == 0:
                _become(json.loads(line))
            _, status = os.waitpid(child, 0)
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(request: dict[str, Any]) -> None:
    code: object = 1
    try:
        for number, name in enumerate(STREAMS):
            opened = os.open(f"{request['place']}/{name}", os.O_RDWR)
            os.dup2(opened, number)
            os.close(opened)
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
