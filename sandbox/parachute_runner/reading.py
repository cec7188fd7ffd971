"""Reading a file of the agent's for the server, inside of its sandbox: what the agent cannot reach, nobody is given."""

import os
import socket
import stat

from parachute_runner import protocol

_CHUNK = 256 * 1024
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

MISSING, NO_FILE, TOO_LARGE = "missing", "no file", "too large"


class Unreadable(ValueError):
    """A file that is not sent; the text is one of the words above."""


def send(connection: socket.socket, folder: str, path: str, limit: int) -> None:
    """Send the content of a regular file below a folder; no part of its path may be a link. Errors: Unreadable, OSError."""
    descriptor = _opened(folder, path)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(NO_FILE)
        sent = 0
        while True:
            if max(found.st_size, sent) > limit:
                raise Unreadable(TOO_LARGE)
            data = os.read(descriptor, _CHUNK)
            if not data:
                return
            connection.sendall(protocol.frame(protocol.STDOUT, data))
            sent += len(data)
    finally:
        os.close(descriptor)


def _opened(folder: str, path: str) -> int:
    descriptor = os.open(folder, _FLAGS | os.O_DIRECTORY)
    try:
        for name in path.split("/"):
            if name in ("", ".", ".."):
                raise Unreadable(MISSING)
            try:
                below = os.open(name, _FLAGS, dir_fd=descriptor)
            except (FileNotFoundError, NotADirectoryError):
                raise Unreadable(MISSING) from None
            except OSError:  # a link, a socket, or what may not be read
                raise Unreadable(NO_FILE) from None
            os.close(descriptor)
            descriptor = below
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
