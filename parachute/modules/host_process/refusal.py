"""Answering waiting connections with the reason why the module does not start, instead of letting them wait for the next try."""

import contextlib
import json
import socket
import time

from parachute.base.errors import ParachuteError
from parachute.core.errors import error_document

_ALL_SECONDS = 3.0
_ONE_SECONDS = 0.5
_CHUNK = 64 * 1024
_MOST = 8 * _CHUNK


def refuse_waiting(name: str, listener: socket.socket, error: ParachuteError) -> None:
    """Answer every connection that waits in the socket with the error; blocking, for a few seconds at the most."""
    hint = f"{error.hint or ''} The log of the module {name} has more: `parachute logs module@{name}`".strip()
    document = {"detail": error.message, "key": error.key, "hint": hint, **error_document(error)}
    body = json.dumps(document).encode()
    head = f"HTTP/1.1 {error.status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    answer = head.encode() + b"connection: close\r\n\r\n" + body
    listener.setblocking(False)
    end = time.monotonic() + _ALL_SECONDS
    while time.monotonic() < end:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.settimeout(_ONE_SECONDS)
            connection.recv(_CHUNK)
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            # Closed with something unread in it, the connection would be reset, and the answer lost.
            left = _MOST
            while left > 0 and (data := connection.recv(_CHUNK)):
                left -= len(data)
