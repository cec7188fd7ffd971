"""Contents before an approved change, so that the user may look at it and have it taken back."""

import json
import logging
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.core.application import Application
from parachute.core.preview import Preview
from parachute.core.values import encode

log = logging.getLogger("parachute.module")

_LIMIT = 6 * 1024 * 1024
_TEXT = 100_000
"""Characters of a text that are shown."""

_MOST = 200
"""Changes that can be taken back."""

_SUFFIX = ".before"

Record = dict[str, Any]


class KeptChanges:
    """Files in a folder of the module's own data, one for each try."""

    def __init__(self, application: Application, folder: Path) -> None:
        self._application = application
        self._folder = folder

    async def preview(self, change: Record) -> Preview | None:
        """Ask the module what a change would make; errors: what it raises."""
        return await self._application.preview_suggestion(change)

    async def looked(self, change: Record) -> Preview | None:
        """The same right before the change is made: what stands against that, the module says when it is to make it."""
        try:
            return await self._application.preview_suggestion(change)
        except ParachuteError as error:
            log.info("The preview of a change failed: %s", error)
            return None

    def keep(self, identifier: str, change: Record, preview: Preview) -> None:
        """Keep what a change is about to replace; what is too large cannot be taken back. Error: Unavailable."""
        data = encode({"change": change, "preview": shown(preview), "keep": preview.keep})
        if len(data) > _LIMIT:
            data = encode({"change": change, "preview": shown(preview), "keep": None})
        try:
            private_folder(self._folder)
            atomic_write(self._path(identifier), data)
            files = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime_ns)
            for old in files[:-_MOST]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(
                f"What the suggestion {identifier} replaces cannot be stored: {error}.", key="replaced_not_stored"
            ) from error

    def read(self, identifier: str) -> Record | None:
        """Return the record of a try; None if there is none, or it cannot be read."""
        try:
            found = json.loads(read_regular(self._path(identifier), _LIMIT))
        except (OSError, ValueError, InvalidInput):
            return None
        return found if isinstance(found, dict) and {"change", "preview", "keep"} <= found.keys() else None

    def forget(self, identifier: str) -> None:
        """Remove what was kept of a try that made nothing."""
        try:
            self._path(identifier).unlink(missing_ok=True)
        except OSError as error:
            log.error("What the suggestion %s would have replaced cannot be removed: %s", identifier, error)

    def _path(self, identifier: str) -> Path:
        return self._folder / f"{identifier}{_SUFFIX}"


def shown(preview: Preview) -> Record:
    """A preview as the server gets it; long texts are cut."""
    texts = {name: _cut(getattr(preview, name)) for name in ("before", "after")}
    return {"title": preview.title[:_TEXT], **texts}


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _TEXT else f"{text[:_TEXT]}…"
