"""`parachute backup`: make, list and restore backups."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from msgspec import to_builtins

from parachute.base.clock import as_text
from parachute.base.errors import InvalidInput
from parachute.cli.asking import agrees
from parachute.cli.commands import JSON, group
from parachute.cli.installation import settings
from parachute.cli.output import (
    clean,
    counted,
    local,
    print_answer,
    print_error,
    print_facts,
    print_json,
    print_note,
    print_rows,
    print_warning,
    size,
)
from parachute.config.settings.home import Home
from parachute.ops.backup.access import Access
from parachute.ops.backup.kit.protection import NOT_PROTECTED, TO_PROTECT, opened
from parachute.ops.backup.kit.protection import concerns as concerns_of
from parachute.ops.backup.state import State

if TYPE_CHECKING:
    from parachute.cli.backup import Backups
    from parachute.ops.backup.backups import Backup
    from parachute.ops.backup.create import Created
    from parachute.ops.backup.restore import Restored

INCOMPLETE = 3
"""The exit code of a backup that was made, but lacks files that could not be read, as restic has it."""

_NAME = typer.Argument("latest", help="A backup of `parachute backup list`.")
_SHOWN = 10
_LAST_STEP = (
    "Next: print what `parachute backup kit` shows, and type its password back with `parachute backup kit --check`. "
    "The backups count as protected once that has opened them."
)
_CALLED = {"vault": "Vault", "trust": "Keys, approvals, settings"}
_NAMED = {
    "unreadable": "could not be read and are missing in the backup",
    "damaged": "are databases that SQLite cannot read; they are in the backup as they are",
    "vanished": "vanished meanwhile",
    "special": "are sockets, pipes or devices, which no backup holds",
}


def init(
    place: str | None = typer.Argument(
        None, help="Where backups go, such as /media/usb/parachute: the settings name it, and the first one is made."
    ),
    replace: bool = typer.Option(
        False, "--replace", help="Have backups go to PLACE although another place is set; what is there stays there."
    ),
    as_json: bool = JSON,
) -> None:
    """Make the repository of backup.repository or at PLACE, and a password for it."""
    if replace and not place:
        raise InvalidInput("--replace needs the new PLACE.", key="replace_without_place")
    backups, made, replaced = _made(place, replaces=replace)
    repository, path = backups.access.shown, backups.access.password_file
    if as_json:
        first = backups.create() if place else None
        backup = {"backup": first.id, "complete": first.is_complete} if first else {}
        found = {"repository": repository, "replaced": replaced, "password_file": str(path), "password_made": made}
        print_json({**found, **backup})
        _end(first)
        return
    print(f"The repository {repository} is ready.")
    if replaced:
        print(f"Backups go to {repository} now; what is in {replaced} stays there.")
    # Before the first backup, which may fail; and also of one that was there: who was killed meanwhile does not know it yet.
    print(f"Its password is in {path}. Keep a copy elsewhere, on paper or in a password manager:")
    print("without it the backups cannot be read, and no backup contains it.", flush=True)
    first = backups.create() if place else None
    if first:
        _print_created(first)
    else:
        print_note("`parachute backup create` makes a backup.")
    print_note("`parachute service install` makes one each night.")
    print(_LAST_STEP)
    _end(first)


def create(as_json: bool = JSON) -> None:
    """Make a backup now; exit code 3 if it lacks files that could not be read."""
    made = _backups().create()
    if as_json:
        parts = {name: {**to_builtins(report), "complete": report.is_complete} for name, report in made.reports.items()}
        found = {"id": made.id, "complete": made.is_complete, "parts": parts}
        print_json(_plain({**found, "removed": made.removed, "not_removed": made.not_removed}))
    else:
        _print_created(made)
    _end(made)


def list_(as_json: bool = JSON) -> None:
    """Show the backups in the repository, newest last."""
    backups = _backups()
    found, own = backups.all(), backups.places.installation
    is_opened = opened(backups.home, settings(backups.home)) is not None
    if as_json:
        print_json(
            [
                {
                    "id": each.id,
                    "made_at": as_text(each.made_at),
                    "computer": each.computer,
                    "bytes": each.bytes,
                    "own": each.is_of(own),
                    "finished": each.is_finished,
                    "protected": each.is_finished and is_opened,
                }
                for each in found
            ]
        )
    elif found:
        _print_backups(found, own)
        if not is_opened:
            print_warning(NOT_PROTECTED, TO_PROTECT)
    else:
        print("The repository contains no backup yet.")


def verify(
    name: str = _NAME,
    quick: bool = typer.Option(False, "--quick", help="Check the repository's structure; read no files."),
    as_json: bool = JSON,
) -> None:
    """Read every file of a backup from the repository, and compare it with what was written."""
    result = _backups().verify(name, quick=quick)
    sentence = f"The backup {result.id} is what was backed up: {_held(result.files, result.bytes)}."
    if quick:
        sentence = "The structure of the repository is intact; its files were not read."
    found = {"id": result.id, "quick": quick, "files": result.files, "bytes": result.bytes}
    print_answer(found, as_json, sentence)


def restore(
    name: str = _NAME,
    trust: bool = typer.Option(False, "--trust", help="Restore keys, approvals and settings (~/.parachute) as well."),
    to: Path | None = typer.Option(None, "--to", help="Restore into this empty folder, and change nothing else."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JSON,
    by: str = typer.Option(
        "", "--by", hidden=True, help="Only order it: the next start restores it, for somebody of this name."
    ),
    browser: str | None = typer.Option(
        None, "--browser", hidden=True, help="With --by: the browser that stays signed in."
    ),
) -> None:
    """Put a backup in the place of the vault, which is kept beside it; the computer must not run."""
    if (by and to) or (browser and not by):
        raise InvalidInput(
            "--by orders a restore in place of the vault, and --browser goes with it.", key="by_without_place"
        )
    backups = _backups()
    if by:
        backups.prepare(backups.chosen(name), trust=trust, by=by, browser=browser)
        return
    to = backups.check_target(to, trust)
    found = backups.chosen(name)
    if to is None and not yes:
        _confirm_restore(found, backups, trust)
    result = backups.restore(found, to, trust=trust)
    print_answer(to_builtins(result), as_json, lambda _: _print_restored(result))


def drill(
    place: Path | None = typer.Option(None, "--place", help="A folder on a disk with room for all of it."),
    as_json: bool = JSON,
) -> None:
    """Restore the newest backup into a place of its own, compare it, start the computer from it, and remove it again."""
    result = _backups().drill(place)
    held = f"{_held(result.files, result.bytes)}, {counted(result.databases, 'sound database')}"
    started = f" Whether the computer starts from it was not tried: {result.not_started}"
    if result.started:
        started = " The computer starts from it, and answers what the app asks."
    print_answer(to_builtins(result), as_json, f"The backup {result.id} can be restored: {held}.{started}")


def kit(
    html: bool = typer.Option(False, "--html", help="Write a page for the printer, instead of text and a QR code."),
    check: bool = typer.Option(
        False, "--check", help="Open the backups with the kit's password, or its text, typed back."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JSON,
) -> None:
    """Show the emergency kit, which opens the backups on a new computer; nothing of it is stored."""
    from parachute.cli import emergency_kit  # pydantic

    if check:
        emergency_kit.check(as_json)
    else:
        emergency_kit.show(html=html, yes=yes, as_json=as_json)


def prune(
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would go, and remove nothing."),
    as_json: bool = JSON,
) -> None:
    """Remove the backups that backup.keep_daily, keep_weekly and keep_monthly do not keep."""
    backups = _backups()
    found = backups.prune(really=not dry_run)
    ids = [each.id for each in found]
    if as_json:
        print_json({"removed": [] if dry_run else ids, "removable": ids})
    elif found:
        print("These backups would go:" if dry_run else "These backups are gone:")
        _print_backups(found, backups.places.installation)
    else:
        print("No backup has expired.")


def status(as_json: bool = JSON) -> None:
    """Show how the last backup, verification and drill have ended; exit code 1 if somebody should look at it."""
    home = Home.find()
    state, found_settings = State.read(home.root), settings(home)
    repository = found_settings.backup.repository
    kit_opened, concerns = opened(home, found_settings), concerns_of(home, found_settings)
    if as_json:
        found: dict[str, Any] = {"configured": repository is not None, "concerns": concerns}
        found |= {"protected": kit_opened is not None, "kit_opened_at": kit_opened.at if kit_opened else None}
        print_json({**found, **{name: dict(entry) for name, entry in state.operations.items()}})
    elif repository:
        facts = [("Repository", Access(repository, Path()).shown)]
        for name, called in (("create", "Last backup"), ("verify", "Last verification"), ("drill", "Last drill")):
            entry = state.operations.get(name)
            about = f" ({entry['backup']})" if entry and entry.get("backup") else ""
            facts.append((called, f"{local(entry['at'])}: {entry['result']}{about}" if entry else "never"))
        facts.append(("Emergency kit", f"has opened them {local(kit_opened.at)}" if kit_opened else "not tried yet"))
        print_facts(facts)
    for concern in concerns if not as_json else ():
        if concern == NOT_PROTECTED:
            print_warning(concern, TO_PROTECT)
        else:
            print_error(concern)
    if not repository and not as_json:
        print_note("`parachute backup init /media/usb/parachute` chooses a place and makes the first backup.")
    if set(concerns) - {NOT_PROTECTED}:
        raise typer.Exit(1)


app = group(init, create, list_, kit, verify, restore, drill, prune, status)


def _backups() -> "Backups":
    # pydantic
    from parachute.cli.backup import Backups

    return Backups()


def _end(made: "Created | None") -> None:
    if made and not made.is_complete:
        raise typer.Exit(INCOMPLETE)


def _made(place: str | None, *, replaces: bool) -> tuple["Backups", bool, str | None]:
    # pydantic
    from parachute.cli.backup import Backups

    if place:
        return Backups.at(place, replaces=replaces)
    backups = Backups()
    return backups, backups.init(), None


def _plain(value: Any) -> Any:
    """A value for JSON: names that are no text get a question mark."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _held(files: int, count: int) -> str:
    return f"{counted(files, 'file')}, {size(count)}"


