"""The process that reads an export, as the server runs it: its lines one after the other, and its end."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.supervisor.command_runner import children

_LINE = 1024 * 1024
_LARGEST = 4 * 1024**3
_SECONDS = 6 * 3600.0
_END_SECONDS = 8.0  # of its owner, which itself waits 5 for what it ends
_PROGRAM = "parachute.chat.imports.reading.program"


class ReadingFailed(ParachuteError):
    """The program that reads an export ended before it was done."""

    key = "import_failed"


async def read(upload: Path, kind: str, staged: Path, *, dry_run: bool) -> AsyncGenerator[dict[str, Any]]:
    """What the program says of an export, line by line; it waits while nobody takes them, and ends with this generator.

    Error: ReadingFailed when it is killed, or takes longer than six hours.
    """
    command = [sys.executable, "-I", "-m", _PROGRAM, str(upload), kind, str(staged), *(["dry"] if dry_run else [])]
    process = await asyncio.create_subprocess_exec(
        *children.owned(command, _LARGEST),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=staged,
        env=children.environment("TZ"),
        start_new_session=True,
        limit=_LINE,
    )
    assert process.stdout is not None
    ended = False
    try:
        async with asyncio.timeout(_SECONDS):
            while line := await process.stdout.readline():
                found = json.loads(line)
                ended = "end" in found
                if not ended:
                    yield found
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
    except (TimeoutError, ValueError) as error:
        raise ReadingFailed("The export could not be read to its end.", "What came until then is here.") from error
    finally:
        await _end(process)
    if not ended:
        raise ReadingFailed(
            f"The program that reads the export ended early ({process.returncode}).",
            "Import it again: what is here already is skipped.",
        )


async def _end(process: asyncio.subprocess.Process) -> None:
    for stop in (process.terminate, process.kill):
        if process.returncode is not None:
            break
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            stop()
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
    # A process that we could not end may hold the pipe; Process itself cannot let go of it.
    process._transport.close()  # type: ignore[attr-defined]
