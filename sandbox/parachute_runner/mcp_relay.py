"""The relay, first process in the sandbox of an MCP server: it joins one connection of its socket with the standard streams of a program.

    mcp_relay.py --start DESCRIPTOR [--memory BYTES] [--processes N]

The listening socket is file descriptor 3; what to run, with its variables, is JSON in the descriptor of `--start`. There is
one connection and one program: when either ends, everything does. The exit status is 0 if the connection ended first.
"""

import argparse
import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from typing import IO

if not __package__:  # started by path, with -IS, inside a sandbox that has no installed packages
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from parachute_runner import calls, processes

_LISTEN_FD = 3
_CHUNK = 65536
_FAREWELL_SECONDS = 2.0


def main() -> None:
    """Take the connection, run the program, and end with either of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", type=int, required=True)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--processes", type=int)
    options = parser.parse_args()
    if os.environ.get("LISTEN_FDS") != "1":
        sys.exit("The relay is started by its socket: LISTEN_FDS=1 and a listening socket as file descriptor 3.")
    processes.hide()
    with os.fdopen(options.start) as file:
        start = json.load(file)
    # Whatever else was open would be a way out of the sandbox.
    os.closerange(_LISTEN_FD + 1, os.sysconf("SC_OPEN_MAX"))
    for limit, value in ((resource.RLIMIT_DATA, options.memory), (resource.RLIMIT_NPROC, options.processes)):
        if value:
            resource.setrlimit(limit, (value, value))
    try:
        calls.refuse()
    except calls.Unfiltered as error:
        sys.exit(f"This sandbox cannot be closed: {error}.")
    listener = socket.socket(fileno=_LISTEN_FD)
    listener.setblocking(True)
    connection, _ = listener.accept()
    listener.close()
    status = _serve(connection, start["command"], start["environment"])
    processes.end_all(whole_namespace=os.getpid() == 1)
    os._exit(status)


def _serve(connection: socket.socket, command: list[str], environment: dict[str, str]) -> int:
    try:
        program = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            executable=_found(command[0], environment.get("PATH", "")),
        )
    except OSError as error:
        print(f"The program {command[0]} cannot be started: {error.strerror}.", file=sys.stderr, flush=True)
        return 1
    assert program.stdin is not None
    assert program.stdout is not None
    left = threading.Event()
    for target, arguments in ((_carry_in, (connection, program, program.stdin, left)), (_end_the_rest, (program,))):
        threading.Thread(target=target, args=arguments, daemon=True).start()
    with contextlib.suppress(OSError):  # the other side has left
        while data := program.stdout.read(_CHUNK):
            connection.sendall(data)
    has_left = left.is_set()
    try:
        status = program.wait(_FAREWELL_SECONDS)
    except subprocess.TimeoutExpired:
        program.kill()
        status = program.wait()
    if has_left:
        return 0
    print(f"The program ended by itself, with status {status}.", file=sys.stderr, flush=True)
    return 1 if status else 0


def _carry_in(
    connection: socket.socket, program: "subprocess.Popen[bytes]", stdin: IO[bytes], left: threading.Event
) -> None:
    with contextlib.suppress(OSError):  # the program has ended
        while data := connection.recv(_CHUNK):
            view = memoryview(data)
            while view:
                view = view[stdin.write(view) :]
        left.set()
        stdin.close()
        # It may end by itself now, and is given a moment for it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(_FAREWELL_SECONDS)
        program.kill()


def _end_the_rest(program: "subprocess.Popen[bytes]") -> None:
    # What the program leaves behind would hold its output open.
    program.wait()
    processes.kill_all(whole_namespace=os.getpid() == 1)


def _found(program: str, path: str) -> str:
    """The path of the program; a name alone is searched for in the program's own PATH, not in ours."""
    if "/" in program:
        return program
    for folder in path.split(":"):
        candidate = os.path.join(folder, program)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return program


if __name__ == "__main__":
    main()