def _print_backups(found: "list[Backup]", installation: str) -> None:
    def row(backup: "Backup") -> tuple[str, ...]:
        states = {"unfinished": not backup.is_finished, "of another installation": not backup.is_of(installation)}
        state = ", ".join(name for name, holds in states.items() if holds)
        held = "" if backup.bytes is None else size(backup.bytes)
        return backup.id, local(backup.made_at), backup.computer, held, state

    print_rows(found, False, ["Backup", "Made", "Computer", "Size", "State"], row, "")


def _print_created(made: "Created") -> None:
    """Print what is in a new backup, and on standard error what is not."""
    print(f"The backup {made.id} is made.")
    facts = [
        (_CALLED[name], f"{_held(report.files, report.bytes)}, {counted(report.databases, 'database')}")
        for name, report in made.reports.items()
    ]
    print_facts(facts)
    if made.removed:
        print_facts([("Removed", counted(made.removed, "older backup"))])
    for name, report in made.reports.items():
        for field, what in _NAMED.items():
            if paths := getattr(report, field):
                shown = ", ".join(_plain(repr(path)) for path in paths[:_SHOWN])
                more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
                show = print_error if field in ("unreadable", "damaged") else print_note
                show(f"{_CALLED[name]}: these {what}: {shown}{more}.")
    if made.not_removed:
        print_note(f"Old backups were not removed: {made.not_removed}")


