"""Inspection from inside, by the runner of a sandbox, and of the process that answers, by the kernel."""

import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from parachute_runner import protocol
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from parachute.base.errors import Conflict, Unavailable
from parachute.sandbox.engines.inspection import kernel

_SECONDS = 90.0
"""A container is perhaps only started by this."""

_ATTEMPTS = 3
_TRIED = {"read": ["/proc/1/environ"], "resolve": ["parachute-computer.invalid"]}
_CREDENTIALS = struct.Struct("iII")  # struct ucred
_MADE_ANEW = "Restart the computer to recreate the sandbox: parachute restart"
_Text = Annotated[str, StringConstraints(max_length=5000)]


class Findings(BaseModel):
    """The answer of `parachute_runner.inspection`, believed as little as anything out of a sandbox.

    Outcomes of attempts are `done` or the name of an error.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    user: list[int]
    status: dict[_Text, _Text]
    namespaces: dict[_Text, _Text]
    interfaces: list[_Text]
    places: dict[_Text, _Text]
    writes: dict[_Text, _Text]
    files: dict[_Text, list[int]]
    sizes: dict[_Text, int]
    reads: dict[_Text, _Text]
    connects: dict[_Text, _Text]
    resolves: dict[_Text, _Text]
    environment: list[_Text]
    group: dict[_Text, float | None]
    limits: dict[_Text, int]
    recipe: _Text

    @classmethod
    def read(cls, answer: bytes) -> "Findings":
        """The answer of a runner; error: Unavailable if it is none."""
        try:
            return cls.model_validate_json(answer)
        except ValidationError as error:
            raise Unavailable(
                "The answer of the sandbox's runner cannot be read.", _MADE_ANEW, key="answer_unreadable"
            ) from error


def inspect(
    path: Path, paths: Iterable[str], addresses: Iterable[tuple[str, str, int]]
) -> tuple[Findings, kernel.Process]:
    """Findings of a process of the sandbox that writes to paths and connects, and the kernel's of that process.

    Errors: Conflict when the sandbox ends meanwhile, Unavailable when it does not start or does not answer. Waits.
    """
    request = {"paths": list(paths), "connect": list(addresses), **_TRIED}
    for _ in range(_ATTEMPTS):
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_SECONDS)
                connection.connect(str(path))
                # The kernel names the sender itself: nobody in the sandbox can say that it is another.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                protocol.send_inspection(connection, request)
                number = _sender(connection)
                kind, payload = protocol.receive_frame(connection)
                if kind == protocol.STDOUT:
                    return Findings.read(payload), kernel.process(number)
                reason = payload[:300].decode(errors="replace").strip()
                raise Unavailable(
                    f"The inspection inside the sandbox failed: {reason}.", _MADE_ANEW, key="inspection_failed"
                )
        except (protocol.ProtocolError, ConnectionResetError, BrokenPipeError):
            # A message began or ended, and all processes of the sandbox with it; or the sandbox was stopped with the request unread.
            continue
        except OSError as error:
            raise Unavailable(
                f"The sandbox cannot be asked: {error}.", "`parachute logs` shows why.", key="sandbox_not_asked"
            ) from error
    raise Conflict(
        "The sandbox ended during the inspection.",
        "Try again when no answer is running in this conversation.",
        key="sandbox_ended",
    )


def _sender(connection: socket.socket) -> int:
    """The process that sent the next bytes, which stay unread."""
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size), socket.MSG_PEEK)
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(content) >= _CREDENTIALS.size:
            number: int = _CREDENTIALS.unpack_from(content)[0]
            if number:
                return number
    raise protocol.ProtocolError("the connection ended")
