"""Databases: each can be read from beginning to end. Nothing is written, also while others write."""

import os
import sqlite3
import stat
import time
from pathlib import Path

from parachute.base.errors import Conflict
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Level, NotApplicable, Result, check, ok, problem, warning
from parachute.ops.doctor.present import present
from parachute.ops.recovery.service import Recovery

_SECONDS = 40.0
_THOROUGH = 64 << 20
"""Bytes up to which rows are compared with their indexes as well, which takes several times as long."""

_STEPS = 10_000
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
"""Errors of SQLite about a damaged file; others are about permissions, of locks, of extensions that are not here."""

_MOST = 500
_DEEPEST = 4
_ENDINGS = (".db", ".sqlite", ".sqlite3")
_OWN = ("sessions.db", "runs.db", "events.db", "suggestions.db")
_STOP = (
    "`parachute stop`, then `parachute doctor databases --fix`: it replaces them with their newest "
    "copies and keeps the damaged ones. The next start does the same. A backup may have newer ones."
)
_RESTORE = "Stop the computer, keep the damaged file, and put a good copy in its place: from a backup, or from the folder `copies` next to it."


@check("Databases", Group.DATA)
def examine(computer: Computer) -> Result:
    unread: list[OSError] = []
    every = _files(computer, unread)
    found = every[:_MOST]
    deadline = time.monotonic() + _SECONDS
    results = {path: _inspect(computer, path, deadline) for path in found}
    damaged = {path: said for path, (level, said) in results.items() if level is Level.PROBLEM}
    unseen = {path: said for path, (level, said) in results.items() if level is Level.WARNING}
    details = tuple(f"{path}: {said}" for path, said in (damaged | unseen).items())
    if damaged:
        names = ", ".join(path.name for path in damaged)
        mendable = [path for path in damaged if path in _own(computer)]
        return problem(
            f"{len(damaged)} of {len(found)} databases cannot be read: {names}.",
            _STOP if mendable else _RESTORE,
            details=details,
            fix=None if computer.is_running or not mendable else _fix(computer, mendable),
        )
    unread = [each for each in unread if not isinstance(each, FileNotFoundError)]
    if unread:
        return warning(
            f"Not every folder with databases can be read: {unread[0].filename}: {unread[0].strerror}.",
            f"Give it back: sudo chown -R {computer.user} and that folder.",
            details=tuple(f"{each.filename}: {each.strerror}" for each in unread[1:20]),
        )
    if computer.settings is None:
        raise NotApplicable(
            f"None of {len(found)} databases in the state directory is damaged; the vault is unknown, because config.yaml is invalid."
        )
    if len(every) > _MOST:
        return warning(
            f"There are {len(every):,} databases, and only {_MOST} of them were checked.", "The others are undamaged."
        )
    if unseen:
        return warning(
            f"{', '.join(path.name for path in unseen)} could not be read from beginning to end.",
            "Try again when the computer has been started and the disk is less busy, with `parachute doctor databases`.",
            details=details,
        )
    if not found:
        return ok("There is no database yet.")
    return ok("The only database is undamaged." if len(found) == 1 else f"All {len(found)} databases are undamaged.")


def _own(computer: Computer) -> tuple[Path, ...]:
    """The databases that the server opens at its start."""
    folder = computer.settings.vault / ".parachute" if computer.settings else None
    home = computer.home
    own = (home.trust_database, home.changes_database, home.messengers_database)
    return (*own, *(folder / name for name in _OWN if folder))


def _fix(computer: Computer, damaged: list[Path]) -> Fix:
    names = ", ".join(path.name for path in damaged)
    return Fix(
        f"Put {names} aside, and the newest copy in its place if there is one.", lambda: _recover(computer, damaged)
    )


def _recover(computer: Computer, damaged: list[Path]) -> str:
    if computer.refreshed().is_running:
        raise Conflict(
            "The computer is running; damaged databases are replaced at a start.",
            "`parachute restart` does it.",
            key="already_running",
        )
    recovery = Recovery(computer.home.root)
    for path in damaged:
        recovery.recover(path, is_damaged=True)
    return " ".join(notice.sentence for notice in recovery.notices.read()[-len(damaged) :])


def _files(computer: Computer, unread: list[OSError]) -> list[Path]:
    """Databases of the computer and of its modules, by their names: opening one would drop core's locks on it.

    Folders that cannot be read are added to `unread`.
    """
    folders = [computer.home.root / "module-data"]
    if computer.settings is not None:
        folders.append(computer.settings.vault / ".parachute")
    found = list(computer.home.root.glob("*.db"))
    for folder in folders:
        for place, names, files in os.walk(folder, onerror=unread.append):
            if len(Path(place).relative_to(folder).parts) >= _DEEPEST:
                names.clear()
            found += [Path(place, name) for name in files if name.endswith(_ENDINGS)]
    return sorted(path for path, status in present(found) if stat.S_ISREG(status.st_mode))


def _inspect(computer: Computer, path: Path, deadline: float) -> tuple[Level, str]:
    """Inspect one database: ok or a problem; a warning, and why, if that is unknown."""
    # One that nobody has open is read without locks, and then no file is made next to it.
    at_rest = not computer.is_running and not _is_written(path)
    found = _checked(path, "immutable=1" if at_rest else "mode=ro", deadline)
    if at_rest and found[0] is Level.PROBLEM and _is_written(path):
        return _checked(path, "mode=ro", deadline)  # somebody began to write meanwhile
    return found


def _is_written(path: Path) -> bool:
    """Return whether SQLite has a log or a journal for it, without which it is not whole."""
    return any(path.with_name(f"{path.name}-{kind}").exists() for kind in ("wal", "journal"))


def _checked(path: Path, how: str, deadline: float) -> tuple[Level, str]:
    def is_late() -> int:
        return int(time.monotonic() > deadline)

    try:
        pragma = "integrity_check" if path.stat().st_size <= _THOROUGH else "quick_check"
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None, timeout=2)
        try:
            connection.set_progress_handler(is_late, _STEPS)
            connection.execute("PRAGMA query_only=ON")
            row = connection.execute(f"PRAGMA {pragma}(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        # Extended codes carry the primary one in their lowest byte.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_ROLLBACK:
            return Level.WARNING, "its writer was killed; what was half done is taken back when it is opened next"
        if code == sqlite3.SQLITE_INTERRUPT:
            return Level.WARNING, f"there was no time: all of them have {_SECONDS:.0f} seconds together"
        return (Level.PROBLEM if code in _DAMAGE else Level.WARNING), str(error)
    except UnicodeDecodeError:
        return Level.PROBLEM, "its schema cannot be read"  # what SQLite says of it repeats its bytes
    except OSError as error:
        return Level.WARNING, error.strerror or str(error)
    said = str(row[0]).removeprefix("*** in database main ***\n")
    return (Level.OK if said == "ok" else Level.PROBLEM), said
