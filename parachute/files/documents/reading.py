"""Reading one opened document in a process of its own, which ends with all that it started when its time is over."""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
from typing import IO

from parachute.base.errors import Unavailable
from parachute.files.documents import confinement
from parachute.files.documents.program.text import LONGEST, REASONS, REFUSED, STARTED
from parachute.supervisor.command_runner.children import owned

LARGEST = 128 << 20
"""Bytes of a document that is read."""

SECONDS = 600.0
"""Until a process is ended that has not used its time of a processor: others go before it."""

_END_SECONDS = 8.0
_LARGEST_ANSWER = 4 * LONGEST
_PIECE = 1 << 20
_SEALS = (
    fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL if sys.platform == "linux" else 0
)
TOO_MUCH = "too_much"
"""The reason of a document that takes more time, memory or room than one may."""


class NotRead(Exception):
    """A document that has no text for us, by its reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def read(file: IO[bytes], kind: str, seconds: float = SECONDS) -> str:
    """Read an opened file as a document of a kind.

    Errors: NotRead, Unavailable where the process cannot be started, which says nothing about the file.
    """
    with await asyncio.to_thread(sealed, file) as given:
        process = await _started(given, kind)
    assert process.stdout is not None
    answer, code = bytearray(), None
    try:
        async with asyncio.timeout(seconds):
            await _fill(answer, process.stdout, _LARGEST_ANSWER + 2)
            code = await process.wait()
    except TimeoutError:
        pass  # what has started and does not end is told by its code
    finally:
        await _end(process)
    return _text(code, bytes(answer))


async def _started(given: IO[bytes], kind: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *owned(confinement.command(kind)),
        stdin=given.fileno(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env=confinement.environment(),
        start_new_session=True,
    )


def sealed(file: IO[bytes]) -> IO[bytes]:
    """Return a copy of a file in memory that nobody can change; error: NotRead if it is too large.

    Who has a descriptor of the file itself could open it again for writing, by its name in /proc.
    """
    if os.fstat(file.fileno()).st_size > LARGEST:
        raise NotRead("too_large")
    if sys.platform != "linux":
        return os.fdopen(os.dup(file.fileno()), "rb")  # there is no /proc
    copy = os.fdopen(os.memfd_create("document", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "r+b", buffering=0)
    try:
        left = LARGEST
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            copy.write(piece)
            left -= len(piece)
        copy.seek(0)
        fcntl.fcntl(copy, fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        copy.close()
        raise
    return copy


def _text(code: int | None, answer: bytes) -> str:
    if not answer.startswith(STARTED):
        raise Unavailable(
            "Documents cannot be read: the program that reads them does not start.",
            "`parachute doctor bubblewrap user-namespaces` finds the cause.",
            key="reader_missing",
        )
    answer = answer[len(STARTED) :]
    if code == 0 and len(answer) <= _LARGEST_ANSWER:
        return answer.decode(errors="replace")[:LONGEST].replace("\0", "")
    if code == REFUSED and (reason := answer.decode(errors="replace")) in REASONS:
        raise NotRead(reason)
    raise NotRead(TOO_MUCH)


async def _fill(answer: bytearray, stream: asyncio.StreamReader, most: int) -> None:
    while len(answer) < most and (piece := await stream.read(min(65536, most - len(answer)))):
        answer += piece


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all that it started; its owner is asked first, since it knows them."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            process.send_signal(sent)
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
