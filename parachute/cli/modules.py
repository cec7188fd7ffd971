"""Modules at a terminal: their states, the steps of an installation, the consent, and the server's reload."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from parachute.base.errors import ParachuteError
from parachute.cli.api import Api
from parachute.cli.asking import confirm
from parachute.cli.output import clean, local, print_error, print_facts, print_json, print_note, print_table, styled
from parachute.config.settings.home import Home

if TYPE_CHECKING:
    from parachute.modules.registry.agent_limits import AgentLimit
    from parachute.modules.registry.installation import Installation
    from parachute.modules.registry.models import ModuleStatus
    from parachute.modules.registry.service import Modules
    from parachute.modules.trees.changes import FileChange

STATES = {
    "ready": ("ready", "Approved and ready to start. Shown while the computer is stopped."),
    "disabled": ("disabled", "You switched it off."),
    "pending_approval": ("waits for approval", "Its files in the vault are not those that you approved."),
    "missing": ("missing", "Its folder in the vault is gone."),
    "damaged": ("damaged", "The copy that would run is not what you approved."),
    "installing": ("installing", "The system's configuration declares it, and it is being installed."),
    "not_installed": ("not installed", "A folder in the vault that was not approved on this computer."),
}
"""For each state of a module the word for it, and what it means."""

UNIT_STATES = {
    "listening": ("asleep", "Nothing runs; the next request or event starts it."),
    "starting": ("starting", "Its process has begun, and does not answer yet."),
    "running": ("running", "Its process answers."),
    "stopping": ("stopping", "Its process is about to end."),
    "stopped": ("stopped", "It has no process, and gets none before the reason is gone."),
    "failed": ("failed", "It failed repeatedly and stays down until you enable it."),
}
"""The same of its process, while the computer runs."""


class Steps:
    """The steps of an installation: lines that stay on standard output, and on a terminal one that changes."""

    def __init__(self, as_json: bool) -> None:
        self._stream = sys.stderr if as_json else sys.stdout
        self._width = 0

    def step(self, text: str) -> None:
        """Print a line."""
        self.close()
        print(clean(text), file=self._stream, flush=True)

    def detail(self, text: str) -> None:
        """Replace the last such line, where somebody watches."""
        if sys.stderr.isatty():
            line = clean(text)[:78]
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def close(self) -> None:
        """Clear the line that changes."""
        if self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)
            self._width = 0


@contextmanager
def shown_steps(as_json: bool) -> Iterator[Steps]:
    """Steps of which no line is left half."""
    steps = Steps(as_json)
    try:
        yield steps
    finally:
        steps.close()


def with_units(home: Home, found: "list[ModuleStatus]") -> "list[ModuleStatus]":
    """The same with the processes of a running server; as they are if nothing runs."""
    api = Api.if_available(home)
    if api is None:
        return found
    try:
        rows = {row["name"]: row for row in api.get("/api/modules")["modules"]}
    except ParachuteError as error:
        print_note(f"The running computer does not report its modules: {error.message}")
        return found
    return [status.with_row(rows[status.name]) if status.name in rows else status for status in found]


def reload_server(home: Home) -> str | None:
    """Let a running server take up what changed; returns its address, None if nothing runs."""
    api = Api.if_available(home)
    if api is None:
        return None
    try:
        api.post("/api/modules/reload", seconds=60)
    except ParachuteError as error:
        print_note(f"The running computer did not take it up: {error.message} `parachute restart` makes it.")
    return api.url


def put_in_place(installation: "Installation", yes: bool, as_json: bool) -> bool:
    """Put a staged module in place if the person says yes; else exit, and nothing is left. False if it is there already."""
    if installation.is_unchanged:
        return False
    question = installation.question
    if not as_json:
        print(f"\n{clean(question.as_text())}\n", flush=True)
    elif not yes:
        print_json(question.review())
    confirm(question.sentence, "Nothing was changed.", yes=yes, as_json=as_json)
    installation.finish()
    return True


def print_installed(home: Home, modules: "Modules", name: str, what: str, as_json: bool) -> None:
    """Reload a running server, and print what has become of the module."""
    address = reload_server(home)
    found = modules.status(name)
    if as_json:
        print_json(found)
        return
    print(f"✓ Module '{name}' {what if 'approved' in what else f'is {what}'}")
    print(f"  Path: {found.folder}")
    if found.reason:
        print(f"  {found.reason}")
    elif address:
        unit = with_units(home, [found])[0].unit
        if unit and unit.reason and unit.state != "running":
            print_error(f"It does not start: {unit.reason}", f"Its log has more: parachute logs {name}")
        else:
            print(f"  It answers at {address}/api/{name}/")
    else:
        print("\nStart the computer to load it: parachute start")
    for sentence in found.not_given:
        print_note(sentence)


def print_modules(found: "list[ModuleStatus]") -> None:
    """The table of all modules, and below it what somebody has to do."""
    rows = [
        (
            status.name,
            status.version or "",
            _trust(status),
            _word(status),
            status.source or "",
        )
        for status in found
    ]
    _print_all(found, lambda: print_table(["Name", "Version", "Trust", "State", "Source"], rows))


def print_states(found: "list[ModuleStatus]") -> None:
    """Each module with its state and the reason for it."""
    _print_all(found, lambda: print_facts([(status.name, _sentence(status)) for status in found]))


def print_module(status: "ModuleStatus") -> None:
    """Everything about one module."""
    facts = [("Name", status.name), ("State", _sentence(status)), ("Folder", status.folder)]
    if status.declared:
        facts.append(("Declared", "by the system's configuration"))
    if status.hash is not None:
        facts += [
            ("Version", status.version or ""),
            ("Trust", _trust(status)),
            ("Source", f"{status.source}{f', folder {status.path}' if status.path else ''}"),
            ("Hash", status.hash),
            ("Approved", local(status.approved_at)),
        ]
        facts += [(f"Agent {name}", f"limited to {_limit(limit)}") for name, limit in status.agent_limits.items()]
    if status.pending_hash:
        facts.append(("Changed to", status.pending_hash))
    if unit := status.unit:
        numbers = {"Process": unit.process, "Restarts": unit.restarts, "Events waiting": unit.backlog}
        facts += [(what, str(number)) for what, number in numbers.items() if number]
    facts += [("Not given", sentence) for sentence in status.not_given]
    facts += [("Not enforced", sentence) for sentence in status.confinement]
    _print_all([status], lambda: print_facts(facts))


def _limit(limit: "AgentLimit") -> str:
    parts = [f"paths {', '.join(limit.paths) or 'none'}"] if limit.paths is not None else []
    parts += [f"tools {', '.join(limit.capabilities) or 'none'}"] if limit.capabilities is not None else []
    return "; ".join([*parts, *(["no network"] if limit.network else [])])


def print_changes(changes: "list[FileChange]") -> None:
    """Unified diffs, in colours on a terminal."""
    styles = {"+": "32", "-": "31", "@": "36"}
    for change in changes:
        if change.note or not change.lines:
            heading = f"{change.kind}: {change.path}{f': {change.note}' if change.note else ''}"
            print(styled(clean(heading), "1", sys.stdout))
        for line in change.lines:
            style = styles.get(line[:1])
            print(styled(clean(line), style, sys.stdout) if style else clean(line))


def _print_all(found: "list[ModuleStatus]", print_them: Callable[[], None]) -> None:
    if not found:
        print_note("There are no modules. `parachute modules install SOURCE` installs one.")
        return
    print_them()
    for status in found:
        if status.problem:
            print_note(f"The module {status.name} differs from its declaration: {status.problem}")
        if status.unit and status.unit.state == "failed":
            print_note(f"The module {status.name} is down. To try again: parachute modules enable {status.name}")


def _word(status: "ModuleStatus") -> str:
    """The state of a module and its process in a word or two."""
    word = STATES[status.state][0]
    if status.unit is None:
        return word
    if status.state == "ready":
        return UNIT_STATES.get(status.unit.state, (status.unit.state, ""))[0]
    # What was approved before goes on running.
    return f"{word}, still running" if status.unit.process else word


def _sentence(status: "ModuleStatus") -> str:
    """The same with the reason."""
    unit = status.unit
    reason = status.reason or (unit.reason if unit and unit.state in ("failed", "stopped", "listening") else None)
    sentence = f"{_word(status)}: {reason}" if reason else _word(status)
    if status.state == "pending_approval":
        sentence += f" See it with `parachute modules diff {status.name}`, approve it with `parachute modules approve {status.name}`."
    return sentence


def _trust(status: "ModuleStatus") -> str:
    if status.hash is None:
        return "declared" if status.declared else ""
    notes = {str(status.trust_level): True, "declared": status.declared, "runs in place": status.dev}
    return ", ".join(note for note, holds in notes.items() if holds)
