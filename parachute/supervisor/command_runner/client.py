"""The client of the command runner: `client.py SOCKET leaves|ends PROGRAM [ARGUMENT...]`, started in place of a program.

It passes its streams to the unit `programs`, which starts the program, and exits as the program does.
"""

import array
import json
import os
import resource
import socket
import struct
import sys

_UNREACHABLE = 69
_NOT_PASSED = {
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "NOTIFY_SOCKET",
    "PARACHUTE_PROGRAMS",
}  # of this process alone


def main() -> int:
    """The exit code of the program, 69 when nobody starts it."""
    address, how, *command = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED}
    header = {
        "command": command,
        "environment": environment,
        "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes longer to load than all else
        "file_bytes": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
        "leaves": how == "leaves",
    }
    body = json.dumps(header).encode()
    streams = array.array("i", (0, 1, 2))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(address)
            connection.sendmsg([struct.pack("!I", len(body))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
            connection.sendall(body)
            answer, reason = connection.recv(4), "it ended"
        except OSError as error:
            answer, reason = b"", error.strerror or "it ended"
    if not answer.isdigit():
        sys.stderr.write(f"The command runner does not answer: {reason}\n")
        sys.stderr.flush()
        return _UNREACHABLE
    return int(answer)


if __name__ == "__main__":
    os._exit(main())
