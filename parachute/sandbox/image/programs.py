"""Programs of a build: their lines are told as they come, and they end when the build is cancelled or its process ends."""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from parachute.errors import Unavailable
from parachute.modules.child import NOT_FOUND
from parachute.programs.starting import outside

_LARGEST = 8 << 30
_KEPT = 64 * 1024
_END_SECONDS = 15.0


async def run(
    command: list[str],
    environment: Mapping[str, str],
    say: Callable[[str], None] = lambda line: None,
    *,
    seconds: float,
    hint: str | None = None,
) -> str:
    """What a program writes, at most its last 64 KiB; error: Unavailable if it is not there, fails or takes longer."""
    name = Path(command[0]).name
    child = [sys.executable, "-I", "-m", "parachute.modules.child", str(os.getpid()), str(_LARGEST)]
    process = await asyncio.create_subprocess_exec(
        *child,
        *outside(command),
        env=dict(environment),
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        # Ctrl-C of our terminal reaches us alone: we end it ourselves.
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            text = await _follow(process, say)
            code = await process.wait()
    except TimeoutError as error:
        raise Unavailable(f"{name} was not done within {seconds:.0f} seconds.", "Try again later.") from error
    finally:
        await _end(process)
    if code == NOT_FOUND and not text:
        raise Unavailable(f"The program {name} is not installed.", hint or f"Install it: sudo apt-get install {name}")
    if code:
        last = [line for line in text.splitlines() if line.strip()][-3:]
        raise Unavailable(f"{name} ended with status {code}: {' / '.join(last)[-500:] or 'it did not say why'}.", hint)
    return text


async def _follow(process: asyncio.subprocess.Process, say: Callable[[str], None]) -> str:
    assert process.stdout is not None
    kept = line = b""
    while data := await process.stdout.read(65536):
        kept = (kept + data)[-_KEPT:]
        # Progress is written over the line before, with a carriage return.
        *whole, line = re.split(rb"[\r\n]", line + data)
        line = line[-_KEPT:]
        for each in whole:
            if text := each.decode(errors="replace").strip():
                say(text)
    return kept.decode(errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """The child ends all that is below it when it is asked to; waits until that is done, also when we are cancelled."""
    if process.returncode is not None:
        return
    process.terminate()
    waiting = asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait_for(asyncio.shield(waiting), _END_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await waiting
