"""The table of attempts. A function that returns has got through; one that raises OSError or `Refused` has not.

Whatever else it raises is a mistake in the attempt, and is told as one: it must never count as a refusal.
"""

import ctypes
import errno
import os
import platform
import select
import signal
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

SAME, ROOT = "same", "root"
"""User who gets through outside of a sandbox: everybody (as the same user), or root only."""

_SECONDS = 300.0
"""Timeout of an attempt; a machine with other work may take a minute to search a file system."""

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

Place = dict[str, Any]
"""Targets of attempts, as `planting` describes them."""


class Refused(Exception):
    """The attempt came to nothing, without an error of the kernel."""


class Row(NamedTuple):
    """One attempt and whom it succeeds for outside."""

    attempt: Callable[[Place], object]
    control: str


TABLE: dict[str, Row] = {}


def attempt(name: str, control: str = SAME) -> Callable[[Callable[[Place], object]], Callable[[Place], object]]:
    """Put a function into the table."""

    def put(function: Callable[[Place], object]) -> Callable[[Place], object]:
        assert name not in TABLE, name
        TABLE[name] = Row(function, control)
        return function

    return put


def outcome(row: Row, place: Place) -> str:
    """`through: …`, `refused: …` or `broken: …`; in a process of its own, since a filter of calls may end it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()
        said = "broken: it ended without a word"
        try:
            if place["control"] and os.getuid() == 0:
                _apart()
            said = f"through: {str(row.attempt(place))[:200]}"
        except Refused as refused:
            said = f"refused: {refused}"
        except OSError as error:
            # A sandbox must not need to fail in other ways: what is not there or not allowed says so.
            said = f"refused: {errno.errorcode.get(error.errno or 0, type(error).__name__)}"
        except BaseException:
            said = f"broken: {traceback.format_exc()[-600:]}"
        finally:
            os.write(writer, said.encode())
            os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], _SECONDS)
    said = os.read(reader, 4096).decode() if ready else "broken: it takes too long"
    os.close(reader)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not said and os.WIFSIGNALED(status):
        return f"refused: {signal.Signals(os.WTERMSIG(status)).name}"
    return said or "broken: it ended without a word"


def _apart() -> None:
    """Separate the mounts for this attempt, outside of a sandbox as well."""
    if libc.unshare(0x20000) or libc.mount(None, b"/", None, 0x4000 | 0x40000, None):  # all of it private
        raise RuntimeError(os.strerror(ctypes.get_errno()))


def call(numbers: tuple[int, int], *arguments: Any) -> int:
    """A system call by its numbers on x86-64 and aarch64; error: OSError."""
    result = int(
        libc.syscall(ctypes.c_long(numbers[0 if platform.machine() == "x86_64" else 1]), *map(_word, arguments))
    )
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _word(value: Any) -> Any:
    return ctypes.c_long(value) if isinstance(value, int) else value


def any_of(values: Any, function: Callable[[Any], object]) -> object:
    """Return the result of the first of several ways that works; when all fail, raise the last one's error."""
    error: Exception = Refused("there is nothing to try")
    for value in values:
        try:
            return f"{value}: {function(value)}"
        except (OSError, Refused) as failed:
            error = failed
    raise error
