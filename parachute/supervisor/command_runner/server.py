"""The unit `programs`: it starts programs for core, which itself is held back, and ends them when core has no use for them.

    server.py FOLDER SECONDS

FOLDER holds the package parachute_runner; after so many idle seconds it ends. The listening socket is file descriptor 3. A
connection is one program: 4 bytes of length with the three standard streams, then JSON; the answer is the exit code as
text, and whoever closes the connection ends the program.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
from typing import Any

if not __package__:  # started by path, with -IS, to stay small
    sys.path.insert(0, sys.argv[1])
from parachute_runner import processes

_LISTEN_FD = 3
_STREAMS = 3
_LARGEST_HEADER = 4 << 20  # of which the environment is the most
_CANNOT, _NOT_FOUND = 126, 127


def serve(listener: socket.socket, idle_seconds: float) -> None:
    """Give each connection a process of its own; returns when there has been none for so long."""
    running: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wake, waking = os.pipe()
    for descriptor in (wake, waking):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        events = dict(poll.poll(None if running else idle_seconds * 1000))
        if not events and not running:
            return
        if wake in events:
            os.read(wake, 4096)
            running -= _ended()
        if listener.fileno() in events:
            connection, _ = listener.accept()
            # Without room for one more process only this connection ends, and not with us all that runs.
            with connection, contextlib.suppress(OSError):
                process = os.fork()
                if process == 0:
                    _own(connection, listener)
                running.add(process)


def _ended() -> set[int]:
    found: set[int] = set()
    try:
        while (process := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            found.add(process)
    except ChildProcessError:
        pass
    return found


def _own(connection: socket.socket, listener: socket.socket) -> None:
    """Be the owner of one program, in a process that ends here."""
    try:
        listener.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        processes.end_with_parent()
        code = _run(connection)
        connection.sendall(str(code).encode())
    finally:
        os._exit(0)


def _run(connection: socket.socket) -> int:
    start, descriptors, _, _ = socket.recv_fds(connection, 4, _STREAMS)
    (length,) = struct.unpack("!I", start)
    if length > _LARGEST_HEADER or len(descriptors) != _STREAMS:
        return _CANNOT
    header: dict[str, Any] = json.loads(_exactly(connection, length))
    if not header["leaves"]:
        processes.adopt_orphans()

    def prepare() -> None:
        processes.end_with_parent()
        if (size := header["file_bytes"]) != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    try:
        program = subprocess.Popen(
            header["command"],
            stdin=descriptors[0],
            stdout=descriptors[1],
            stderr=descriptors[2],
            cwd=header["folder"],
            env=header["environment"],
            start_new_session=True,
            # Python ignores SIGXFSZ, and so does it: a write that is too large fails with a message then.
            restore_signals=False,
            preexec_fn=prepare,
        )
    except (OSError, subprocess.SubprocessError) as error:
        if isinstance(error, FileNotFoundError) and error.filename == header["command"][0]:
            return _NOT_FOUND
        os.write(descriptors[2], f"Cannot start: {error}\n".encode())
        return _CANNOT
    for descriptor in descriptors:
        os.close(descriptor)
    ending = os.pidfd_open(program.pid)
    poll = select.poll()
    poll.register(ending, select.POLLIN)
    # It has nothing more to say: what comes is its end.
    poll.register(connection, select.POLLIN)
    has_ended = ending in dict(poll.poll())
    if not has_ended:
        program.kill()
    code = program.wait()
    if not header["leaves"]:
        processes.end_all(whole_namespace=False)
    return 128 - code if code < 0 else code


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            raise ConnectionError
        parts += part
    return bytes(parts)


def main() -> None:
    """Take the socket and serve."""
    if os.environ.get("LISTEN_FDS") != "1":
        sys.exit("It is started by its socket: LISTEN_FDS=1 and a listening socket as file descriptor 3.")
    listener = socket.socket(fileno=_LISTEN_FD)
    listener.set_inheritable(False)
    serve(listener, float(sys.argv[2]))


if __name__ == "__main__":
    main()
