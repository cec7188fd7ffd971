"""Removal of the words between two starts, when nothing else has a file open; what was cut off is done again by the next start."""

import contextlib
import logging
import os
import sqlite3
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.disk_errors import is_damage
from parachute.base.files import remove_tree
from parachute.base.folders import Folder
from parachute.ops.forget import ordering
from parachute.ops.forget.databases import erase_rows
from parachute.ops.forget.models import FileChoices, Held, Order, Report
from parachute.ops.forget.passages import without
from parachute.ops.forget.places import File, files, folders
from parachute.ops.forget.reading import in_cells, in_stream
from parachute.ops.forget.surveying import SHOWN, file_holds, held, runs_of, session_of, survey
from parachute.ops.forget.words import Words
from parachute.security.audit.forgetting import erase as erase_audit
from parachute.security.audit.forgetting import renamed
from parachute.security.audit.seals import Seals

log = logging.getLogger(__name__)

_TEXT = _BLOCK = 64 << 20


def finish(home: Path, vault: Path, seals: Path) -> None:
    """Do what was ordered, before anything is opened. A disk that is full leaves it for the next start, and the computer starts."""
    order = None
    try:
        order = ordering.read_order(home)
        if order is not None and order.phase == "files":
            _Erasing(home, vault, seals, order).run()
    except Exception as error:  # whatever it is, the computer has to start, and no text of it may have the words
        log.error("The words are not forgotten yet: %s", type(error).__name__)
        if order is not None:
            order.problem = Words(order.words).blanked_text(str(error))
            with contextlib.suppress(OSError):
                ordering.write_order(home, order)


class _Erasing:
    def __init__(self, home: Path, vault: Path, seals: Path, order: Order) -> None:
        self._home, self._vault, self._seals, self._order = home, vault, seals, order
        self._words = Words(order.words)
        self._left_runs = runs_of(vault, order.left_sessions)

    def run(self) -> None:
        changed: list[File] = []
        self._audit()
        for file in files(self._home, self._vault):
            # The order itself goes last.
            if file.relative != ordering.ORDER and self._erase(file):
                changed.append(file)
        for folder, relative in folders(self._home, self._vault):
            if self._words.are_in(relative):
                with contextlib.suppress(OSError):  # it has something left
                    folder.rmdir()
        for file in changed:
            names = self._order.changed.setdefault(file.place.kind, [])
            name = self._words.blanked_text(file.relative)
            if name not in names:
                names.append(name)
        self._report()

    def _report(self) -> None:
        found = survey(self._home, self._vault, self._words)
        there = [file for file in found.found if file.relative != ordering.ORDER]
        left = [
            file for file in there if self._is_left(file) or self._has_left_rows(file) or file.place.treatment == "kept"
        ]
        changed = [Held(kind, len(names), names[:SHOWN]) for kind, names in self._order.changed.items()]
        others = [file for file in there if file not in left]
        report = Report(now(), changed, found.searched, self._held(left), self._held(others), self._order.backups)
        ordering.finish(self._home, report)

    def _held(self, some: list[File]) -> list[Held]:
        """Name them without the words, which may be in their names."""
        return [replace(each, places=[self._words.blanked_text(name) for name in each.places]) for each in held(some)]

    def _erase(self, file: File) -> bool:
        """Do what the list says about one file; returns whether it was changed."""
        place, treatment = file.relative, file.place.treatment
        if treatment == "remade":
            remove_tree(file.path)
            return place.endswith(".db")
        if treatment in ("kept", "chained") or self._is_left(file):
            return False
        if treatment == "asked":
            return place in self._order.files and self._text(place, self._order.files[place])
        if treatment == "conversation":
            return session_of(file) in self._order.sessions and self._remove(file.path)
        if treatment == "rows":
            return self._rows(file)
        if self._words.are_in(place):
            return self._remove(file.path)
        if not file_holds(file, self._words):
            return False
        if treatment == "removed" or self._words_are_packed(file):
            return self._remove(file.path)
        return self._blank(file.path)

    def _is_left(self, file: File) -> bool:
        place = file.relative
        return (
            (file.place.treatment == "asked" and place in self._order.left_files)
            or (file.place.treatment == "conversation" and session_of(file) in self._order.left_sessions)
            or (file.place.kind == "runs" and place in self._left_runs)
        )

    def _has_left_rows(self, file: File) -> bool:
        sessions = self._order.left_sessions
        is_database = file.place.treatment == "rows" and file.relative.endswith(".db")
        return is_database and bool(sessions) and not in_cells(file.path, self._words, sessions)

    def _rows(self, file: File) -> bool:
        if not file.relative.endswith(".db") or not file.size:
            return False
        try:
            return erase_rows(file.path, self._words, self._order.left_sessions)
        except sqlite3.DatabaseError as error:
            # A damaged one is for the recovery that follows, and is in the report; a full disk is no damage.
            if is_damage(error):
                return False
            raise

    def _text(self, place: str, choices: FileChoices) -> bool:
        with Folder.open(self._vault) as vault:
            if choices.removes:
                vault.remove(place)
                return True
            data = vault.read(place, _TEXT)
            new = without(data, self._words, choices)
            if new == data:
                return False
            vault.write(place, new, (status.st_mode & 0o777) if (status := vault.status(place)) else 0o600)
        return True

    def _remove(self, path: Path) -> bool:
        remove_tree(path)
        return True

    def _words_are_packed(self, file: File) -> bool:
        with file.path.open("rb") as stream:
            return not in_stream(stream, self._words)

    def _blank(self, path: Path) -> bool:
        """Write over the words where they stand, so that whoever has the file open goes on with it; returns whether it could."""
        found, place = False, 0
        with path.open("r+b") as file:
            # Whole lines: of one that is JSON the texts alone are written over.
            while data := file.read(_BLOCK) + file.readline(_BLOCK):
                new = self._words.blanked(data)
                if new != data:
                    os.pwrite(file.fileno(), new, place)
                    found = True
                place += len(data)
            os.fsync(file.fileno())
        return found

    def _audit(self) -> None:
        folder = self._vault / ".parachute" / "audit"
        self._order.hashes = renamed(folder, self._words.blanked, self._order.hashes)
        if self._order.hashes:
            ordering.write_order(self._home, self._order)
            erase_audit(folder, Seals(self._seals), self._words.blanked, dict(self._order.hashes))
            self._order.changed.setdefault("audit", [".parachute/audit"])
