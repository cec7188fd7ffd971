"""Logs for devices: the last lines and those that come, without secrets and never too much."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from parachute.base.clock import as_text
from parachute.base.errors import ParachuteError
from parachute.base.redaction import redacted, shortened
from parachute.config.settings.home import Home
from parachute.ops.logs import files
from parachute.ops.logs.files import Follower

MOST_LINES = 2000
_CHARACTERS = 512 * 1024
_LINE = 4000
_FOLLOWERS = 8
_POLL_SECONDS = 0.5
_KNOWN_SECONDS = 30.0


class Log(Struct, frozen=True):
    """The log of a unit: its size in bytes, and when it was written last."""

    unit: str
    bytes: int
    changed_at: str


class Logs:
    """The logs of an installation; `secrets` are those that it knows, and waits for the disk."""

    def __init__(self, home: Home, secrets: Callable[[], Sequence[str]]) -> None:
        self._home = home
        self._secrets = secrets
        self._followers = 0

    async def units(self) -> list[Log]:
        """Return the logs that there are."""
        return await asyncio.to_thread(self._units)

    async def tail(self, unit: str, lines: int) -> tuple[str, list[str]]:
        """Return the name of a unit's log and its last lines; error: NotFound."""
        return await asyncio.to_thread(self._tail, unit, lines)

    async def follow(self, unit: str, lines: int) -> AsyncIterator[tuple[int, dict[str, object]]]:
        """Return the last lines, and then those that come, in events with a number each; errors: NotFound, and 429 when too many do."""
        name = await asyncio.to_thread(files.find, self._home, unit)
        if self._followers >= _FOLLOWERS:
            raise ParachuteError(
                f"{_FOLLOWERS} others follow logs already.", "Close one.", key="too_many_readers", status=429
            )
        return self._followed(name, lines)

    async def _followed(self, name: str, lines: int) -> AsyncIterator[tuple[int, dict[str, object]]]:
        with self._following():
            follower = await asyncio.to_thread(Follower, self._home.logs / f"{name}.log", at_end=True)
            known, looked, number = await asyncio.to_thread(self._secrets), time.monotonic(), 0
            found = await asyncio.to_thread(self._end, name, lines, known, follower.position)
            while True:
                if found or number == 0:
                    number += 1
                    yield number, {"type": "lines", "unit": name, "lines": found}
                await asyncio.sleep(_POLL_SECONDS)
                new = await asyncio.to_thread(follower.lines)
                if new and time.monotonic() - looked > _KNOWN_SECONDS:
                    known, looked = await asyncio.to_thread(self._secrets), time.monotonic()
                found = await asyncio.to_thread(_clean, new, known) if new else []

    @contextlib.contextmanager
    def _following(self) -> Iterator[None]:
        self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1

    def _units(self) -> list[Log]:
        found = []
        for name in files.names(self._home):
            with contextlib.suppress(FileNotFoundError):
                status = (self._home.logs / f"{name}.log").stat()
                found.append(Log(name, status.st_size, as_text(datetime.fromtimestamp(status.st_mtime, UTC))))
        return found

    def _tail(self, unit: str, lines: int) -> tuple[str, list[str]]:
        name = files.find(self._home, unit)
        return name, self._end(name, lines, self._secrets())

    def _end(self, name: str, lines: int, known: Sequence[str], until: int | None = None) -> list[str]:
        return _clean(files.tail(self._home.logs / f"{name}.log", lines, until=until), known)


def _clean(lines: Sequence[str], known: Sequence[str]) -> list[str]:
    """The newest of the lines that fit, without secrets, also those that go over several."""
    text = "\n".join(each if len(each) <= _LINE else shortened(each, known, _LINE) for each in lines[-MOST_LINES:])
    if len(text) > _CHARACTERS:
        # A line that was cut in the middle may be the second half of a secret.
        text = text[-_CHARACTERS:].partition("\n")[2]
    return redacted(text, known).split("\n") if text else []
