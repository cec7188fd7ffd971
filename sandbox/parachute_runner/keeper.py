"""The owner of one agent process: it carries its streams, and sees to it that nothing it started outlives the connection."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import threading
import time

from parachute_runner import checks, processes, protocol

FLUSH_SECONDS = 5.0
"""Time that an agent has between the end of its input and its end, to write its transcript (the SDK waits as long)."""

MAXIMUM_STDERR = 256 * 1024
"""Bytes of standard error that are passed on; the rest is read and thrown away, so that a full pipe never stops the agent."""

_CHUNK = 65536


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
        self.out_of_memory = False

    def run(self) -> None:
        """Start the agent, carry its streams, end everything, report its exit status.

        `out_of_memory` is then True if the system ended the agent because the memory of its sandbox was full.
        """
        processes.adopt_orphans()
        files = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"agent-{os.urandom(8).hex()}")
        os.mkdir(files, mode=0o700)
        try:
            code = self._run(files)
        except (OSError, ValueError, protocol.ProtocolError) as error:
            self._send(protocol.STDERR, f"The agent could not be started: {error}\n".encode())
            code = 127
        finally:
            processes.end_all(self._owns_namespace)
            _remove(files)
        self._send(protocol.EXIT, str(code).encode())
        self._connection.close()

    def _run(self, files: str) -> int:
        header = protocol.receive_header(self._connection)
        arguments = list(header.arguments)
        for index, text in header.files.items():
            arguments[index] = os.path.join(files, f"argument-{index}")
            with open(arguments[index], "w", encoding="utf-8") as file:
                file.write(text)
        before = checks.ended_for_memory()
        passed = {name: value for name, value in header.environment.items() if name in protocol.ENVIRONMENT}
        agent = subprocess.Popen(
            [*self._program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=header.directory,
            env={**self._base, **passed, "PWD": header.directory},
            start_new_session=True,
            preexec_fn=processes.end_with_parent,
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
        self.out_of_memory = code == -signal.SIGKILL and checks.ended_for_memory() > before
        # A grandchild may hold the pipes open for ever: end it first, then read what is left in them.
        ended = processes.end_all(self._owns_namespace)
        for pump in pumps:
            pump.join(None if ended else 1)
        if self.out_of_memory:
            self._send(protocol.STDERR, b"The agent needed more memory than its sandbox may use, and was ended.\n")
        return 128 - code if code < 0 else code

    def _pump(self, descriptor: int, kind: bytes) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(descriptor, _CHUNK):
                if kind == protocol.STDERR:
                    data = data[: self._stderr_left]
                    self._stderr_left -= len(data)
                if data and not self._send(kind, data):
                    return

    def _carry_input(self, agent: subprocess.Popen[bytes]) -> None:
        assert agent.stdin is not None
        with contextlib.suppress(OSError):  # a peer that leaves answers unread is reported as a reset
            self._forward(agent.stdin.fileno())
        with contextlib.suppress(OSError):
            agent.stdin.close()
        # The peer closed its sending half. POLLHUP means that it has gone altogether: then nobody waits for the transcript.
        poll = select.poll()
        poll.register(self._connection, 0)
        deadline = time.monotonic() + FLUSH_SECONDS
        while agent.poll() is None and (left := deadline - time.monotonic()) > 0:
            if poll.poll(min(left, 0.1) * 1000):
                break
        processes.kill_all(self._owns_namespace)
        with contextlib.suppress(ProcessLookupError):  # where there is no /proc to find the others in
            agent.send_signal(signal.SIGKILL)

    def _forward(self, stdin: int) -> None:
        """Carry the peer's bytes to the agent until the peer has no more or has gone.

        Never waits for the agent alone: an agent that reads nothing must not hide from us that the peer has gone.
        """
        os.set_blocking(stdin, False)
        reading, writing = select.poll(), select.poll()
        reading.register(self._connection, select.POLLIN)
        writing.register(self._connection, 0)
        writing.register(stdin, select.POLLOUT)
        connection = self._connection.fileno()
        pending = memoryview(b"")
        open_input = True
        while True:
            events = dict((writing if pending else reading).poll())
            if events.get(connection, 0) & select.POLLHUP:
                return
            if pending:
                try:
                    pending = pending[os.write(stdin, pending) :]
                except BlockingIOError:
                    continue
                except OSError:  # the agent has ended or closed its input; go on, to notice when the peer leaves
                    pending, open_input = memoryview(b""), False
            elif data := self._connection.recv(_CHUNK):
                pending = memoryview(data if open_input else b"")
            else:
                return

    def _send(self, kind: bytes, payload: bytes) -> bool:
        with self._send_lock:
            try:
                self._connection.sendall(protocol.frame(kind, payload))
            except OSError:  # the peer has gone; _carry_input ends the agent
                return False
        return True


def _remove(folder: str) -> None:
    import shutil  # now nobody waits for it

    shutil.rmtree(folder, ignore_errors=True)
