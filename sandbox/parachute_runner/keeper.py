"""The owner of one agent process: it carries its streams, and sees to it that nothing it started outlives the connection."""

import contextlib
import ctypes
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from parachute_runner import protocol

FLUSH_SECONDS = 5.0
"""Time that an agent has between the end of its input and its end, to write its transcript (the SDK waits as long)."""

MAXIMUM_STDERR = 256 * 1024
"""Bytes of standard error that are passed on; the rest is read and thrown away, so that a full pipe never stops the agent."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Keeper:
    """Runs one agent for one connection; use `run` in a process of its own, which becomes the reaper of all it starts."""

    def __init__(
        self, connection: socket.socket, program: list[str], base: dict[str, str], owns_namespace: bool
    ) -> None:
        self._connection = connection
        self._program = program
        self._base = base
        self._owns_namespace = owns_namespace
        self._send_lock = threading.Lock()
        self._stderr_left = MAXIMUM_STDERR

    def run(self) -> None:
        """Start the agent, carry its streams, end everything, report its exit status."""
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        files = tempfile.mkdtemp(prefix="agent-")
        try:
            code = self._run(files)
        except (OSError, protocol.ProtocolError) as error:
            self._send(protocol.STDERR, f"The agent could not be started: {error}\n".encode())
            code = 127
        finally:
            self._end_all()
            shutil.rmtree(files, ignore_errors=True)
        self._send(protocol.EXIT, str(code).encode())
        self._connection.close()

    def _run(self, files: str) -> int:
        header = protocol.receive_header(self._connection)
        arguments = list(header.arguments)
        for index, text in header.files.items():
            arguments[index] = os.path.join(files, f"argument-{index}")
            with open(arguments[index], "w", encoding="utf-8") as file:
                file.write(text)
        passed = {name: value for name, value in header.environment.items() if name in protocol.ENVIRONMENT}
        agent = subprocess.Popen(
            [*self._program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=header.directory,
            env={**self._base, **passed, "PWD": header.directory},
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        assert agent.stdout is not None
        assert agent.stderr is not None
        pumps = [
            threading.Thread(target=self._pump, args=(agent.stdout.fileno(), protocol.STDOUT), daemon=True),
            threading.Thread(target=self._pump, args=(agent.stderr.fileno(), protocol.STDERR), daemon=True),
        ]
        for pump in pumps:
            pump.start()
        threading.Thread(target=self._carry_input, args=(agent,), daemon=True).start()
        code = agent.wait()
        # A grandchild may hold the pipes open for ever: end it first, then read what is left in them.
        self._end_all()
        for pump in pumps:
            pump.join()
        return 128 - code if code < 0 else code

    def _pump(self, descriptor: int, kind: bytes) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(descriptor, 65536):
                if kind == protocol.STDERR:
                    data = data[: self._stderr_left]
                    self._stderr_left -= len(data)
                if data and not self._send(kind, data):
                    return

    def _carry_input(self, agent: subprocess.Popen[bytes]) -> None:
        assert agent.stdin is not None
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        while True:
            events = poll.poll()[0][1]
            data = self._connection.recv(65536) if events & select.POLLIN else b""
            if not data:
                break
            try:
                agent.stdin.write(data)
                agent.stdin.flush()
            except OSError:  # the agent has ended or closed its input; go on, to notice when the peer leaves
                continue
        with contextlib.suppress(OSError):
            agent.stdin.close()
        # The peer closed its sending half. POLLHUP means that it has gone altogether: then nobody waits for the transcript.
        deadline = time.monotonic() + FLUSH_SECONDS
        poll.modify(self._connection, 0)
        while agent.poll() is None and (left := deadline - time.monotonic()) > 0:
            if poll.poll(min(left, 0.1) * 1000):
                break
        self._kill_all()

    def _send(self, kind: bytes, payload: bytes) -> bool:
        with self._send_lock:
            try:
                self._connection.sendall(protocol.frame(kind, payload))
            except OSError:  # the peer has gone; _carry_input ends the agent
                return False
        return True

    def _end_all(self) -> None:
        """End every process below this one, also those that left their session or their parent, and reap them."""
        while True:
            self._kill_all()
            try:
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            except ChildProcessError:
                return
            time.sleep(0.005)

    def _kill_all(self) -> None:
        if self._owns_namespace:
            # In a PID namespace this reaches all but its first process and ourselves, in one step: no fork escapes it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            return
        for process in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _end_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def children(process: int) -> list[int]:
    """Process ids of the living children of a process, from /proc; empty where there is no /proc."""
    return _family().get(process, [])


def descendants(root: int) -> list[int]:
    """Process ids of all living processes below `root`, from /proc; empty where there is no /proc."""
    family = _family()
    found: list[int] = []
    pending = [root]
    while pending:
        below = family.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _family() -> dict[int, list[int]]:
    """Every living process under its parent."""
    family: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return family
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rsplit(b")", 1)[1].split()[:2]
        except (OSError, IndexError, ValueError):  # it has just ended
            continue
        if state != b"Z":
            family.setdefault(int(parent), []).append(int(name))
    return family
