"""The checks of a rehearsal in their order, from the settings to the end."""

import json
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.config.settings import store
from parachute.config.settings.home import Home
from parachute.ops.doctor.findings import Findings
from parachute.ops.rehearsal import contract, databases, doctor
from parachute.ops.rehearsal.conversation import Conversation
from parachute.ops.rehearsal.models import Check
from parachute.ops.rehearsal.new_version import NewVersion, NotAnswered
from parachute.ops.rehearsal.plan import Plan
from parachute.security.keys.cli_token import CliToken

START_PROCESSOR_SECONDS = 6.0
"""Ten times the budget of a start, in processor time: what else the machine does is no fault of the new version."""

RESIDENT_MEGABYTES = 135
"""One and a half times the budget of server and supervisor at rest."""

_LEAST_MEGABYTES, _LARGEST_MEGABYTES = 500, 1500
"""Memory for all processes of the new version together: half of the free one, within these."""

_WAITS = ("pending_approval", "not_installed")
_DOWN = (500, 502, 503, 504)


class Checking:
    """Examines the new version; `report` hears of each check, `changed` of what the new version would change."""

    def __init__(self, plan: Plan, *, report: Callable[[Check], None], changed: Callable[[str], None]) -> None:
        self._plan = plan
        self._report = report
        self._changed = changed
        self._home = Home(Path(plan.home))
        self._vault = Path(plan.vault)
        self._conversation = Conversation.new(self._vault)
        self._before = self._databases()
        self._environment = dict(plan.environment)

    def run(self) -> None:
        """Run them; what follows from one that failed is not tried."""
        old = self._plan.old_python
        with self._model():
            if not self._knows_settings():
                return
            try:
                findings = doctor.examined(old, self._environment)
                modules = doctor.answer(old, ["modules", "list", "--json"], self._environment)
            except doctor.NotExamined as error:
                self._say("doctor", False, "The running version cannot examine the copies.", str(error))
                return
            computer = self._computer()
            try:
                if self._starts(computer):
                    self._migrated()
                    self._keeps_contract(computer)
                    self._memory(computer)
                    self._doctor(findings)
                    self._modules(computer, modules)
                    self._report(self._conversation.hold(computer))
                    self._ends(computer)
            finally:
                computer.kill()
        self._databases_are_whole()

    def run_restored(self) -> None:
        """Run those that show that what a backup has brought back is a computer."""
        with self._model():
            computer = self._computer()
            try:
                if (reason := computer.start()) is not None:
                    self._say("start", False, f"The computer does not start from it. {reason}", computer.said() or None)
                    return
                self._say("start", True, "The computer starts from it.")
                self._keeps_contract(computer)
            finally:
                computer.kill()

    @contextmanager
    def _model(self) -> Iterator[None]:
        with self._conversation.model() as model, model.running():
            self._environment |= {"PARACHUTE_BASE_URL": model.url, "ANTHROPIC_API_KEY": "rehearsal"}
            yield

    def _computer(self) -> NewVersion:
        token = CliToken(self._home.root).obtain()
        largest = min(_LARGEST_MEGABYTES << 20, max(_LEAST_MEGABYTES << 20, _available_bytes() // 2))
        return NewVersion(self._plan.python, self._plan.port, self._home.root, self._environment, token, largest)

    def _say(self, name: str, ok: bool, sentence: str, detail: str | None = None) -> None:
        self._report(Check(name, ok, sentence, detail))

    def _knows_settings(self) -> bool:
        """Ask the new version for its settings, with none in the file, and compare."""
        empty = self._home.root / "run" / "no-settings"
        empty.mkdir(mode=0o700, parents=True)
        variables = {name: value for name, value in self._environment.items() if not name.startswith("PARACHUTE_")}
        try:
            rows = doctor.answer(self._plan.python, ["config", "--json"], {**variables, "PARACHUTE_HOME": str(empty)})
            names = {str(row["name"]) for row in rows}
        except (doctor.NotExamined, LookupError, TypeError) as error:
            self._say("settings", False, "The new version's program does not run.", str(error))
            return False
        try:
            document = store.read_document(self._home)
        except ParachuteError as error:
            self._say("settings", False, error.message, error.hint)
            return False
        unknown = _unknown(document, names)
        for name in unknown:
            self._changed(f"The setting {name} is no longer known.")
        if unknown:
            sentence = f"The new version does not know these settings, and would not start: {', '.join(unknown)}."
            said = "\n".join(f"`parachute config unset {name}` takes it out." for name in unknown)
            self._say("settings", False, sentence, said)
            return False
        self._say("settings", True, "The new version knows all settings of config.yaml.")
        return True

    def _starts(self, computer: NewVersion) -> bool:
        if (reason := computer.start()) is not None:
            self._say("start", False, f"The new version does not start. {reason}", computer.said() or None)
            return False
        seconds = computer.processor_seconds()
        if seconds > START_PROCESSOR_SECONDS:
            limit = f"more than {START_PROCESSOR_SECONDS:g}"
            self._say("start", False, f"The start took {seconds:.1f} seconds of the processor, {limit}.")
            return True
        self._say("start", True, f"It is healthy after {seconds:.1f} seconds of the processor.")
        return True

    def _migrated(self) -> None:
        """Say which migrations ran; that all of them did is what a start without an error means."""
        after = self._databases()
        for sentence in databases.compared(self._before, after):
            self._changed(sentence)
        lost = [path.name for path in self._before if path not in after]
        if lost:
            self._say("migrations", False, f"Databases are gone: {', '.join(lost)}.")
            return
        count = sum(
            len(set(now.migrations) - set(self._before[path].migrations))
            for path, now in after.items()
            if path in self._before
        )
        said = f"{count} migrations ran" if count != 1 else "One migration ran"
        self._say("migrations", True, f"{said} in {len(after)} databases." if count else "There is nothing to migrate.")

    def _keeps_contract(self, computer: NewVersion) -> None:
        wrong: list[str] = []
        down: set[str] = set()
        found: dict[str, str] = {}
        asked = 0
        installed = self._ready_modules(computer)
        for call in contract.CALLS:
            if call.module is not None and call.module not in installed:
                continue
            try:
                path = call.path.format_map({name: urllib.parse.quote(text, safe="") for name, text in found.items()})
            except KeyError:
                continue  # there is none of these
            try:
                status, answer = computer.ask(path)
            except NotAnswered as error:
                wrong.append(str(error))
                continue
            asked += 1
            if status != 200:
                down |= {call.module} if call.module is not None else set()
                wrong.append(f"GET {path} answers {status}: {json.dumps(answer)[:200]}")
                continue
            wrong += [f"GET {path}: {each}" for each in list(contract.problems(answer, call.shape))[:3]]
            for name, place in call.finds.items():
                if text := contract.found_at(answer, place):
                    found[name] = text
            if call.path.startswith("/api/chat?limit=500") and call.finds and not answer.get("sessions"):
                wrong += self._lost_sessions()
        if wrong:
            more = [f"And {len(wrong) - 10} more."] if len(wrong) > 10 else []
            modules = f": the modules that do not work are {', '.join(sorted(down))}" if down else ""
            sentence = f"The computer does not answer {len(wrong)} of the app's requests as it needs them{modules}."
            self._say("contract", False, sentence, "\n".join([*wrong[:10], *more]))
        else:
            self._say("contract", True, f"All {asked} requests of the app are answered as it needs them.")

    def _lost_sessions(self) -> list[str]:
        before = self._before.get(self._vault / ".parachute" / "sessions.db", databases.Content())
        active = before.active_sessions
        return [f"GET /api/chat lists no conversation, and there are {active}."] if active else []

    def _ready_modules(self, computer: NewVersion) -> set[str]:
        return {str(row.get("name")) for row in _rows(computer) if row.get("state") == "ready" and row.get("enabled")}

    def _memory(self, computer: NewVersion) -> None:
        try:
            megabytes = computer.resident_bytes() / 1e6
        except OSError as error:
            self._say("memory", False, f"The memory of the new version cannot be measured: {error.strerror}.")
            return
        enough = megabytes <= RESIDENT_MEGABYTES
        limit = "" if enough else f", more than {RESIDENT_MEGABYTES}"
        self._say("memory", enough, f"Server and supervisor take {megabytes:.0f} MB{limit}.")

    def _doctor(self, before: dict[str, dict[str, Any]]) -> None:
        known = frozenset(Findings.read(self._home.root).found)
        try:
            after = doctor.examined(self._plan.python, self._environment)
        except doctor.NotExamined as error:
            self._say("doctor", False, "The new version's doctor does not come to an end.", str(error))
            return
        self._report(doctor.compared(before, known, after))

    def _modules(self, computer: NewVersion, before: Any) -> None:
        waited = {row["name"] for row in before if row["state"] in _WAITS}
        rows = _rows(computer)
        for row in rows:
            if row["state"] in _WAITS and row["name"] not in waited:
                self._changed(
                    f"The module {row['name']} waits for your approval: `parachute modules approve {row['name']}`."
                )
        ready = [str(row["name"]) for row in rows if row.get("state") == "ready" and row.get("enabled")]
        down = []
        for name in ready:
            try:
                status, answer = computer.ask(f"/api/{name}/rehearsal-{self._conversation.name}", seconds=60)
                if status in _DOWN:
                    down.append(f"{name}: {json.dumps(answer)[:300]}")
            except NotAnswered as error:
                down.append(f"{name}: {error}")
        broken = [f"{row['name']}: {row.get('reason')}" for row in rows if row["state"] in ("damaged", "missing")]
        known = {row["name"] for row in before if row["state"] in ("damaged", "missing")}
        down += [line for line in broken if line.partition(":")[0] not in known]
        if down:
            self._say("modules", False, f"Modules do not run with the new version: {len(down)}.", "\n".join(down))
        else:
            self._say(
                "modules", True, f"All {len(ready)} modules run." if ready else "No module is installed that could run."
            )

    def _ends(self, computer: NewVersion) -> None:
        reason = computer.end()
        if computer.took_too_much:
            self._say("memory", False, "The new version was ended, because it takes too much memory.")
        elif reason is not None:
            self._say("end", False, f"The new version does not end well. {reason}", computer.said() or None)
        else:
            self._say("end", True, "It ends when it is asked to, and leaves nothing behind.")

    def _databases(self) -> dict[Path, databases.Content]:
        return {path: databases.content_of(path) for path in databases.present(self._home.root, self._vault)}

    def _databases_are_whole(self) -> None:
        found = databases.present(self._home.root, self._vault)
        damaged = [f"{path.name}: {said}" for path in found if (said := databases.problem(path))]
        if damaged:
            sentence = f"The new version leaves {len(damaged)} of the databases damaged."
            self._say("databases", False, sentence, "\n".join(damaged))
        else:
            self._say("databases", True, f"All {len(found)} databases are whole.")


def _rows(computer: NewVersion) -> list[dict[str, Any]]:
    with suppress(NotAnswered):
        status, answer = computer.ask("/api/modules")
        if status == 200 and isinstance(answer, dict) and isinstance(rows := answer.get("modules"), list):
            return [row for row in rows if isinstance(row, dict) and "name" in row and "state" in row]
    return []


def _unknown(document: dict[str, Any], names: set[str], above: str = "") -> list[str]:
    found = []
    for key, value in document.items():
        name = f"{above}{key}"
        if name in names:
            continue
        if isinstance(value, dict) and any(each.startswith(f"{name}.") for each in names):
            found += _unknown(value, names, f"{name}.")
        elif value is not None or not any(each.startswith(f"{name}.") for each in names):
            found.append(name)
    return found


def _available_bytes() -> int:
    rows = Path("/proc/meminfo").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith("MemAvailable:"))
