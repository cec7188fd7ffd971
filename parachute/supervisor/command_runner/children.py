"""Run git and pip, bounded in time, output and written bytes; they end with this process."""

import errno
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

import parachute_runner
from msgspec import Struct

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.folders import Folder, TooMany
from parachute.supervisor.command_runner.child import NOT_FOUND
from parachute.supervisor.command_runner.starting import outside

_CHILD = str(Path(__file__).with_name("child.py"))
_RUNNER = str(Path(parachute_runner.__path__[0]).parent)
_OUTPUT = 64 * 1024
_TICK = 0.2
_LAST_SECONDS = 10.0
_MOST = 1_000_000

_NETWORK = (
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)


class Finished(Struct, frozen=True):
    """The exit of a program; `output` is the last 64 KiB of what it wrote on both streams."""

    code: int
    output: str


class Output:
    """The last 64 KiB of what a program writes; its lines go to `said` as they come."""

    def __init__(self, said: Callable[[str], None]) -> None:
        self._said = said
        self._kept = b""
        self._line = b""

    @property
    def text(self) -> str:
        """The last of it."""
        return self._kept.decode(errors="replace")

    def add(self, data: bytes) -> None:
        """Take what was read."""
        self._kept = (self._kept + data)[-_OUTPUT:]
        # Progress is written over the line before, with a carriage return.
        *whole, line = re.split(rb"[\r\n]", self._line + data)
        self._line = line[-_OUTPUT:]
        for each in whole:
            if text := each.decode(errors="replace").strip():
                self._said(text)


def owned(program: list[str], largest: int = -1) -> list[str]:
    """The command line of a program that ends with this process, and writes no file of more than `largest` bytes (-1: any).

    Start it in a session of its own: neither a question nor Ctrl-C of our terminal reaches it then, we end it ourselves.
    """
    return [sys.executable, "-IS", _CHILD, _RUNNER, str(os.getpid()), str(largest), *outside(program)]


def environment(*names: str, **values: str) -> dict[str, str]:
    """The environment of a program: how to reach the network, the named variables of ours, and `values`."""
    taken = {name: os.environ[name] for name in ("PATH", *_NETWORK, *names) if name in os.environ}
    return {**taken, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **values}


def run(
    program: list[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    seconds: float,
    largest: int,
    watched: Path | None = None,
    said: Callable[[str], None] = lambda line: None,
    output: Path | None = None,
    given: Path | None = None,
) -> Finished:
    """Run a program to its end; it may write `largest` bytes into one file, and into the folder `watched` altogether.

    Its lines go to `said` as they come; with `output`, its standard output goes to that file instead,
    and with `given` its standard input is a file.

    Errors: Unavailable if the program is not there or takes longer, InvalidInput if it writes more.
    """
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as lines, ExitStack() as stack:  # noqa: PTH123 - a descriptor
        stack.callback(os.close, writer)
        process = subprocess.Popen(
            owned(program, largest),
            cwd=folder,
            env=dict(variables),
            stdin=stack.enter_context(given.open("rb")) if given else subprocess.DEVNULL,
            stdout=stack.enter_context(output.open("wb")) if output else writer,
            stderr=writer,
            start_new_session=True,
        )
        try:
            stack.close()
            text = _follow(lines, program[0], seconds, largest, watched, said)
            code = process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise too_slow(program[0], seconds) from error
        finally:
            _end(process)
    name = Path(program[0]).name
    if code == NOT_FOUND and not text:
        raise not_installed(name)
    if code and os.strerror(errno.EFBIG) in text:
        raise _too_large(name, largest)
    return Finished(code, text)


def _follow(
    lines: IO[bytes],
    program: str,
    seconds: float,
    largest: int,
    watched: Path | None,
    said: Callable[[str], None],
) -> str:
    written = Output(said)
    deadline = time.monotonic() + seconds
    measured = 0.0
    with selectors.DefaultSelector() as selector:
        selector.register(lines, selectors.EVENT_READ)
        while True:
            if selector.select(_TICK):
                data = lines.read(65536)
                if not data:
                    return written.text
                written.add(data)
            now = time.monotonic()
            if now > deadline:
                raise too_slow(program, seconds)
            if watched is not None and now - measured > _TICK:
                measured = now
                if folder_bytes(watched) > largest:
                    raise _too_large(Path(program).name, largest)


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; those that vanish meanwhile count nothing."""
    total = 0
    with suppress(OSError, TooMany), Folder.open(folder) as root:
        for _, _, entries in root.walk(most=_MOST, unreadable=lambda *_: None):
            for entry in entries:
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        # The group: what the program started itself ends with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def not_installed(name: str, hint: str | None = None) -> Unavailable:
    """The error of a program that is not there."""
    return Unavailable(
        f"The program {name} is not installed.",
        hint or f"Install it: sudo apt-get install {name}",
        key="program_missing",
    )


def too_slow(program: str, seconds: float) -> Unavailable:
    """The error of a program that takes longer than it may."""
    return Unavailable(
        f"{Path(program).name} was not done within {seconds:.0f} seconds.", "Try again later.", key="too_slow"
    )


def _too_large(name: str, largest: int) -> InvalidInput:
    return InvalidInput(
        f"{name} fetched more than the {largest // (1024 * 1024):,} MB that are allowed.", key="too_large"
    )
