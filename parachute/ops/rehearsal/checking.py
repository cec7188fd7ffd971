"""The checks of a rehearsal in their order, from the start of the new version to its end."""

import json
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from parachute.ops.doctor.findings import Findings
from parachute.ops.rehearsal import databases
from parachute.ops.rehearsal.databases import Content
from parachute.ops.rehearsal.models import Check
from parachute.ops.rehearsal.new_version import NewVersion, NotAnswered
from parachute.ops.rehearsal.plan import Plan

_SECONDS = 100.0
_PROBLEM = "problem"
_WAITS = ("pending_approval", "not_installed")
_BROKEN = ("damaged", "missing")
_DOWN = (500, 502, 503, 504)


class _NotExamined(Exception):
    """A command of `parachute` gave no result; the text is a sentence."""


class Checking:
    """Examines the new version; `report` hears of each check, `changed` of what the new version would change."""

    def __init__(self, plan: Plan, report: Callable[[Check], None], changed: Callable[[str], None]) -> None:
        self._plan = plan
        self._report = report
        self._changed = changed
        self._computer = NewVersion(plan)

    def run(self) -> None:
        """Run them; what follows from one that failed is not tried."""
        try:
            if self._plan.is_restored:
                self._starts("The computer starts from it.", "The computer does not start from it.")
            else:
                self._examine()
        finally:
            self._computer.kill()

    def _examine(self) -> None:
        # The running version's own findings, in the same namespace: what is missing there is no fault of the new one.
        try:
            known = {str(row["id"]) for row in self._examined(self._plan.old_python) if row["result"] == _PROBLEM}
            modules = {row["name"]: row["state"] for row in self._answer(self._plan.old_python, "modules", "list")}
        except (_NotExamined, LookupError, TypeError) as error:
            self._say("doctor", False, "The running version cannot examine the copies.", str(error))
            return
        before = self._contents()
        if self._starts("The new version is healthy.", "The new version does not start."):
            self._migrated(before)
            self._doctor(known | set(Findings.read(Path(self._plan.home)).found))
            self._modules(modules)
            self._ends()

    def _say(self, name: str, ok: bool, sentence: str, detail: str | None = None) -> None:
        self._report(Check(name, ok, sentence, detail))

    def _starts(self, well: str, ill: str) -> bool:
        reason = self._computer.start()
        if reason is None:
            self._say("start", True, well)
        else:
            self._say("start", False, f"{ill} {reason}", self._computer.said())
        return reason is None

    def _migrated(self, before: dict[Path, Content]) -> None:
        """Say which migrations ran; that all of them did is what a start without an error means."""
        after = self._contents()
        for sentence in databases.compared(before, after):
            self._changed(sentence)
        lost = [path.name for path in before if path not in after]
        sentence = f"Databases are gone: {', '.join(lost)}." if lost else f"{len(after)} databases are up to date."
        self._say("migrations", not lost, sentence)

    def _doctor(self, known: Collection[str]) -> None:
        try:
            rows = self._examined(self._plan.python)
            new = [row for row in rows if row["result"] == _PROBLEM and row["id"] not in known]
        except (_NotExamined, LookupError, TypeError) as error:
            self._say("doctor", False, "The new version's doctor does not come to an end.", str(error))
            return
        if new:
            names = ", ".join(str(row["id"]) for row in new)
            lines = [f"{row['id']}: {row.get('message')} {row.get('next') or ''}".strip() for row in new]
            sentence = f"The doctor finds with the new version what it did not find before: {names}."
            self._say("doctor", False, sentence, "\n".join(lines))
        else:
            self._say("doctor", True, f"The doctor finds nothing new in {len(rows)} checks.")

    def _modules(self, before: dict[str, str]) -> None:
        try:
            rows = self._computer.ask("/api/modules")[1]["modules"]
            down = []
            for row in rows:
                name, state, earlier = row["name"], row["state"], before.get(row["name"])
                if state in _WAITS and earlier not in _WAITS:
                    approve = f"`parachute modules approve {name}`"
                    self._changed(f"The module {name} waits for your approval: {approve}.")
                if state in _BROKEN and earlier not in _BROKEN:
                    down.append(f"{name}: {row.get('reason')}")
                if state == "ready" and row["enabled"] and (reason := self._down(name)):
                    down.append(f"{name}: {reason}")
        except (NotAnswered, LookupError, TypeError) as error:
            self._say("modules", False, "The new version does not tell which modules there are.", str(error))
            return
        sentence = f"Modules do not run with the new version: {len(down)}." if down else "All modules run."
        self._say("modules", not down, sentence, "\n".join(down) or None)

    def _down(self, name: str) -> str | None:
        try:
            # Any request starts it, also one that it does not know.
            status, answer = self._computer.ask(f"/api/{name}/rehearsal")
        except NotAnswered as error:
            return str(error)
        return json.dumps(answer)[:300] if status in _DOWN else None

    def _ends(self) -> None:
        if reason := self._computer.end():
            self._say("end", False, f"The new version does not end well. {reason}", self._computer.said())
        else:
            self._say("end", True, "It ends when it is asked to.")

    def _contents(self) -> dict[Path, Content]:
        return databases.contents(Path(self._plan.home), Path(self._plan.vault))

    def _examined(self, python: str) -> list[dict[str, Any]]:
        return list(self._answer(python, "doctor")["checks"])

    def _answer(self, python: str, *arguments: str) -> Any:
        """Return the JSON that a command of `parachute` prints; error: _NotExamined."""
        command = " ".join(("parachute", *arguments, "--json"))
        try:
            ended = subprocess.run(
                [python, "-m", "parachute.cli", *arguments, "--json"],
                env=self._plan.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
            return json.loads(ended.stdout)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _NotExamined(f"`{command}` did not come to an end: {error}.") from error
        except ValueError as error:
            said = ended.stderr.strip().splitlines()
            raise _NotExamined(f"`{command}` ended with {ended.returncode}: {' '.join(said[-3:])[:500]}") from error
