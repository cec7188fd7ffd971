"""Backups that a device asks for: the command line's own program, one at a time, and what it says of its progress."""

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.clock import now
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.ops.backup.state import INCOMPLETE, State
from parachute.sandbox.image import programs
from parachute.supervisor.command_runner import children

Kind = Literal["create", "drill", "restore"]

_SECONDS = 24 * 3600.0
_LIST_SECONDS = 300.0
_VARIABLES = (
    "HOME",
    "PARACHUTE_VAULT",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "SSH_AUTH_SOCK",
)
_STEP = " ..."
_PERCENT = re.compile(r"(\d+)%")
_ERROR = "Error: "
_CALLED = {"create": "backup", "drill": "drill", "restore": "restore"}


class Job(Answer, frozen=True):
    """A backup, a drill or a restore under way: when it began, its present step as a sentence, and how far that is, 0 to 1."""

    kind: Kind
    since: str
    step: str | None = None
    part: float | None = None


class BackupJobs:
    """Runs `parachute backup` as a program, outside of what holds the server back; `changed` hears of each step and of the end.

    `ended` hears that something about the backups may be another than before.
    """

    def __init__(self, home: Home, changed: Callable[[], None], ended: Callable[[], None] = lambda: None) -> None:
        self._home = home
        self._ended = ended
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self.new_repository = asyncio.Lock()
        """Held while the place of backups is changed."""
        self.running: Job | None = None
        self.problem: str | None = None
        """The sentence with which the last one failed."""

    async def close(self) -> None:
        """End what is under way: the backup before stays."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def begin(self, kind: Kind, *options: str, then: Callable[[], Awaitable[object]] | None = None) -> Job:
        """Begin it, and do `then` when it has come to a good end; error: Conflict while something is under way."""
        self.check_free()
        if self.new_repository.locked():
            raise Conflict("The place of backups is being changed.", "Try again in a moment.", key="busy")
        self.running, self.problem = Job(kind, now()), None
        program = _program(kind, *options)
        self._task = asyncio.create_task(self._run(self.running, program, then), name=f"backup {kind}")
        self._changed()
        return self.running

    def settled(self) -> None:
        """Say that something about the backups is another than before."""
        self._changed()
        self._ended()

    def check_free(self) -> None:
        """Error: Conflict while something is under way."""
        if self.running is not None:
            raise Conflict(f"A {_CALLED[self.running.kind]} is under way.", "Wait until it has ended.", key="busy")

    async def cancel(self) -> None:
        """End what is under way, and wait for its end; error: Conflict if nothing is."""
        if self.running is None or self._task is None:
            raise Conflict("Nothing is running.", "It has ended by itself.", key="nothing_under_way")
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def all(self) -> list[dict[str, Any]]:
        """Return the backups in the repository, the newest last; error: Unavailable."""
        said = await self._program(_program("list"), _LIST_SECONDS)
        try:
            found: list[dict[str, Any]] = json.loads(said[said.index("[") :])
        except ValueError as error:
            raise Unavailable(
                "The list of backups cannot be read.", "`parachute backup list` shows why.", key="backup_failed"
            ) from error
        return found

    async def _run(self, job: Job, program: list[str], then: Callable[[], Awaitable[object]] | None) -> None:
        def said(line: str) -> None:
            if line.endswith(_STEP):
                self.running = replace(job, step=line.removesuffix(_STEP))
            elif match := _PERCENT.fullmatch(line):
                self.running = replace(self.running or job, part=int(match[1]) / 100)
            else:
                return
            self._changed()

        try:
            await self._program(program, _SECONDS, said)
            if then is not None:
                await then()
        except ParachuteError as error:
            # One that lacks some files ends with a code of its own, and has said so in its result.
            last = (await asyncio.to_thread(State.read, self._home.root)).operations.get(job.kind, {})
            is_incomplete = last.get("result") == INCOMPLETE and str(last.get("at")) >= job.since
            self.problem = None if is_incomplete else error.message
        except OSError as error:
            self.problem = f"The program cannot be started: {error.strerror or error}."
        finally:
            self.running = None
            self.settled()

    async def _program(
        self, program: list[str], seconds: float, said: Callable[[str], None] = lambda line: None
    ) -> str:
        lines: list[str] = []

        def heard(line: str) -> None:
            lines.append(line)
            del lines[:-50]
            said(line)

        variables = children.environment(
            *_VARIABLES, PARACHUTE_HOME=str(self._home.root), LANG=os.environ.get("LANG", "C.UTF-8")
        )
        try:
            return await programs.run(program, variables, heard, seconds=seconds, largest=-1)
        except Unavailable as error:
            # The command line's own sentence, not that a program ended.
            with contextlib.suppress(StopIteration):
                sentence = next(line for line in lines if line.startswith(_ERROR))
                raise Unavailable(sentence.removeprefix(_ERROR), error.hint, key="backup_failed") from error
            raise


def _program(command: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "parachute.cli", "backup", command, "--json", *options]
