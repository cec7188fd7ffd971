"""Hosts of modules that start quickly: forked from a process that has imported what a host imports, and nothing else."""

import array
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
from collections.abc import Mapping
from typing import Any

PROGRAM = "parachute.modules.host_process"
_IMPORTED = (f"{PROGRAM}.process", "uvicorn.protocols.http.httptools_impl", "uvicorn.loops.asyncio")


class ForkedHost:
    """A host's process; the subset of `subprocess.Popen` that tests use."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = int.from_bytes(self._read(4))
        self.returncode: int | None = None

    def wait(self) -> int:
        """Wait for the end of the process; one thread does."""
        self.returncode = int.from_bytes(self._read(4), signed=True)
        self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, as soon as `wait` knows it."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _read(self, size: int) -> bytes:
        data = self._connection.recv(size, socket.MSG_WAITALL)
        assert len(data) == size, "the process that hosts are forked from has ended"
        return data


def fork_host(name: str, listener: int, log: int, environment: Mapping[str, str]) -> ForkedHost:
    """Start a host with its listening socket; it writes both of its streams to `log`."""
    ours, theirs = socket.socketpair()
    with theirs:
        request = json.dumps({"name": name, "environment": dict(environment)}).encode()
        socket.send_fds(_server(), [request], [listener, log, theirs.fileno()])
    return ForkedHost(ours)


@functools.cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours


def serve(descriptor: int) -> None:
    """Fork a host for each request until the other side is closed."""
    for name in _IMPORTED:
        importlib.import_module(name)
    with socket.socket(fileno=descriptor) as connection:
        while True:
            request, ancillary, *_ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * array.array("i").itemsize))
            if not request:
                _reap()
                return
            descriptors = array.array("i", ancillary[0][2])
            if os.fork() == 0:
                connection.close()
                _watch(json.loads(request), *descriptors)
            for each in descriptors:
                os.close(each)
            _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _watch(request: dict[str, Any], listener: int, log: int, report: int) -> None:
    """Start the host and say its process id, and in the end its exit code."""
    child = os.fork()
    if child == 0:
        os.close(report)
        _become(request, listener, log)
    os.close(listener)
    os.write(report, child.to_bytes(4))
    _, status = os.waitpid(child, 0)
    os.write(report, os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))
    os._exit(0)


def _become(request: dict[str, Any], listener: int, log: int) -> None:
    os.setsid()
    for source, target in ((log, 1), (log, 2), (listener, 3)):
        os.dup2(source, target)
    os.closerange(4, 256)
    os.environ.clear()
    os.environ.update(request["environment"], LISTEN_PID=str(os.getpid()))
    sys.argv = ["host", request["name"]]
    runpy.run_module(PROGRAM, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
