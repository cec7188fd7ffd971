"""`parachute backup`: make, look at and restore backups."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from parachute.cli.commands import group

if TYPE_CHECKING:
    from parachute.backup.backups import Backup
    from parachute.backup.models import Owner

INCOMPLETE = 3
"""The exit code of a backup that was made, but lacks files that could not be read, as restic has it."""

_JSON = typer.Option(False, "--json", help="Print JSON.")
_NAME = typer.Argument("latest", help="A backup of `parachute backup list`.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    backup = group("backup", "Encrypted backups of the vault and, apart from it, of keys and approvals.")
    for command in (init, create, list_, verify, restore, drill, prune, status):
        backup.command(command.__name__.rstrip("_"))(command)
    app.add_typer(backup)


def init(as_json: bool = _JSON) -> None:
    """Make the repository that backup.repository names, and a password for it."""
    from parachute.backup import making
    from parachute.cli.backup_context import Context
    from parachute.cli.output import print_json, print_note

    context = Context.find()
    made = making.make(context.places, context.repository)
    path = context.access.password_file
    if as_json:
        print_json({"repository": context.access.shown, "password_file": str(path), "password_made": made})
        return
    print(f"The repository {context.access.shown} is ready.")
    # Also of one that was there: who was killed between the two steps was not told.
    print(f"Its password is in {path}. Keep a copy elsewhere, on paper or in a password manager:")
    print("without it nobody can read the backups, and it is in none of them.")
    print_note("`parachute backup create` makes a backup; `parachute service install` makes one each night.")


def create(as_json: bool = _JSON) -> None:
    """Make a backup now; exit code 3 if it lacks files that could not be read."""
    from dataclasses import asdict

    from parachute.backup import create as making
    from parachute.cli import backup_output
    from parachute.cli.backup_context import Context
    from parachute.cli.output import print_json

    context = Context.find()
    with context.progress() as progress:
        made = making.create(context.places, context.repository, context.retention, progress)
    if as_json:
        parts = {name: {**asdict(report), "complete": report.is_complete} for name, report in made.reports.items()}
        told = {"id": made.id, "complete": made.is_complete, "parts": parts}
        print_json(backup_output.plain({**told, "removed": made.removed, "not_removed": made.not_removed}))
    else:
        backup_output.print_created(made)
    if not made.is_complete:
        raise typer.Exit(INCOMPLETE)


def list_(as_json: bool = _JSON) -> None:
    """Show the backups in the repository, newest last."""
    from parachute.backup import backups
    from parachute.cli.backup_context import Context
    from parachute.cli.output import print_json, print_table
    from parachute.clock import as_text

    context = Context.find()
    found, owner = backups.grouped(context.repository.snapshots()), context.places.owner
    if as_json:
        print_json(
            [
                {
                    "id": each.id,
                    "made_at": as_text(each.made_at),
                    "computer": each.computer,
                    "own": each.is_of(owner),
                    "finished": each.is_finished,
                }
                for each in found
            ]
        )
    elif found:
        print_table(["Backup", "Made", "Computer", "State"], [_row(each, owner) for each in found])
    else:
        print("There is no backup in the repository yet.")


def verify(
    name: str = _NAME,
    quick: bool = typer.Option(False, "--quick", help="Check the repository's structure; read no files."),
    as_json: bool = _JSON,
) -> None:
    """Read a backup from the repository, and compare every file with the manifest."""
    from parachute.backup import verify as verifying
    from parachute.cli.backup_context import Context
    from parachute.cli.backup_output import held
    from parachute.cli.output import print_json

    context = Context.find()
    found = context.chosen(name)
    with context.progress() as progress:
        result = verifying.verify(context.places, context.repository, found, progress, quick=quick)
    if as_json:
        print_json({"id": result.id, "quick": quick, "files": result.files, "bytes": result.bytes})
    elif quick:
        print("The repository is sound, as far as can be told without reading its files.")
    else:
        print(f"The backup {result.id} is what was backed up: {held(result.files, result.bytes)}.")


def restore(
    name: str = _NAME,
    trust: bool = typer.Option(False, "--trust", help="Restore keys, approvals and settings (~/.parachute) as well."),
    to: Path | None = typer.Option(None, "--to", help="Restore into this empty folder, and change nothing else."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = _JSON,
) -> None:
    """Put a backup in the place of the vault, which is kept beside it; the computer must not run."""
    from dataclasses import asdict

    from parachute.backup import restore as restoring
    from parachute.cli import backup_output
    from parachute.cli.backup_context import Context
    from parachute.cli.output import print_json
    from parachute.errors import InvalidInput

    context = Context.find()
    if to is None:
        with context.not_running():
            pass
    else:
        to = to.expanduser().absolute()
        restoring.check_empty(to)
        if trust and to.resolve().is_relative_to(context.places.vault.resolve()):
            raise InvalidInput(
                f"{to} lies in the vault, where agents could read the keys.", "Name a folder outside of it."
            )
    found = context.chosen(name)
    if to is None and not yes:
        backup_output.confirm_restore(found, context.places, trust)
    with context.progress() as progress:
        if to is not None:
            result = restoring.restore_into(context.repository, found, to, progress, trust=trust)
        else:
            result = restoring.restore(
                context.places, context.repository, found, context.not_running, progress, trust=trust
            )
    if as_json:
        print_json(asdict(result))
    else:
        backup_output.print_restored(result)


def drill(
    place: Path | None = typer.Option(None, "--place", help="A folder on a disk with room for all of it."),
    as_json: bool = _JSON,
) -> None:
    """Restore the newest backup into a place of its own, compare it, open its databases, and remove it again."""
    from dataclasses import asdict

    from parachute.backup import drill as drilling
    from parachute.cli.backup_context import Context
    from parachute.cli.backup_output import held
    from parachute.cli.output import counted, print_json

    context = Context.find()
    with context.progress() as progress:
        result = drilling.drill(
            context.places, context.repository, progress, place=place.expanduser() if place else None
        )
    if as_json:
        print_json(asdict(result))
    else:
        print(
            f"The backup {result.id} can be restored: {held(result.files, result.bytes)}, "
            f"{counted(result.databases, 'sound database')}."
        )


def prune(
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would go, and remove nothing."),
    as_json: bool = _JSON,
) -> None:
    """Remove the backups that backup.keep_daily, keep_weekly and keep_monthly do not keep."""
    from parachute.backup import create as making
    from parachute.cli.backup_context import Context
    from parachute.cli.output import print_json, print_table

    context = Context.find()
    found = making.prune(context.places, context.repository, context.keeping, really=not dry_run)
    if as_json:
        print_json(
            {"removed": [] if dry_run else [each.id for each in found], "removable": [each.id for each in found]}
        )
    elif found:
        print("These backups would go:" if dry_run else "These backups are gone:")
        owner = context.places.owner
        print_table(["Backup", "Made", "Computer", "State"], [_row(each, owner) for each in found])
    else:
        print("Every backup is to be kept.")


def status(as_json: bool = _JSON) -> None:
    """Show how the last backup, verification and drill have ended; exit code 1 if somebody should look at it."""
    from parachute.backup.state import State
    from parachute.cli import backup_output
    from parachute.cli.output import print_json
    from parachute.settings.home import Home
    from parachute.settings.store import load

    home = Home.find()
    state = State.read(home.root)
    repository = load(home).backup.repository
    concerns = state.concerns() if repository else ["No place for backups is set."]
    if as_json:
        told = {"configured": repository is not None, "concerns": concerns}
        print_json({**told, **{name: dict(entry) for name, entry in state.operations.items()}})
    else:
        backup_output.print_status(repository, state, concerns)
    if concerns:
        raise typer.Exit(1)


def _row(backup: "Backup", owner: "Owner") -> list[str]:
    from parachute.cli.times import local

    states = {"unfinished": not backup.is_finished, "of another installation": not backup.is_of(owner)}
    return [
        backup.id,
        local(backup.made_at),
        backup.computer,
        ", ".join(name for name, holds in states.items() if holds),
    ]
