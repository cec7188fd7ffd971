"""Stand-in for the agent's program, started by the SDK: joins its own streams with a runner's socket."""

import itertools
import os
import socket
import sys
import threading
from contextlib import suppress

if not __package__:  # started by path, with -IS, to save the start-up time of the site module
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from parachute_runner import protocol

_TEXT_OPTIONS = {"--system-prompt", "--append-system-prompt"}
_FILE_OPTIONS = {"--system-prompt-file", "--append-system-prompt-file"}
_JSON_OPTIONS = {"--mcp-config", "--settings"}  # take JSON or the path of a file with it


def header() -> protocol.Header:
    """The header for this process's own arguments and environment; texts leave the command line, where `ps` shows them."""
    arguments = sys.argv[1:]
    files: dict[int, str] = {}
    for index, (option, value) in enumerate(itertools.pairwise(arguments), start=1):
        if option in _FILE_OPTIONS or (option in _JSON_OPTIONS and not value.lstrip().startswith("{")):
            with open(value, encoding="utf-8") as file:
                files[index] = file.read()
        elif option in _JSON_OPTIONS:
            files[index] = value
        elif option in _TEXT_OPTIONS and value:
            files[index] = value
            arguments[index - 1] = f"{option}-file"
    for index in files:
        arguments[index] = ""
    return protocol.Header(
        arguments=arguments,
        environment={name: os.environ[name] for name in protocol.ENVIRONMENT if name in os.environ},
        directory=os.environ["PARACHUTE_AGENT_DIRECTORY"],
        files=files,
    )


def forward_input(connection: socket.socket) -> None:
    """Copy standard input until its end, then close the sending half so that the agent sees the end too."""
    with suppress(OSError):  # the runner has gone: the other direction reports why
        while data := os.read(0, 65536):
            connection.sendall(data)
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)


def main() -> int:
    """Run until the agent's process ends; its exit status is ours, 70 when the connection broke."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(os.environ["PARACHUTE_AGENT_SOCKET"])
        protocol.send_header(connection, header())
    except (OSError, UnicodeError) as error:
        print(f"The sandbox does not answer: {error}", file=sys.stderr)
        return 69
    threading.Thread(target=forward_input, args=(connection,), daemon=True).start()
    outputs = {protocol.STDOUT: 1, protocol.STDERR: 2}
    while True:
        try:
            kind, payload = protocol.receive_frame(connection)
            if kind == protocol.EXIT:
                return int(payload) & 0xFF
        except (protocol.ProtocolError, OSError, ValueError) as error:
            print(f"The sandbox ended: {error}", file=sys.stderr)
            return 70
        view = memoryview(payload)
        try:
            while view:
                view = view[os.write(outputs[kind], view) :]
        except OSError:  # nobody reads us any more
            return 0


if __name__ == "__main__":
    # os._exit: the input thread may sit in a read that nothing will ever end.
    os._exit(main())
