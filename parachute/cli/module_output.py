"""How modules, their consent and their changes look in a terminal."""

import sys
from typing import TYPE_CHECKING, Any

from parachute.cli.module_states import sentence_of, state_word
from parachute.cli.output import clean, print_facts, print_note, print_table, styled
from parachute.cli.times import local

if TYPE_CHECKING:
    from parachute.modules.changes import FileChange
    from parachute.modules.models import ModuleStatus
    from parachute.settings.home import Home


class Steps:
    """Says what an installation does: lines that stay on standard output, and on a terminal one that changes."""

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


def print_modules(found: "list[ModuleStatus]") -> None:
    """The table of all modules, and below it what somebody has to do."""
    if not found:
        print_note("There are no modules. `parachute modules install SOURCE` installs one.")
        return
    rows = [
        (
            status.name,
            (status.module.version if status.module else "") or "",
            _trust(status),
            state_word(status),
            status.module.source if status.module else "",
        )
        for status in found
    ]
    print_table(["Name", "Version", "Trust", "State", "Source"], rows)
    _print_failed(found)


def print_states(found: "list[ModuleStatus]") -> None:
    """Each module with its state and the reason for it."""
    if not found:
        print_note("There are no modules. `parachute modules install SOURCE` installs one.")
    print_facts([(status.name, sentence_of(status)) for status in found])
    _print_failed(found)


def print_module(status: "ModuleStatus") -> None:
    """Everything about one module."""
    module = status.module
    facts = [("Name", status.name), ("State", sentence_of(status)), ("Folder", str(status.folder))]
    if status.declared:
        facts.append(("Declared", "by the system's configuration"))
    if module:
        approved = local(module.approved_at)
        facts += [
            ("Version", module.version),
            ("Trust", _trust(status)),
            ("Source", f"{module.source}{f', folder {module.path}' if module.path else ''}"),
            ("Hash", module.hash),
            ("Approved", approved),
        ]
    if status.pending_hash:
        facts.append(("Changed to", status.pending_hash))
    if status.unit:
        numbers = (
            ("Process", status.unit.process),
            ("Restarts", status.unit.restarts),
            ("Events waiting", status.unit.backlog),
        )
        facts += [(what, str(number)) for what, number in numbers if number]
    facts += [("Not enforced", sentence) for sentence in status.confinement]
    print_facts(facts)
    _print_failed([status])


def print_changes(changes: "list[FileChange]") -> None:
    """Unified diffs, in colours on a terminal."""
    styles = {"+": "32", "-": "31", "@": "36"}
    for change in changes:
        if change.note:
            print(styled(clean(f"{change.kind}: {change.path}: {change.note}"), "1", sys.stdout))
        elif not change.lines:
            print(styled(clean(f"{change.kind}: {change.path}"), "1", sys.stdout))
        for line in change.lines:
            style = styles.get(line[:1])
            print(styled(clean(line), style, sys.stdout) if style else clean(line))


def tell_core(home: "Home") -> str | None:
    """Let a running core take up what changed; returns its address, None if nothing runs."""
    from parachute.cli.api import Api
    from parachute.errors import ParachuteError, Unavailable

    try:
        api = Api.find(home)
    except Unavailable:
        return None
    try:
        api.post("/api/modules/reload", seconds=60)
    except ParachuteError as error:
        print_note(f"The running computer did not take it up: {error.message} `parachute restart` makes it.")
    return api.url


def ask(question: str) -> bool:
    """A yes or no at the terminal; anything but yes is no."""
    sys.stdout.flush()
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask(as_json: bool) -> bool:
    """Whether a person sits at the terminal."""
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def rows_as_json(found: "list[ModuleStatus]") -> list[dict[str, Any]]:
    """All modules for `--json`."""
    return [status.as_json() for status in found]


def _trust(status: "ModuleStatus") -> str:
    if status.module is None:
        return "declared" if status.declared else ""
    notes = [str(status.module.trust)]
    if status.declared:
        notes.append("declared")
    if status.module.dev:
        notes.append("runs in place")
    return ", ".join(notes)


def _print_failed(found: "list[ModuleStatus]") -> None:
    for status in found:
        if status.problem:
            print_note(f"The module {status.name} is not as declared: {status.problem}")
        if status.unit and status.unit.state == "failed":
            print_note(f"The module {status.name} is down. To try again: parachute modules enable {status.name}")
