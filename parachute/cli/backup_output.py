"""How backups are shown."""

import shlex
import sys
from typing import Any

import typer

from parachute.backup.access import Access
from parachute.backup.backups import Backup
from parachute.backup.create import Created
from parachute.backup.places import Places
from parachute.backup.restore import Restored
from parachute.backup.state import State
from parachute.cli.output import clean, counted, print_error, print_facts, print_note, size
from parachute.cli.times import local
from parachute.errors import InvalidInput

_SHOWN = 10
_CALLED = {"vault": "Vault", "trust": "Keys, approvals, settings"}
_NAMED = {
    "unreadable": "could not be read and are missing in the backup",
    "damaged": "are databases that SQLite cannot read; they are in the backup as they are",
    "unsettled": "were being written and are in the backup as they were at some moment",
    "vanished": "vanished meanwhile",
    "special": "are sockets, pipes or devices, which no backup holds",
}


def plain(value: Any) -> Any:
    """A value for JSON: names that are no text get a question mark."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def held(files: int, count: int, databases: int | None = None) -> str:
    """How much a backup holds."""
    parts = [counted(files, "file"), size(count)]
    return ", ".join([*parts, counted(databases, "database")] if databases is not None else parts)


def print_created(made: Created) -> None:
    """What is in a new backup, and on standard error what is not."""
    print(f"The backup {made.id} is made.")
    print_facts(
        [(_CALLED[name], held(report.files, report.bytes, report.databases)) for name, report in made.reports.items()]
    )
    if made.removed:
        print_facts([("Removed", counted(made.removed, "older backup"))])
    for name, report in made.reports.items():
        for field, what in _NAMED.items():
            if paths := getattr(report, field):
                shown = ", ".join(plain(repr(path)) for path in paths[:_SHOWN])
                more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
                tell = print_error if field in ("unreadable", "damaged") else print_note
                tell(f"{_CALLED[name]}: these {what}: {shown}{more}.")
    if made.not_removed:
        print_note(f"Old backups were not removed: {made.not_removed}")


def confirm_restore(backup: Backup, places: Places, trust: bool) -> None:
    """Say what will be replaced, and ask; errors: InvalidInput where nobody can answer, Abort for a no."""
    what = [f"the vault {places.vault}"]
    if trust:
        what.append(f"keys, approvals, settings and modules in {places.home}")
    made = f"{local(backup.made_at)} by the computer {clean(backup.computer)}"
    print(f"The backup {backup.id}, made {made}, will replace {' and '.join(what)}.")
    print("What is there now is kept beside it.")
    if trust:
        print(
            "Keys and approvals that were withdrawn since then count again: look at `parachute keys list` afterwards."
        )
    if not sys.stdin.isatty():
        raise InvalidInput("Nobody is there to confirm it.", "`--yes` restores without asking.")
    typer.confirm("Restore it?", abort=True)


def print_restored(result: Restored) -> None:
    """Where everything is now, and how to undo it."""
    if result.recovered:
        print_note(result.recovered)
    print(f"The backup {result.id} is restored, and every file of it compared with the manifest.")
    print_facts([(_CALLED[name], place) for name, place in result.places.items()])
    kept = {name: path for name, path in result.kept.items() if path}
    if kept:
        print("What was there before is kept. To undo it, stop the computer, and for each:")
        for name, path in kept.items():
            place = result.places[name]
            now, aside, before = map(shlex.quote, (place, f"{place}.restored", path))
            print(clean(f"  mv {now} {aside} && mv {before} {now}"))
    if "vault" in result.kept:
        print_note("Every conversation starts in the sandbox unless this computer itself holds your approval for it.")


def print_status(repository: str | None, state: State, concerns: list[str]) -> None:
    """What is known of the last backup, verification and drill."""
    if repository:
        from pathlib import Path

        facts = [("Repository", Access(repository, Path()).shown)]
        for name, called in (("create", "Last backup"), ("verify", "Last verification"), ("drill", "Last drill")):
            entry = state.operations.get(name)
            about = f" ({entry['backup']})" if entry and entry.get("backup") else ""
            facts.append((called, f"{local(entry['at'])}: {entry['result']}{about}" if entry else "never"))
        print_facts(facts)
    for concern in concerns:
        print_error(concern)
    if not repository:
        print_note(
            "`parachute config set backup.repository /media/usb/backup` names one, then `parachute backup init`."
        )
