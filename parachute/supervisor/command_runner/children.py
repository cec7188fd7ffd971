"""Running git and pip: bounded in time, in output and in what they write, and never longer than we run ourselves."""

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
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from parachute.errors import InvalidInput, Unavailable
from parachute.modules.child import NOT_FOUND
from parachute.programs.starting import outside

_OUTPUT = 64 * 1024
_TICK = 0.2
_LAST_SECONDS = 10.0

_NETWORK = (
    *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended; `output` is the last 64 KiB of what it wrote on both streams."""

    code: int
    output: str


def environment(*names: str, **values: str) -> dict[str, str]:
    """What a program gets to know: how to reach the network, the named variables of ours, and `values`."""
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
) -> Finished:
    """Run a program to its end; it may write `largest` bytes into one file, and into the folder `watched` altogether.

    Its lines go to `said` as they come; with `output`, its standard output goes to that file instead.

    Errors: Unavailable if the program is not there or takes longer, InvalidInput if it writes more.
    """
    command = [sys.executable, "-I", "-m", "parachute.modules.child", str(os.getpid()), str(largest)]
    command += outside(program)
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as lines, ExitStack() as stack:  # noqa: PTH123 - a descriptor
        stack.callback(os.close, writer)
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=stack.enter_context(output.open("wb")) if output else writer,
            stderr=writer,
            # Neither a question nor Ctrl-C of our terminal reaches it: we end it ourselves.
            start_new_session=True,
        )
        try:
            stack.close()
            text = _follow(lines, program[0], seconds, largest, watched, said)
            code = process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise _too_slow(program[0], seconds) from error
        finally:
            _end(process)
    name = Path(program[0]).name
    if code == NOT_FOUND and not text:
        raise Unavailable(f"The program {name} is not installed.", f"Install it: sudo apt-get install {name}")
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
    kept, line = b"", b""
    deadline = time.monotonic() + seconds
    measured = 0.0
    with selectors.DefaultSelector() as selector:
        selector.register(lines, selectors.EVENT_READ)
        while True:
            if selector.select(_TICK):
                data = lines.read(65536)
                if not data:
                    return kept.decode(errors="replace")
                kept = (kept + data)[-_OUTPUT:]
                # Progress is written over the line before, with a carriage return.
                *whole, line = re.split(rb"[\r\n]", line + data)
                line = line[-_OUTPUT:]
                for each in whole:
                    if text := each.decode(errors="replace").strip():
                        said(text)
            now = time.monotonic()
            if now > deadline:
                raise _too_slow(program, seconds)
            if watched is not None and now - measured > _TICK:
                measured = now
                if folder_bytes(watched) > largest:
                    raise _too_large(Path(program).name, largest)


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; those that vanish meanwhile count nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - thousands of files
    return total


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        # The group: what the program started itself ends with it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _too_slow(program: str, seconds: float) -> Unavailable:
    return Unavailable(f"{Path(program).name} was not done within {seconds:.0f} seconds.", "Try again later.")


def _too_large(name: str, largest: int) -> InvalidInput:
    return InvalidInput(f"{name} fetched more than the {largest // (1024 * 1024):,} MB that are allowed.")
