"""Imports on the disk, in `{vault}/.parachute/imports`: a folder for each with its record, and its files under way.

`ID/import.json` is the record, as the module that carries it out wrote it, `ID/files.jsonl` lists the files that it put into the
vault, and `ID/staged` has what came and has no place yet: it goes when the import ends. `ID/before` has what earlier imports had
brought of conversations that have grown since, for an undo. `transcripts` has what conversations brought.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from parachute.base.disk_errors import DiskFull
from parachute.base.errors import InvalidInput
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.base.steering.judging import is_told_in_vault
from parachute.chat.imports.models import OWN_FOLDERS, PLACE
from parachute.chat.sessions.transcripts import BEFORE
from parachute.config.vault.service import Vault

_ID = re.compile(r"[0-9a-f]{8}")
_RECORD_LIMIT = 256 * 1024
_TRANSCRIPT = ".imported.jsonl"
_LINE = 16 * 1024
_SPARE = 512 * 1024 * 1024
"""Bytes that an import leaves free: the owner goes on writing."""

_PLACES = tuple(f"{folder}/" for folder in (PLACE, *OWN_FOLDERS))

Record = dict[str, Any]

Placed = tuple[str, int, str]
"""A file of an import: its path in the vault, its size and the hash of its content."""


class ImportFolders:
    """Reads and writes them; its methods block."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.vault = vault.root.resolve()
        self.root = vault.state / "imports"
        self.transcripts = self.root / "transcripts"

    def make(self, import_id: str) -> Path:
        """The folder of an import, with a folder for what is staged."""
        private_folder(self.transcripts, self._vault.root)
        private_folder(self.root / import_id / "staged", self._vault.root)
        return self.root / import_id

    def check_room(self, size: int = 0) -> None:
        """See that there is room for so many bytes twice, as an export and as what is read of it; error: DiskFull."""
        free = shutil.disk_usage(self._vault.root).free
        if free < 2 * size + _SPARE:
            raise DiskFull(
                f"The import needs about {2 * size // 1024**2:,} MB, and the disk has {free // 1024**2:,} MB left.",
                "Free some space on it, and try again.",
            )

    def load(self) -> dict[str, Record]:
        """All records by the id of their import; one that nobody can read is passed over."""
        found: dict[str, Record] = {}
        with contextlib.suppress(OSError), Folder.open(self.root) as root:
            for name in sorted(entry.name for entry in root.entries() if _ID.fullmatch(entry.name)):
                with contextlib.suppress(OSError, InvalidInput, ValueError, RecursionError):
                    record = json.loads(root.read(f"{name}/import.json", _RECORD_LIMIT))
                    if isinstance(record, dict) and record.get("id") == name:
                        found[name] = record
        return found

    def store(self, record: Record) -> None:
        """Write a record; errors: InvalidInput if it is too long, OSError."""
        data = json.dumps(record).encode()
        if len(data) > _RECORD_LIMIT:
            raise InvalidInput(f"record: at most {_RECORD_LIMIT:,} bytes are kept.", key="record_too_long")
        with Folder.open(self.root) as root:
            root.write(f"{record['id']}/import.json", data)

    def clear(self, import_id: str) -> None:
        """Remove what is there only while an import runs."""
        for name in ("upload", "staged"):  # an upload by an earlier version of this program
            remove_tree(self.root / import_id / name, self._vault.root)

    def remove(self, import_id: str) -> None:
        """Remove everything of an import but what it brought."""
        remove_tree(self.root / import_id, self._vault.root)

    def unfinished(self) -> list[str]:
        """The imports that were under way when the computer ended, also those without a record."""
        try:
            with Folder.open(self.root) as root:
                names = [entry.name for entry in root.entries() if _ID.fullmatch(entry.name)]
                return [name for name in names if root.status(f"{name}/staged") is not None]
        except OSError:
            return []

    def place_transcript(self, import_id: str, staged: int, session: str) -> None:
        """Move what was staged of a conversation to its place; one without a session that lies there is replaced."""
        with Folder.open(self.root) as root:
            root.rename(f"{import_id}/staged/{staged}", root, f"transcripts/{session}{_TRANSCRIPT}")

    def sync_transcripts(self) -> None:
        """Wait until the names of placed transcripts are on the disk."""
        with Folder.open(self.transcripts) as folder:
            folder.sync()

    def placed_since(self, moment: str) -> list[str]:
        """The sessions whose transcript was written since a moment."""
        try:
            since = datetime.fromisoformat(moment).timestamp()
            with Folder.open(self.transcripts) as folder:
                written = [each for each in folder.entries() if each.stat(follow_symlinks=False).st_mtime >= since]
                return [each.name.removesuffix(_TRANSCRIPT) for each in written if each.name.endswith(_TRANSCRIPT)]
        except (OSError, ValueError):  # the record lies in the vault, where anybody may have written it
            return []

    def remove_transcript(self, session: str) -> None:
        """Remove what was placed of a session that was not stored."""
        with contextlib.suppress(OSError), Folder.open(self.root) as root:
            root.remove(f"transcripts/{session}{_TRANSCRIPT}")

    def grow_transcript(self, import_id: str, staged: int, session: str) -> None:
        """Put what was staged in the place of what an earlier import had brought, which is kept."""
        private_folder(self.root / import_id / BEFORE, self._vault.root)
        with Folder.open(self.root) as root:
            if root.status(f"{import_id}/{BEFORE}/{session}") is None:
                root.rename(f"transcripts/{session}{_TRANSCRIPT}", root, f"{import_id}/{BEFORE}/{session}")
        self.place_transcript(import_id, staged, session)

    def grown(self, import_id: str) -> list[str]:
        """The sessions of which something is kept that was there before the import."""
        with (
            contextlib.suppress(OSError),
            Folder.open(self.root / import_id) as folder,
            folder.folder(BEFORE) as before,
        ):
            return [entry.name for entry in before.entries()]
        return []

    def put_back(self, import_id: str, session: str) -> None:
        """Put what was there before the import into its place again."""
        with Folder.open(self.root) as root:
            root.rename(f"{import_id}/{BEFORE}/{session}", root, f"transcripts/{session}{_TRANSCRIPT}")

    def place_file(self, import_id: str, staged: int, target: str, time: str | None) -> bool | None:
        """Put a staged file into the vault; None if the same one is there, False if another one is, which stays."""
        with Folder.open(self.root) as root, Folder.open(self._vault.root) as vault:
            source = f"{import_id}/staged/{staged}"
            with root.file(source) as file:
                size, digest = _hashed(file)
                if time is not None:
                    moment = datetime.fromisoformat(time).timestamp()
                    os.utime(file.fileno(), (moment, moment))
            above, _, name = target.rpartition("/")
            with vault.folder(above, make=True) as folder:
                if folder.status(name) is None:
                    # Noted first: whatever was placed is known when the import is undone, also after a crash.
                    self._note(import_id, (target, size, digest))
                    if root.rename(source, folder, name, replacing=False):
                        return True
                with folder.file(name) as there:
                    return None if _hashed(there) == (size, digest) else False

    def stage(self, import_id: str, number: int) -> BinaryIO:
        """A new file for something that comes."""
        with Folder.open(self.root) as root:
            descriptor = root.descriptor(f"{import_id}/staged/{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        return os.fdopen(descriptor, "wb")

    def unstage(self, import_id: str, number: int) -> None:
        """Remove what got no place."""
        with contextlib.suppress(OSError), Folder.open(self.root) as root:
            root.remove(f"{import_id}/staged/{number}")

    def compare(self, target: str, digest: str) -> bool | None:
        """Return the answer of `place_file` for a file with this hash."""
        with Folder.open(self._vault.root) as vault:
            try:
                with vault.file(target) as there:
                    return None if _hashed(there)[1] == digest else False
            except FileNotFoundError:
                return True

    def files(self, import_id: str) -> Iterator[Placed]:
        """The files that an import put into the vault."""
        with (
            contextlib.suppress(FileNotFoundError),
            Folder.open(self.root) as root,
            root.file(f"{import_id}/files.jsonl") as file,
        ):
            while line := file.readline(_LINE):
                with contextlib.suppress(ValueError, TypeError):
                    path, size, digest = json.loads(line)
                    yield str(path), int(size), str(digest)

    def take_back(self, placed: Placed) -> bool:
        """Remove a file that is as the import left it, and folders that are empty then; False if it was changed."""
        path, size, digest = placed
        if not path.startswith(_PLACES) and not is_told_in_vault(path):
            return False
        with Folder.open(self._vault.root) as vault:
            try:
                with vault.file(path) as file:
                    known = os.fstat(file.fileno())
                    if known.st_size != size or _hashed(file) != (size, digest):
                        return False
            except FileNotFoundError:
                return True
            except (OSError, InvalidInput):
                return False
            if not vault.remove_known(path, known):
                return False
            above = path.rpartition("/")[0]
            with contextlib.suppress(OSError):  # the first folder with something in it
                while above:
                    vault.remove_folder(above)
                    above = above.rpartition("/")[0]
        return True

    def _note(self, import_id: str, placed: Placed) -> None:
        with Folder.open(self.root) as root:
            descriptor = root.descriptor(f"{import_id}/files.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(json.dumps(placed).encode() + b"\n")


def _hashed(file: BinaryIO) -> tuple[int, str]:
    file.seek(0)
    digest = hashlib.sha256()
    while part := file.read(1024 * 1024):
        digest.update(part)
    return file.tell(), digest.hexdigest()
