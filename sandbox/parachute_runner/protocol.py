"""The protocol between wrapper and runner on one stream socket, one agent process a connection.

The wrapper sends a header (4 bytes of length, then JSON) and after it the raw bytes of standard input; closing its sending
half is the end of input. The runner answers in frames: one byte of kind, 4 bytes of length, payload.

A header of no length asks for an inspection (`inspection.py`) or a file (`reading.py`), which starts and ends no agent.
"""

import json
import socket
import struct

TYPE_CHECKING = False  # that of `typing`, whose import takes longer than all of this
if TYPE_CHECKING:
    from typing import Any

MAXIMUM_HEADER = 16 * 1024 * 1024
"""Bytes of a header; the system prompt travels in it."""

MAXIMUM_FRAME = 1024 * 1024
"""Bytes of a frame's payload: what a sandbox says is not believed, and must not fill the memory outside."""

STDOUT, STDERR, EXIT = b"o", b"e", b"x"

ENVIRONMENT = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_UNIX_SOCKET",
        "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS",
        "CLAUDE_AGENT_SDK_VERSION",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK",
        "CLAUDE_CODE_ENABLE_TASKS",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE",
        "CLAUDE_CONFIG_DIR",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_TELEMETRY",
        "ENABLE_TOOL_SEARCH",
        "LANG",
        "TZ",
    }
)
"""Variables that may pass from the server into the agent's process; both ends drop every other one."""

_LENGTH = struct.Struct("!I")
INSPECTION = _LENGTH.pack(0)
"""The first bytes of a connection that asks for an inspection."""

_FRAME = struct.Struct("!cI")


class Header:
    """The start of an agent: arguments (without the program), environment, working directory, and private arguments.

    `files` maps the index of an argument to a text: the runner puts it into a file and the file's path in its place.
    """

    __slots__ = ("arguments", "directory", "environment", "files")

    def __init__(
        self, arguments: list[str], environment: dict[str, str], directory: str, files: dict[int, str]
    ) -> None:
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.files = files


class ProtocolError(Exception):
    """The other side said something that this protocol does not know."""


def send_header(connection: socket.socket, header: Header) -> None:
    """Send the first message of a connection."""
    body = json.dumps({name: getattr(header, name) for name in Header.__slots__}).encode()
    connection.sendall(_LENGTH.pack(len(body)) + body)


def receive_header(connection: socket.socket) -> Header:
    """Read the first message of a connection; error: ProtocolError."""
    (length,) = _LENGTH.unpack(receive_exactly(connection, _LENGTH.size))
    if length > MAXIMUM_HEADER:
        raise ProtocolError(f"a header of {length} bytes is too long")
    try:
        value = json.loads(receive_exactly(connection, length))
        header = Header(
            arguments=[str(argument) for argument in value["arguments"]],
            environment={str(name): str(text) for name, text in value["environment"].items()},
            directory=str(value["directory"]),
            files={int(index): str(text) for index, text in value["files"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProtocolError(f"the header cannot be read: {error}") from error
    if any(not 0 <= index < len(header.arguments) for index in header.files):
        raise ProtocolError("a file names an argument that does not exist")
    return header


def send_inspection(connection: socket.socket, request: object) -> None:
    """Ask for an inspection, with what is to be tried."""
    body = json.dumps(request).encode()
    connection.sendall(INSPECTION + _LENGTH.pack(len(body)) + body)


def receive_inspection(connection: socket.socket) -> "Any":
    """Read what is to be tried; error: ProtocolError."""
    receive_exactly(connection, len(INSPECTION))
    (length,) = _LENGTH.unpack(receive_exactly(connection, _LENGTH.size))
    if length > MAXIMUM_FRAME:
        raise ProtocolError(f"a request of {length} bytes is too long")
    try:
        return json.loads(receive_exactly(connection, length))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the request cannot be read: {error}") from error


def frame(kind: bytes, payload: bytes) -> bytes:
    """One frame, ready to send."""
    return _FRAME.pack(kind, len(payload)) + payload


def receive_frame(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read one frame as (kind, payload); error: ProtocolError, also at the end of the stream."""
    kind, length = _FRAME.unpack(receive_exactly(connection, _FRAME.size))
    if kind not in (STDOUT, STDERR, EXIT) or length > MAXIMUM_FRAME:
        raise ProtocolError("a frame cannot be read")
    return kind, receive_exactly(connection, length)


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    """Read `size` bytes; error: ProtocolError if the stream ends before."""
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1024 * 1024))
        if not part:
            raise ProtocolError("the connection ended")
        parts += part
    return bytes(parts)
