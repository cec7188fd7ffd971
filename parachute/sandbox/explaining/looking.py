"""Asking the runner of a box to look around, and the kernel which process it is that answers."""

import socket
import struct
from pathlib import Path

from parachute_runner import protocol

from parachute.errors import Conflict, Unavailable
from parachute.sandbox.explaining import kernel
from parachute.sandbox.explaining.models import Tries
from parachute.sandbox.explaining.seen import Seen

_SECONDS = 90.0
"""A container is perhaps only started by this."""

_ATTEMPTS = 3
_CREDENTIALS = struct.Struct("iII")  # struct ucred


def look(path: Path, tries: Tries) -> tuple[Seen, kernel.Process]:
    """What a process of the box finds in it, and what the kernel says of that very process.

    Errors: Conflict when the box ends meanwhile, Unavailable when it does not start or does not answer. Waits.
    """
    for _ in range(_ATTEMPTS):
        try:
            return _look(path, tries)
        except protocol.ProtocolError:
            continue  # a message began or ended, and all processes of the box with it
        except OSError as error:
            raise Unavailable(f"The box cannot be asked: {error}.", "`parachute logs` shows why.") from error
    raise Conflict("The box ended while it was looked at.", "Try again when nothing is answered in this conversation.")


def _look(path: Path, tries: Tries) -> tuple[Seen, kernel.Process]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_SECONDS)
        connection.connect(str(path))
        # The kernel names the sender itself: nobody in the box can say that it is another.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        protocol.send_look(connection, tries.as_json())
        number = _sender(connection)
        kind, payload = protocol.receive_frame(connection)
        if kind != protocol.STDOUT:
            reason = payload[:300].decode(errors="replace").strip()
            raise Unavailable(f"The look inside the box failed: {reason}.", "Restart the computer: parachute restart")
        return Seen.read(payload), kernel.process(number)


def _sender(connection: socket.socket) -> int:
    """The process that says the next bytes, which stay unread."""
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size), socket.MSG_PEEK)
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(content) >= _CREDENTIALS.size:
            number: int = _CREDENTIALS.unpack_from(content)[0]
            if number:
                return number
    raise protocol.ProtocolError("the connection ended")
