"""The program restic with one repository: it ends with us, and no secret is on its command line."""

import json
import math
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder
from parachute.ops.backup import failures
from parachute.ops.backup.access import Access, check_password
from parachute.ops.backup.models import BackupFailed, Locked
from parachute.ops.backup.places import Places
from parachute.supervisor.command_runner import children
from parachute.supervisor.command_runner.children import Finished

_LARGEST = 1 << 62
_QUICK = ("cat", "init", "snapshots", "unlock", "version")
"""Commands that take moments where the repository answers; else restic itself would try for a quarter of an hour."""

_WAITS_SINCE = (0, 16)
"""The version of restic since which it can wait for a lock."""


class Alone(Struct, frozen=True):
    """restic without what this computer has: the words before its command line, its home (None: the person's), and for what passes."""

    before: tuple[str, ...]
    home: Path | None
    passing: Path


class Restic:
    """restic with an address and a password; errors of all methods: those of `failures.failure`, NotSetUp, InvalidInput."""

    def __init__(
        self, places: Places, access: Access, patience: float = 90.0, waiting: str = "2m", alone: Alone | None = None
    ) -> None:
        self.places = places
        self._patience = patience
        self._waiting = waiting
        self._alone = alone
        self.access = access

    def run(self, *arguments: str, doing: str, **options: Any) -> Finished:
        """Run it to its end, with the options of `_run`; a lock that others have left long ago is removed."""
        waiting = ("--retry-lock", self._waiting) if "--no-lock" not in arguments and self._can_wait else ()
        command = (arguments[0], *waiting, *arguments[1:])
        try:
            return self._run(command, doing, **options)
        except Locked as error:
            if not error.is_stale:
                raise
        self.unlock()
        return self._run(command, doing, **options)

    @contextmanager
    def answer(self, *arguments: str, doing: str) -> Iterator[IO[bytes]]:
        """Run it without a lock, with its standard output in a file that is removed with the block."""
        with tempfile.NamedTemporaryFile() as file:
            self.run(*arguments, "--no-lock", doing=doing, output=Path(file.name))
            yield file

    def ask(self, *arguments: str, doing: str) -> Any:
        """Run it and parse its answer as JSON."""
        with self.answer(*arguments, doing=doing) as file:
            try:
                return json.load(file)
            except ValueError as error:
                raise BackupFailed(f"restic could not {doing}: its answer cannot be read: {error}.") from error

    def unlock(self) -> None:
        """Remove the locks of processes of this computer that are no more, and those that nobody has renewed for half an hour."""
        self._run(("unlock",), "remove a lock that was left")

    @cached_property
    def _can_wait(self) -> bool:
        found = re.search(r"restic (\d+)\.(\d+)", self._run(("version",), "say its version").output)
        return found is not None and tuple(map(int, found.groups())) >= _WAITS_SINCE

    def _run(
        self,
        arguments: tuple[str, ...],
        doing: str,
        said: Callable[[str], object] = str,
        allowed: tuple[int, ...] = (),
        output: Path | None = None,
    ) -> Finished:
        """`doing` completes `restic could not …`; each line goes to `said`, or standard output to the file `output`."""
        check_password(self.access)
        if shutil.which("restic") is None:
            hint = "Install it: sudo apt-get install restic"
            raise Unavailable("The program restic is not installed.", hint, key="restic_missing")
        last = [""]

        def heard(line: str) -> None:
            last[0] = line
            said(line)

        own = {
            "RESTIC_REPOSITORY": self.access.repository,
            "RESTIC_PASSWORD_FILE": str(self.access.password_file),
            "RESTIC_CACHE_DIR": str(private_folder(self.places.folder / "cache")),
            "RESTIC_PROGRESS_FPS": "4",
        }
        taken, before = ["HOME", "TMPDIR", "SSH_AUTH_SOCK"], tuple[str, ...]()
        if self._alone is not None:
            own["TMPDIR"], before = str(self._alone.passing), self._alone.before
            if self._alone.home is not None:
                own["HOME"], taken = str(self._alone.home), []
        variables = children.environment(*taken, **{**self.access.variables, **own})
        seconds = self._patience if arguments[0] in _QUICK else math.inf
        bounds: dict[str, Any] = {"folder": Path("/"), "seconds": seconds, "largest": _LARGEST}
        try:
            ended = children.run(
                [*before, "restic", *arguments], variables=variables, said=heard, output=output, **bounds
            )
        except Unavailable as error:
            late = f"The repository {self.access.shown} did not answer within {seconds:.0f} seconds"
            hint = "Check the network, and that the other machine is running."
            raise BackupFailed(f"{': '.join(filter(None, (late, *last)))[:500]}.", hint) from error
        if ended.code and ended.code not in allowed:
            raise failures.failure(self.access, doing, ended.code, ended.output)
        return ended
