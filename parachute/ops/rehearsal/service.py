"""A rehearsal for programs that go on meanwhile: the program of this package, followed."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import convert

from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.supervisor.command_runner.starting import outside
from parachute.supervisor.credentials import VARIABLES

_SECONDS = 360.0
"""More than the program takes at most."""

_END_SECONDS = 30.0
_LINE = 4 << 20


async def rehearse(
    home: Home, python: Path, report: Callable[[Check], None], declared: Path | None = None
) -> Rehearsal:
    """Start the version of an interpreter on copies and examine it; `report` hears of each check at once.

    `declared` is what the system will declare to it, None for what it declares now.

    Nothing of the running computer changes, also where this is cancelled. Error: ParachuteError if it could not be begun.
    """
    command = [
        sys.executable,
        "-m",
        "parachute.ops.rehearsal",
        "--home",
        str(home.root),
        "--python",
        str(python),
        "--json",
        *(("--declared", str(declared)) if declared is not None else ()),
    ]
    process = await asyncio.create_subprocess_exec(
        # Where systemd holds a service back, no namespaces are made in it.
        *outside(command),
        env={name: value for name, value in os.environ.items() if name not in VARIABLES},
        cwd="/",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LINE,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            return await _followed(process, report)
    except (TimeoutError, ValueError, KeyError) as error:
        raise _no_result() from error
    finally:
        await _ended(process)


async def _followed(process: asyncio.subprocess.Process, report: Callable[[Check], None]) -> Rehearsal:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        document = json.loads(line)
        if "check" in document:
            report(convert(document["check"], Check))
        elif "result" in document:
            return convert(document["result"], Rehearsal)
        elif "error" in document:
            error = document["error"]
            raise ParachuteError(error["detail"], error["hint"], key=error["key"])
    raise _no_result()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End it as it ends itself, so that it removes its copies."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()


def _no_result() -> Unavailable:
    return Unavailable(
        "The rehearsal gave no result.", "`python -m parachute.ops.rehearsal` shows why.", key="no_rehearsal"
    )
