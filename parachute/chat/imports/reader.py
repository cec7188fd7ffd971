"""The process that reads an export, as the server runs it: its lines one after the other, and its end."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.sandbox.engines import bubblewrap
from parachute.supervisor.command_runner import children

_LINE = 1024 * 1024
_LARGEST = 4 * 1024**3
_SECONDS = 6 * 3600.0
_END_SECONDS = 8.0  # of its owner, which itself waits 5 for what it ends
_PROGRAM = "parachute.chat.imports.reading.program"
_PACKAGES = ("parachute", "ijson", "msgspec")
_LIBRARIES = "/opt/parachute/lib"
_START = (
    f"import sys; sys.path.append({_LIBRARIES!r}); import runpy; "
    f"runpy.run_module({_PROGRAM!r}, run_name='__main__', alter_sys=True)"
)


class ReadingFailed(ParachuteError):
    """The program that reads an export ended before it was done."""

    key = "import_failed"


async def read(upload: Path, kind: str, staged: Path, *, dry_run: bool) -> AsyncGenerator[dict[str, Any]]:
    """Read an export and yield the program's lines; it waits while nobody takes them, and ends with this generator.

    It runs in bubblewrap where that is there. Errors: ReadingFailed when it is killed, or takes longer than six hours; Unavailable.
    """
    command = [sys.executable, "-I", "-m", _PROGRAM]
    if await asyncio.to_thread(bubblewrap.unavailable) is None:
        command = [*confined(upload, staged), bubblewrap.interpreter(), "-ISB", "-c", _START]
    command += [str(upload), kind, str(staged), *(["dry"] if dry_run else [])]
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


def confined(upload: Path, staged: Path) -> list[str]:
    """The beginning of a command line that runs without a network, and sees of this machine what it reads and where it writes."""
    arguments = ["bwrap", *bubblewrap.ISOLATION, *bubblewrap.kernel_files()]
    # First, since what follows may lie below them.
    for memory, megabytes in (("/tmp", 16), ("/run", 1)):  # noqa: S108 - inside of the sandbox
        arguments += bubblewrap.memory_folder(memory, megabytes)
    arguments += bubblewrap.system_files()
    for name in _PACKAGES:
        found = find_spec(name)
        if found is None or not found.submodule_search_locations:
            continue
        folder = Path(next(iter(found.submodule_search_locations)))
        # With the compiled libraries that a wheel brings beside its package.
        for each in (folder, folder.with_name(f"{name}.libs")):
            arguments += ["--ro-bind-try", str(each), f"{_LIBRARIES}/{each.name}"]
    arguments += ["--bind", str(staged), str(staged), "--ro-bind", str(upload), str(upload)]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(staged)]
    for name, value in {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", **_zone()}.items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--"]


def _zone() -> dict[str, str]:
    return {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}


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
