"""Files of the vault, but those of the journal, of entities and of conversations, which have days, kinds and workspaces of their own."""

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder, TooMany
from parachute.base.steering.judging import folded
from parachute.modules.mcp_endpoint.policy import LONGEST, Policy
from parachute.modules.mcp_endpoint.resources import models
from parachute.modules.mcp_endpoint.resources.models import MARKDOWN, Page, Shown
from parachute.modules.mcp_endpoint.shapes import FILE, Shape
from parachute.security.mcp_clients.models import ANY
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import may_list, vault_path

_ELSEWHERE = frozenset(("daily", "brain", "chat"))
"""Folders at the top, as they are compared, that modules answer for."""

_DEEPEST, _MOST = 24, 100_000
_KEPT_SECONDS = 10.0
"""A listing is kept for the pages that are asked for after the first one."""

_READ = LONGEST * 4
"""Bytes of a text of which no more could be shown; a character has up to four."""

_LARGEST = 300_000
"""Bytes of a file that is no text, which grow by a third on the way."""


class Listing(Struct, frozen=True):
    """Files of what a grant is about, as they were until some seconds ago."""

    of: tuple[object, ...]
    until: float
    found: list[Mapping[str, Any]]


class Files:
    """Files by their paths."""

    offer = models.FILES
    shape = Shape(("path",), kind=FILE, day="changed")

    def __init__(self, vault: Path, clock: Clock) -> None:
        self._root = vault
        self._clock = clock
        self._listing = asyncio.Lock()
        self._last = Listing((), 0.0, [])

    async def page(self, policy: Policy, start: int) -> Page:
        """All files of the folders and days that may be shown: the vault is walked once for them."""
        async with self._listing:
            if self._last.of != policy.kept_back or self._last.until <= self._clock.elapsed():
                found = await asyncio.to_thread(self._listed, policy)
                self._last = Listing(policy.kept_back, self._clock.elapsed() + _KEPT_SECONDS, found)
            return Page(self._last.found[start:], None)

    async def find(self, key: str) -> Mapping[str, Any] | None:
        """A file by its path."""
        return await asyncio.to_thread(self._found, key)

    def shown(self, record: Mapping[str, Any]) -> Shown:
        """A file by its path, with the day of its last change."""
        path: str = record["path"]
        return Shown(path, path.rpartition("/")[2], f"{path}, {record['changed']}", type_of(path), record["size"])

    async def content(self, record: Mapping[str, Any]) -> str | bytes:
        """The text of a file, or its bytes; error: InvalidInput for one that is no text and too large."""
        return await asyncio.to_thread(self._read, record["path"])

    def _listed(self, policy: Policy) -> list[Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        with Folder.open(self._root) as vault:
            for top in policy.folders:
                with suppress(OSError, ParachuteError):
                    below = "" if top == ANY else "/".join(vault_path(top, Access.READ))
                    with vault.folder(below) as folder:
                        for record in self._below(folder, below):
                            if policy.is_within(record["changed"]):
                                found[record["path"]] = record
        return [found[path] for path in sorted(found)]

    def _below(self, folder: Folder, above: str) -> Iterable[Mapping[str, Any]]:
        with suppress(TooMany):
            for place, _, entries in folder.walk(deepest=_DEEPEST, most=_MOST, unreadable=lambda *_: None):
                parts = [each for each in (above, place) if each]
                entries[:] = [
                    each
                    for each in entries
                    if may_list(each.name, hidden=False)
                    and each.name.isprintable()
                    and _is_ours("/".join((*parts, each.name)))
                ]
                for each in entries:
                    with suppress(OSError):
                        status = each.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            yield self._record("/".join((*parts, each.name)), status)

    def _found(self, key: str) -> Mapping[str, Any] | None:
        try:
            path = "/".join(vault_path(key, Access.READ))
            with Folder.open(self._root) as vault:
                status = vault.status(path) if path == key and _is_ours(path) else None
        except (OSError, ParachuteError):
            return None
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        return self._record(path, status)

    def _record(self, path: str, status: os.stat_result) -> Mapping[str, Any]:
        day = datetime.fromtimestamp(status.st_mtime, UTC).astimezone(self._clock.zone).date()
        return {"path": path, "changed": day.isoformat(), "size": status.st_size}

    def _read(self, path: str) -> str | bytes:
        try:
            with Folder.open(self._root) as vault, vault.file(path) as file:
                data = file.read(_READ)
        except OSError as error:
            raise ParachuteError("This file cannot be read.", key="file_not_read") from error
        with suppress(UnicodeDecodeError):
            if "\0" not in (text := data.decode(errors="strict" if len(data) < _READ else "ignore")):
                return text
        if len(data) > _LARGEST:
            raise InvalidInput(
                f"A file that is no text may have at most {_LARGEST:,} bytes here.",
                key="file_too_large",
            )
        return data


def type_of(path: str) -> str:
    """The type of a file's content, by the end of its name."""
    if path.lower().endswith((".md", ".markdown")):
        return MARKDOWN
    return guess_type(path)[0] or "application/octet-stream"


def _is_ours(path: str) -> bool:
    return folded(path.partition("/")[0]) not in _ELSEWHERE
