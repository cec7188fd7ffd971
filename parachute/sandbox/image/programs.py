"""Programs of a build: their output is passed on as it comes, and they end when the build is cancelled or its process ends."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.supervisor.command_runner import children
from parachute.supervisor.command_runner.child import NOT_FOUND

_LARGEST = 8 << 30
_END_SECONDS = 15.0


async def run(
    command: list[str],
    environment: Mapping[str, str],
    say: Callable[[str], None] = lambda line: None,
    *,
    seconds: float,
    hint: str | None = None,
    largest: int = _LARGEST,
) -> str:
    """Run a program and return its output, at most its last 64 KiB; error: Unavailable if it is not there, fails or takes longer.

    It may write files of `largest` bytes each (-1: any).
    """
    name = Path(command[0]).name
    process = await asyncio.create_subprocess_exec(
        *children.owned(command, largest),
        env=dict(environment),
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            text = await _follow(process, say)
            code = await process.wait()
    except TimeoutError as error:
        raise children.too_slow(name, seconds) from error
    finally:
        await _end(process)
    if code == NOT_FOUND and not text:
        raise children.not_installed(name, hint)
    if code:
        last = [line for line in text.splitlines() if line.strip()][-3:]
        raise Unavailable(
            f"{name} ended with status {code}: {' / '.join(last)[-500:] or 'no reason was given'}.",
            hint,
            key="program_failed",
        )
    return text


async def _follow(process: asyncio.subprocess.Process, say: Callable[[str], None]) -> str:
    assert process.stdout is not None
    written = children.Output(say)
    while data := await process.stdout.read(65536):
        written.add(data)
    return written.text


async def _end(process: asyncio.subprocess.Process) -> None:
    """The child ends all that is below it when it is asked to; waits until that is done, also when we are cancelled."""
    if process.returncode is not None:
        return
    process.terminate()
    waiting = asyncio.ensure_future(process.wait())
    try:
        async with asyncio.timeout(_END_SECONDS):
            await asyncio.shield(waiting)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await waiting
