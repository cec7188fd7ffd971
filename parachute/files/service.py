"""The files of the vault, as far as the owner's devices may use them."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import asdict

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.base.open_in_thread import open_in_thread
from parachute.changes.blobs import Staged
from parachute.changes.reading import Shown, written
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.vault.service import Vault
from parachute.core.files import said
from parachute.files import planning
from parachute.files.listing import listed
from parachute.files.models import DeviceChange, Expected, FileState, Listing, UndoneChange, WrittenFile
from parachute.files.uploads import Uploads
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

LARGEST_TEXT = 2 * 1024 * 1024
"""Bytes of a file that is read or written as text; a download has no limit."""

CHANGES = ":files"
"""Name in place of a session where changes are kept; no session has a colon in its id."""

Moved = Callable[[Path, Path], Awaitable[None]]
"""Is told before something is moved, so that what is known of where it came from goes with it."""

_ABSENT = frozenset({("Chat", "contexts")})
"""Folders that the app lists whether or not anybody has made them (contract, section 13.11)."""


class VaultFiles:
    """Reads and writes below the vault; paths are relative to it. Errors of all: NotAllowed for what is hidden or secret,

    and where a caller may not change what agents are told, InvalidInput for what no path can be and for links, NotFound.
    """

    def __init__(self, vault: Vault, settings: ChangesSettings, changes: Changes, moved: Moved, audit: Audit) -> None:
        self._root = vault.root.resolve()
        self._keep = settings.keep_megabytes << 20
        self._changes = changes
        self._moved = moved
        self._audit = audit
        self._uploads = Uploads(vault)

    async def start(self) -> None:
        """Remove what an earlier server has left."""
        await asyncio.to_thread(self._uploads.prepare)

    async def close(self) -> None:
        """Nothing is left to end: an upload ends with its request."""

    async def list(self, path: str, *, hidden: bool, limit: int, offset: int) -> Listing:
        """A part of the entries of a folder; `hidden` ones, too, if that is wanted, and never secrets."""
        parts = vault_path(path, Access.READ, hidden=hidden)
        try:
            return await asyncio.to_thread(listed, self._root, parts, hidden=hidden, limit=limit, offset=offset)
        except NotFound:
            if parts in _ABSENT:
                return Listing("/".join(parts), (), 0, False)
            raise

    async def read(self, path: str) -> tuple[FileState, str]:
        """A text file with its state; error: InvalidInput for a large one and for one that is no text."""
        parts = vault_path(path, Access.READ)
        return await asyncio.to_thread(self._read, parts)

    async def open(self, path: str) -> tuple[FileState, BinaryIO]:
        """A file of any kind and size, opened for the caller, who closes it."""
        parts = vault_path(path, Access.READ)
        return await open_in_thread(partial(self._open, parts), lambda found: found[1].close())

    async def write(self, path: str, text: str, expected: Expected, caller: Caller) -> WrittenFile:
        """Write a text file; see `upload`."""
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                "content: it has half of a character (a lone surrogate).", key="half_a_character"
            ) from error
        if len(data) > LARGEST_TEXT:
            raise _too_large("content", "Upload it: PUT /api/files/upload takes files of any size.")
        if b"\0" in data:
            raise InvalidInput("content: the character NUL is not allowed in a text.", key="not_text")

        async def one() -> AsyncIterator[bytes]:
            yield data

        return await self.upload(path, one(), len(data), expected, caller)

    async def upload(
        self, path: str, chunks: AsyncIterator[bytes], announced: int | None, expected: Expected, caller: Caller
    ) -> WrittenFile:
        """Write a file of any size, folders on the way included; a reader sees the old content or the new one.

        Its state with the number of the change, which takes it back; None where the content was the same. Errors: Conflict if
        what is there is not as expected, DiskFull, and those of `chunks`; then nothing has changed.
        """
        parts = vault_path(path, Access.WRITE)
        await asyncio.to_thread(self._check, parts, expected)
        content = await self._uploads.receive(chunks, announced)
        try:
            return await self.adopt(path, content, expected, caller)
        finally:
            content.drop()

    async def adopt(self, path: str, content: Staged, expected: Expected, caller: Caller) -> WrittenFile:
        """Make a file of a content that is here; see `upload`."""
        parts = vault_path(path, Access.WRITE)
        plan = planning.writing(parts, content, expected, self._keep)
        number = await self._make("write", "/".join(parts), plan, caller)
        state = await asyncio.to_thread(self._state, parts)
        return WrittenFile(**asdict(state), change=number)

    def check_writable(self, path: str) -> None:
        """Refuse a path that a device may not write; errors: NotAllowed, InvalidInput."""
        vault_path(path, Access.WRITE)

    async def make_folder(self, path: str, caller: Caller) -> int | None:
        """Make a folder, and those above it; the number of the change, None if it was there."""
        parts = vault_path(path, Access.WRITE)
        return await self._make("make-folder", "/".join(parts), planning.making_folder(parts), caller)

    async def move(self, path: str, to: str, caller: Caller) -> int | None:
        """Move a file or a folder to where nothing is; the number of the change."""
        parts, target = vault_path(path, Access.WRITE), vault_path(to, Access.WRITE)
        names = f"{'/'.join(parts)} to {'/'.join(target)}"
        await self._moved(self._root.joinpath(*parts), self._root.joinpath(*target))
        return await self._make("move", names, planning.moving(parts, target, self._keep), caller)

    async def remove(self, path: str, caller: Caller, expected: Expected = planning.ANYTHING) -> int | None:
        """Remove a file or a folder with all that is in it; the number of the change. Error: Conflict if it is not as expected."""
        parts = vault_path(path, Access.WRITE)
        return await self._make("delete", "/".join(parts), planning.removing(parts, self._keep, expected), caller)

    async def changes(self, path: str | None, limit: int) -> Sequence[DeviceChange]:
        """The newest changes that were made here, or those of them at or below a path."""
        wanted = "/".join(vault_path(path, Access.READ)) if path else ""
        found = await self._changes.history.of_session(CHANGES)
        return [_shown(each) for each in found if _is_about(each, wanted)][:limit]

    async def undo(self, number: int | None, caller: Caller) -> UndoneChange:
        """Take back the last change, or one by its number (an undo, too); what has changed since is in `conflicts` and stays."""
        try:
            number, paths = await self._changes.to_undo(CHANGES, number)
            planning.check_told(paths, caller, await self.imported())
            undone = await self._changes.undo(CHANGES, number)
        except NotFound as error:
            raise NotFound(
                "This change is unknown or can no longer be undone.",
                "`parachute files changes` lists them.",
                key="nothing_to_undo",
            ) from error
        self._record("undo", str(number), caller)
        return UndoneChange.showing(undone)

    async def _make(self, word: str, what: str, plan: planning.Plan, caller: Caller) -> int | None:
        number = await self._changes.make(CHANGES, self._root, planning.allowed(plan, caller, await self.imported()))
        if number is not None:
            self._record(word, what, caller)
        return number

    async def check_told(self, path: str, caller: Caller) -> None:
        """Refuse what `planning.check_told` refuses, before a version for a path is kept."""
        planning.check_told([path], caller, await self.imported())

    async def imported(self) -> frozenset[str]:
        """Paths, as `folded`, that agents are told whatever they are called."""
        return await self._changes.instructions.told_below(self._root)

    def _record(self, word: str, what: str, caller: Caller) -> None:
        self._audit.append(
            event_type="file_change",
            source_type="api_key" if caller.kind == "key" else caller.kind,
            source_id=caller.name,
            target_module="files",
            target_endpoint=f"{word} {what}",
        )

    def _read(self, parts: tuple[str, ...]) -> tuple[FileState, str]:
        state, file = self._open(parts)
        with file, said(parts):
            # Not the limit itself: as much memory would be taken at once, whatever the file holds.
            data = file.read(min(state.size, LARGEST_TEXT) + 1)
        if len(data) > LARGEST_TEXT:
            raise _too_large("path", "Download it: GET /api/files/download has files of any size.")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise InvalidInput(
                f"path: {state.path} is no text in UTF-8.",
                "Download it: GET /api/files/download has files of any kind.",
                key="not_text",
            )
        return state, text

    def _open(self, parts: tuple[str, ...]) -> tuple[FileState, BinaryIO]:
        with said(parts), Folder.open(self._root) as vault:
            file = vault.file("/".join(parts))
        return FileState.of("/".join(parts), os.fstat(file.fileno())), file

    def _state(self, parts: tuple[str, ...]) -> FileState:
        state, file = self._open(parts)
        file.close()
        return state

    def _check(self, parts: tuple[str, ...], expected: Expected) -> None:
        """Refuse what cannot be written before its content is received."""
        with said(parts), Folder.open(self._root) as vault:
            planning.check_target(vault, "/".join(parts), expected)


def _shown(each: Shown) -> DeviceChange:
    found = each.found
    kind = "change" if found.kind == "owner" else found.kind
    return DeviceChange(found.number, kind, found.undone, found.began_at, written(each.entries), len(each.entries))


def _is_about(each: Shown, path: str) -> bool:
    return not path or any(entry.path == path or entry.path.startswith(f"{path}/") for entry in each.entries)


def _too_large(field: str, hint: str) -> InvalidInput:
    return InvalidInput(
        f"{field}: a text may have {LARGEST_TEXT:,} bytes at the most.", hint, key="text_too_large", status=413
    )
