"""Follow the files of approvals, and record what has come, changed and gone."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.base.signatures import Signature, current_signature
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_SECONDS = 5.0
_LIMIT = 4 * 1024 * 1024
APPROVED, WITHDRAWN = "approval", "withdrawal"

Found = Mapping[str, str]
"""Approved things: a name for people, and the exact content, as a hash or in words."""


class ApprovalFile(Struct, frozen=True):
    """A file of approvals: `subject` is the record's module, `read` waits for the disk and fails with ParachuteError or OSError."""

    subject: str
    path: Path
    read: Callable[[], Found]


class Approvals:
    """Looks at the files every few seconds, and at the start compares with what the last server knew, which `known` keeps.

    The server gives approvals itself, and so does the command line, which runs without it: both write the same files.
    """

    def __init__(self, audit: Audit, known: Path, files: Sequence[ApprovalFile], clock: Clock = SYSTEM) -> None:
        self._audit = audit
        self._path = known
        self._files = files
        self._clock = clock
        self._known: dict[str, dict[str, str]] = {}
        self._seen: dict[Path, Signature | None] = {}
        self._failing: set[Path] = set()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to look; the first start of all records nothing."""
        self._known = await asyncio.to_thread(self._load)
        await self._look()
        self._task = asyncio.create_task(self._look_for_ever(), name="approvals")

    async def close(self) -> None:
        """Look a last time."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._look()

    async def _look_for_ever(self) -> None:
        while True:
            await self._clock.sleep(_SECONDS)
            await self._look()

    async def _look(self) -> None:
        changed = False
        for file, signature in await asyncio.to_thread(self._changed):
            try:
                found = dict(await asyncio.to_thread(file.read))
            except (ParachuteError, OSError) as error:
                # Then nothing of it is approved either; whoever asks for it says so.
                if file.path not in self._failing:
                    log.warning("%s cannot be read: %s", file.path, error)
                self._failing.add(file.path)
                continue
            self._failing.discard(file.path)
            self._seen[file.path] = signature
            changed |= self._compare(file.subject, found)
        if changed:
            with contextlib.suppress(OSError):  # on a full disk it is recorded once more by the next server
                await asyncio.to_thread(atomic_write, self._path, json.dumps(self._known))

    def _changed(self) -> list[tuple[ApprovalFile, Signature | None]]:
        found = []
        for file in self._files:
            with contextlib.suppress(OSError):  # it is looked at again
                signature = current_signature(file.path)
                if file.path not in self._seen or self._seen[file.path] != signature:
                    found.append((file, signature))
        return found

    def _compare(self, subject: str, found: dict[str, str]) -> bool:
        before = self._known.get(subject)
        self._known[subject] = found
        if before is None or before == found:
            return before is None
        for name in sorted(before.keys() | found.keys()):
            if before.get(name) != found.get(name):
                self._audit.append(
                    event_type=APPROVED if name in found else WITHDRAWN,
                    source_type="user",
                    source_id="owner",
                    target_module=subject,
                    target_endpoint=name,
                    approved=found.get(name),
                )
        return True

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=dict[str, dict[str, str]])
        except (OSError, ValueError, ParachuteError):
            return {}
