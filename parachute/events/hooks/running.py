"""Run one command: JSON in, bounded output, and an end after its time, with everything that it started."""

import asyncio
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from parachute.base.files import private_folder
from parachute.events.hooks.commands import Command
from parachute.events.hooks.models import Ran
from parachute.supervisor.command_runner.child import NOT_FOUND
from parachute.supervisor.command_runner.children import owned

STDOUT_LIMIT = 256 * 1024
STDERR_LIMIT = 64 * 1024
_END_SECONDS = 8.0  # of the owner, which itself waits 5 for what it ends
_LAST_WORDS_SECONDS = 2.0

_PASSED_ON = (
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "LOGNAME"),
    *("SHELL", "TMPDIR", "TZ", "USER", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"),
)
"""The variables of our environment that a hook gets; no token or key."""


def search_path(vault: Path) -> list[str]:
    """The search path of programs: our own PATH without the vault, in which agents write, and then our own programs."""
    inside = vault.resolve()
    entries = [*os.environ.get("PATH", os.defpath).split(os.pathsep), str(Path(sys.executable).parent)]
    return [
        entry
        for entry in dict.fromkeys(entries)
        if Path(entry).is_absolute() and not Path(entry).resolve().is_relative_to(inside)
    ]


def environment(root: Path, vault: Path, event: str) -> dict[str, str]:
    """The environment of a hook."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **passed,
        "PATH": os.pathsep.join(search_path(vault)),
        "PARACHUTE_HOME": str(root),
        "PARACHUTE_VAULT": str(vault),
        "PARACHUTE_HOOK_EVENT": event,
    }


async def run(
    command: Command, payload: bytes, seconds: float, values: Mapping[str, str], root: Path, folder: Path
) -> Ran:
    """Run a command in `folder` with a payload on its standard input; raises nothing but OSError and CancelledError."""
    copies = private_folder(root / "run" / "hooks") / token_hex(8)
    started = time.monotonic()
    try:
        arguments = await asyncio.to_thread(command.materialise, copies, root)
        process = await asyncio.create_subprocess_exec(
            *owned(arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=dict(values),
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        stdout, stderr = _Output(process.stdout, STDOUT_LIMIT), _Output(process.stderr, STDERR_LIMIT)
        writing = asyncio.create_task(_write(process, payload))
        code: int | None = None
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    code = await process.wait()
        finally:
            await _end(process)
            tasks = (writing, stdout.task, stderr.task)
            await asyncio.wait(tasks, timeout=_LAST_WORDS_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # A process of another user, which we could not end, may hold the pipes; Process itself cannot let go of them.
            process._transport.close()  # type: ignore[attr-defined]
        duration = int((time.monotonic() - started) * 1000)
        complaint = stderr.text()
        if code == NOT_FOUND and not complaint:
            complaint = f"Cannot start: {arguments[0]} does not exist.\n"
        return Ran(code, stdout.text(), complaint, duration, stdout.is_cut or stderr.is_cut)
    finally:
        await asyncio.to_thread(shutil.rmtree, copies, True)


async def call(module: str, payload: bytes, seconds: float) -> Ran:
    """Call the function `answer` of a module of this package, as `run` would run the module."""
    from importlib import import_module

    def answer() -> str:
        found = import_module(module).answer(json.loads(payload))
        return "" if found is None else json.dumps(found, ensure_ascii=False)

    started = time.monotonic()
    code: int | None = 0
    output, complaint = "", ""
    try:
        async with asyncio.timeout(seconds):
            output = await asyncio.to_thread(answer)
    except TimeoutError:
        code = None
    except (OSError, ValueError, KeyError, TypeError) as error:
        code, complaint = 1, f"{type(error).__name__}: {error}"
    return Ran(code, output, complaint, int((time.monotonic() - started) * 1000))


class _Output:
    """The beginning of what a command writes; the rest is read and thrown away, since a full pipe would stop it."""

    def __init__(self, stream: asyncio.StreamReader, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._kept = bytearray()
        self.is_cut = False
        self.task = asyncio.create_task(self._read())

    def text(self) -> str:
        """The text that was kept."""
        return self._kept.decode(errors="replace")

    async def _read(self) -> None:
        while data := await self._stream.read(65536):
            left = self._limit - len(self._kept)
            self.is_cut = self.is_cut or len(data) > left
            self._kept += data[:left]


async def _end(process: asyncio.subprocess.Process) -> None:
    for stop in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, TimeoutError):
            stop()
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()


async def _write(process: asyncio.subprocess.Process, payload: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # a command need not read its input
        process.stdin.write(payload)
        await process.stdin.drain()
    process.stdin.close()
