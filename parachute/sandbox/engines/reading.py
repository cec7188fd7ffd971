"""Read a file from inside a sandbox, through its runner, so that the agent's mounts decide access."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

from parachute_runner import protocol, reading

from parachute.base.errors import InvalidInput, NotFound, Unavailable

_SECONDS = 30.0
_LONGEST = 90.0


def read_file(path: Path, folder: str, file: str, limit: int, write: Callable[[bytes], None]) -> int:
    """Give the content of a file below a folder of a sandbox to `write`, piece by piece, and return its size; `path` is its socket.

    Errors: NotFound, InvalidInput for what is no plain file or is too large, Unavailable; whatever was written then is worth
    nothing. Waits; not for the event loop.
    """
    ends, size = time.monotonic() + _LONGEST, 0
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_SECONDS)
            connection.connect(str(path))
            protocol.send_inspection(connection, {"folder": folder, "file": file, "limit": limit})
            while time.monotonic() < ends:
                kind, payload = protocol.receive_frame(connection)
                if kind == protocol.EXIT:
                    return size
                if kind == protocol.STDERR:
                    raise _refused(payload[:300].decode(errors="replace").strip(), file, limit)
                size += len(payload)
                if size > limit:  # what a sandbox says is not believed
                    raise _refused(reading.TOO_LARGE, file, limit)
                write(payload)
    except (protocol.ProtocolError, OSError) as error:
        raise Unavailable(f"The sandbox did not give the file: {error}.", "Try again.", key="file_not_given") from error
    raise Unavailable("The sandbox took too long to give the file.", "Try again.", key="file_too_slow")


def _refused(word: str, file: str, limit: int) -> Exception:
    name = repr(file[:200])
    match word:
        case reading.MISSING:
            return NotFound(f"path: there is no file {name}.", key="no_file")
        case reading.NO_FILE:
            return InvalidInput(f"path: {name} is no plain file, or leads through a link.", key="no_plain_file")
        case reading.TOO_LARGE:
            return InvalidInput(f"path: {name} has more than {limit // 1024**2} MB.", key="file_too_large")
    return Unavailable("The sandbox did not give the file.", "Try again.", key="file_refused")
