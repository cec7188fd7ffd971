"""The journal on several devices: its files, and the differences that are exchanged."""

import base64
import binascii
import fnmatch
import hashlib
import time
from dataclasses import dataclass
from typing import Any

from daily.days.day import LARGEST
from daily.journal.documents import id_of
from daily.journal.names import ROOT, date_of
from daily.journal.publishing import DELETED
from daily.journal.service import Journal
from daily.journal.state import PendingEvent
from daily.sync.hashes import Hashes, Shared
from daily.sync.paths import check_written, is_about, is_binary, vault_path, written_path
from daily.sync.pushing import Outcome, Pushing
from daily.sync.versions import SEEN, Versions
from parachute.core import InvalidInput, NotFound, ParachuteError
from parachute.core.services import Core
from parachute.core.values import encode

_MOST_FILES = 1000
_PULLED_BYTES = 64 * 1024 * 1024
_IN_MEMORY = 32 * 1024 * 1024
_LISTS = 4
_SKEW_SECONDS = 120.0
"""A device's clock may be ahead of ours by so much, and still hears of every change."""


@dataclass(frozen=True, slots=True)
class PushedFile:
    """A file as a device sends it; `content` is text, or base64 if `is_binary`."""

    path: str
    content: str
    is_binary: bool = False


class Sync:
    """Paths are those below the journal's folder, as devices have them."""

    def __init__(self, core: Core, journal: Journal, versions: Versions) -> None:
        self._files = core.files
        self._journal = journal
        self._versions = versions
        self._hashes = Hashes(core.files, core.data / "hashes.db")
        self._pushing = Pushing(core, journal, versions)
        self._listed: list[Shared] = []
        self._lists: dict[tuple[str, bool, str | None], bytes] = {}

    def close(self) -> None:
        """Close the cache."""
        self._hashes.close()

    async def manifest(self, pattern: str, include_binary: bool, date: str | None = None) -> bytes:
        """Every shared file whose name matches, those of one day if a date is given, as JSON."""
        files = await self._hashes.all()
        if files is not self._listed:
            self._listed = files
            self._lists.clear()
        key = (pattern, include_binary, date)
        if key not in self._lists:
            if len(self._lists) >= _LISTS:
                self._lists.clear()
            self._lists[key] = encode(_fitting(files, pattern, include_binary, date))
        return self._lists[key]

    async def changes(self, since: float, pattern: str, include_binary: bool) -> list[Shared]:
        """Files that changed since then, in seconds since 1970, and some that changed shortly before."""
        files = [file for file in await self._hashes.all() if file.modified > since - _SKEW_SECONDS]
        return _fitting(files, pattern, include_binary)

    async def push(self, files: list[PushedFile], who: str) -> dict[str, Any]:
        """Take over files of a device that calls itself so; one that cannot be taken is named with its reason, and the others are."""
        _check_number(len(files))
        outcome, pushed, errors = Outcome(), 0, list[str]()
        for file in files:
            try:
                await self._pushing.push(written_path(file.path), _content(file), who, outcome)
                pushed += 1
            except ParachuteError as error:
                errors.append(f"{file.path[:200]}: {error.message}")
        return {
            "pushed": pushed,
            "errors": errors,
            "merged": [path.removeprefix(f"{ROOT}/") for path in outcome.merged],
            "conflicts": [path.removeprefix(f"{ROOT}/") for path in outcome.conflicts],
        }

    async def pull(self, paths: list[str], who: str) -> dict[str, Any]:
        """Files with the very bytes that the manifest's hash is of; text is text, everything else base64."""
        _check_number(len(paths))
        files, errors, size = list[dict[str, Any]](), list[str](), 0
        for path in paths:
            try:
                place = vault_path(path)
                stamp = await self._files.stat(place)
                if stamp is not None and files and size + stamp[1] > _PULLED_BYTES:
                    raise InvalidInput(
                        "There are too many bytes for one answer; ask for this file again.", key="answer_too_large"
                    )
                data = await self._files.read_bytes(place)
                size += len(data)
                files.append(_pulled(path, data, stamp[0] / 1e9 if stamp else time.time()))
                if not is_binary(path) and len(data) <= LARGEST:
                    await self._versions.keep(place, data, SEEN, who)
            except ParachuteError as error:
                errors.append(f"{path[:200]}: {error.message}")
        return {"files": files, "errors": errors}

    async def delete(self, paths: list[str]) -> dict[str, Any]:
        """Remove files, and keep their last versions; a day with entries that no device has seen stays."""
        _check_number(len(paths))
        deleted, errors = 0, list[str]()
        for path in paths:
            try:
                await self._delete(written_path(path))
                deleted += 1
            except NotFound:
                continue
            except ParachuteError as error:
                errors.append(f"{path[:200]}: {error.message}")
        return {"deleted": deleted, "errors": errors}

    async def restore(self, number: int) -> str:
        """Bring an earlier version of a file back, and keep the one that it replaces; its path. Errors: NotFound, NotAllowed."""
        version, chunks = await self._versions.get(number)
        check_written(version.path)
        async with self._journal.day_files.alone(version.path):
            await self._keep(version.path, "restored")
            await self._files.write_stream(version.path, chunks)
        await self._journal.reconciler.some([version.path])
        return version.path

    async def _delete(self, path: str) -> None:
        keys: list[str] = []
        async with self._journal.day_files.alone(path):
            if date := date_of(path):
                data = await self._files.read_bytes(path)
                if not await self._versions.has_seen(path, hashlib.sha256(data).hexdigest()):
                    raise InvalidInput(
                        "It has changed since a device last saw it, and is not deleted.", key="changed_since_seen"
                    )
                keys = [found.entry.key for found in await self._journal.of_day(date) if found.path == path]
            await self._keep(path, "deleted")
            await self._files.delete(path)
        await self._journal.reconciler.some([path])
        for key in keys:
            if key:
                await self._journal.publisher.publish(PendingEvent(0, DELETED, {"entry_id": id_of(key)}))

    async def _keep(self, path: str, why: str) -> None:
        stamp = await self._files.stat(path)
        if stamp is None:
            return
        if stamp[1] > _IN_MEMORY:
            await self._versions.keep_stream(path, self._files.read_stream(path), why)
        else:
            await self._versions.keep(path, await self._files.read_bytes(path), why)


def _content(file: PushedFile) -> bytes:
    if file.is_binary:
        try:
            return base64.b64decode(file.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInput("The content is no base64.", key="not_base64") from error
    try:
        return file.content.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The content has half of a character (a lone surrogate).", key="half_a_character") from error


def _pulled(path: str, data: bytes, modified: float) -> dict[str, Any]:
    binary = is_binary(path)
    text = ""
    if not binary:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            binary = True
    return {
        "path": path,
        "content": base64.b64encode(data).decode() if binary else text,
        "is_binary": binary,
        "hash": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "modified": modified,
    }


def _fitting(files: list[Shared], pattern: str, include_binary: bool, date: str | None = None) -> list[Shared]:
    return [
        file
        for file in files
        if (include_binary or not is_binary(file.path))
        and (is_about(file.path, date) if date else _matches(file.path, pattern))
    ]


def _matches(path: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(path if "/" in pattern else path.rpartition("/")[2], pattern)


def _check_number(number: int) -> None:
    if number > _MOST_FILES:
        raise InvalidInput(f"At most {_MOST_FILES:,} files at a time are possible.", key="too_many_files")