def _confirm_restore(backup: "Backup", backups: "Backups", trust: bool) -> None:
    """Say what will be replaced, and ask; error: InvalidInput where nobody can answer. Exit code 1 for a no."""
    what = [f"the vault {backups.places.vault}"]
    if trust:
        what.append(f"keys, approvals, settings and modules in {backups.places.home}")
    made = f"{local(backup.made_at)} by the computer {clean(backup.computer)}"
    print(f"The backup {backup.id}, made {made}, will replace {' and '.join(what)}.")
    print("The current vault is kept beside it.")
    if trust:
        print(
            "Keys and approvals that were withdrawn since then count again: look at `parachute keys list` afterwards."
        )
    if not sys.stdin.isatty():
        raise InvalidInput("Cannot ask: no terminal.", "`--yes` restores without asking.", key="cannot_ask")
    if not agrees("Restore it?"):
        print_note("Nothing was restored.")
        raise typer.Exit(1)


def _print_restored(result: "Restored") -> None:
    """Print the place of everything, and the way to undo it."""
    if result.recovered:
        print_note(result.recovered)
    print(f"The backup {result.id} is restored, and every file of it verified.")
    print_facts([(_CALLED[name], place) for name, place in result.places.items()])
    if kept := {name: path for name, path in result.kept.items() if path}:
        print("What was there before is kept. To undo it, stop the computer, and for each:")
        for name, path in kept.items():
            place = result.places[name]
            now, aside, before = map(shlex.quote, (place, f"{place}.restored", path))
            print(clean(f"  mv {now} {aside} && mv {before} {now}"))
    if "vault" in result.kept:
        print_note("Every conversation starts in the sandbox unless this computer itself holds your approval for it.")
