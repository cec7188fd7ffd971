"""The doctor's examinations for the running server: once a day, and of single checks when something has changed."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from parachute.base.clock import Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.events.scheduler.service import Job
from parachute.events.scheduler.times import TimeOfDay
from parachute.ops.doctor.findings import Finding, Findings
from parachute.supervisor.command_runner import children

log = logging.getLogger(__name__)

_AT = TimeOfDay(4, 30)
_SECONDS = 600.0
_LARGEST = 256 * 1024 * 1024
_OLD = timedelta(hours=1)
_WRONG = 1
_RUNNING = "running"
_ALL = frozenset({"*"})
_VARIABLES = ("HOME", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS")


def no_such_problem() -> NotFound:
    """Return the error for a problem that is not there, or not the same, any more."""
    return NotFound("This problem is already solved or unknown.", "Try again.", key="no_such_problem")


class Examiner:
    """Runs `parachute doctor` as a program, outside of what holds the server back, one at a time; `changed` hears of each end."""

    def __init__(self, home: Home, changed: Callable[[], None]) -> None:
        self._home = home
        self.changed = changed
        self._one = asyncio.Lock()
        self._soon: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    async def close(self) -> None:
        """End the examination in the background, and begin none any more."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def found(self) -> list[Finding]:
        """Return the known problems that are not solved; those older than an hour are examined anew in the background."""
        findings = await asyncio.to_thread(Findings.read, self._home.root)
        now = datetime.now(UTC)
        old = [each.id for each in findings.found.values() if now - datetime.fromisoformat(each.examined_at) > _OLD]
        if old:
            self.soon(old)
        return findings.shown(now)

    @property
    def is_busy(self) -> bool:
        """Return whether an examination is under way."""
        return self._one.locked() or bool(self._soon)

    def soon(self, names: Iterable[str] = _ALL) -> None:
        """Run checks in the background, all of them unless some are named."""
        self._soon.update(names)
        if self._is_closed:
            return
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run_soon(), name="doctor")

    async def modules_changed(self) -> None:
        """Look again for what has failed, if something had: a module that was mended is no problem any more."""
        findings = await asyncio.to_thread(Findings.read, self._home.root)
        if _RUNNING in findings.found:
            self.soon([_RUNNING])

    async def examine(self, names: Iterable[str] = ()) -> None:
        """Run checks, or all of them, and write down what they find; error: Unavailable."""
        await self._run(*sorted(names))

    async def repair(self, name: str) -> str:
        """Mend what a check has found, and look again; errors as those of `fix`."""
        findings = await asyncio.to_thread(Findings.read, self._home.root)
        return await self.fix(str(findings.checks.get(name, {}).get("key")))

    async def fix(self, key: str) -> str:
        """Mend the problem of this key, and look again; what was done. Errors: NotFound, Conflict, Unavailable."""
        findings = await asyncio.to_thread(Findings.read, self._home.root)
        check = next((each for each in findings.checks.values() if each.get("key") == key), None)
        if check is None:
            raise no_such_problem()
        if not check.get("can_fix"):
            command = f"parachute doctor {check['id']}{' --fix' if check.get('fix') else ''}"
            raise Conflict(
                "This cannot be repaired from here.", check.get("next") or f"See `{command}`.", key="cannot_fix"
            )
        said = await self._run(str(check["id"]), "--fix", "--yes", "--key", key)
        try:
            fixed = json.loads(said[said.index("{") :])["fixed"]
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable("The fix gave no answer.", "Try again.", key="doctor_failed") from error
        if not fixed:
            raise no_such_problem()
        if not fixed[0]["done"]:
            raise Conflict(str(fixed[0]["message"]), check.get("next"), key="not_fixed")
        return str(fixed[0]["message"])

    async def _run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "parachute.cli", "doctor", "--json", "--record", *arguments]
        language = os.environ.get("LANG", "C.UTF-8")
        variables = children.environment(*_VARIABLES, PARACHUTE_HOME=str(self._home.root), LANG=language)
        async with self._one:
            ended = await asyncio.to_thread(
                children.run, command, folder=Path("/"), variables=variables, seconds=_SECONDS, largest=_LARGEST
            )
        self.changed()
        # An error has the code of a problem that was found, and says no JSON.
        if ended.code not in (0, _WRONG) or not ended.output.rstrip().endswith("}"):
            raise Unavailable(
                f"The doctor ended with {ended.code}.", "`parachute doctor` shows why.", key="doctor_failed"
            )
        return ended.output

    async def jobs(self, clock: Clock) -> Sequence[Job]:
        """The examination of every day; the first one is on the day after the first start."""
        findings = await asyncio.to_thread(Findings.read, self._home.root)
        last = findings.examined_at or clock.now()

        async def run(day: date, again: bool) -> None:
            await self.examine()

        return (Job("doctor", _AT, last.astimezone(clock.zone).date(), run),)

    async def _run_soon(self) -> None:
        while self._soon:
            names, self._soon = self._soon, set()
            try:
                await self.examine(() if names.issuperset(_ALL) else names)
            except (OSError, ParachuteError) as error:
                log.warning("%s could not be examined: %s", ", ".join(sorted(names - _ALL)) or "This computer", error)
                return
