"""Imports: conversations and notes from elsewhere, as `parachute import` and the console upload them."""

import json
from collections.abc import AsyncIterator
from typing import Any

from imports.records import Import
from imports.service import Imports

from parachute.core import InvalidInput, Module, Request, Response, route

_LONGEST_NAME = 200
_FLAGS = ("dry_run", "archived", "contexts")


class ImportsModule(Module):
    """Reads exports, whose authors nobody knows, in a process that reaches nothing; the server places what is in them."""

    name = "imports"
    version = "1.0.0"
    description = "Brings conversations and notes from elsewhere"
    permissions = {"sessions": "create"}

    def __init__(self) -> None:
        self.imports = Imports(self.core)

    async def on_start(self) -> None:
        """Clear what an earlier process has left."""
        await self.imports.start()

    async def on_stop(self) -> None:
        """End what runs."""
        await self.imports.close()

    @route("POST", "/import")
    async def import_export(self, request: Request) -> Response:
        """Import an export that the app has read, `{data, archived}`, and answer when that is done."""
        record = await self.imports.receive(request, kind="auto", name="the app")
        return Response(self._result(record), media_type="application/json")

    @route("POST", "/")
    async def begin(self, request: Request) -> dict[str, Any]:
        """Upload an export as the body, a ZIP archive, JSON or a database of any size, and begin to import it.

        In the query stand `kind` and `name`. `dry_run` only counts; its export is kept for an hour, or until the next import, and
        `look` with its id imports it without a body. `contexts` also brings files that agents obey, from an archive
        of `parachute export`. The import runs on when the connection ends.
        """
        query = {name: values[-1] for name, values in request.query.items()}
        name = query.get("name", "export")
        if not 0 < len(name) <= _LONGEST_NAME:
            raise InvalidInput(f"name: 1 to {_LONGEST_NAME} characters are allowed.", key="name_length")
        # The server looks at these, too; what one of us took for yes and the other for no would come where it should only be counted.
        if wrong := [each for each in _FLAGS if query.get(each, "false") not in ("true", "false")]:
            raise InvalidInput(f"{wrong[0]}: true or false is expected.", key="flag_malformed")
        dry_run, archived = query.get("dry_run") == "true", query.get("archived") == "true"
        kind = query.get("kind", "auto")
        look = query.get("look", "")
        found = await self.imports.receive(request, kind=kind, name=name, dry_run=dry_run, archived=archived, look=look)
        return found.shown()

    @route("GET", "/")
    async def list_imports(self) -> dict[str, Any]:
        """All imports, the newest first."""
        return {"imports": [each.shown() for each in await self.imports.all()]}

    @route("GET", "/{import_id}")
    async def get_import(self, import_id: str) -> dict[str, Any]:
        """One import, and how far it is."""
        return (await self.imports.get(import_id)).shown()

    @route("GET", "/{import_id}/events")
    async def events(self, import_id: str) -> AsyncIterator[dict[str, Any]]:
        """The import as events, each time it has changed, until it is finished."""
        async for each in self.imports.follow(await self.imports.get(import_id)):
            yield each

    @route("POST", "/{import_id}/undo")
    async def undo(self, request: Request, import_id: str) -> dict[str, Any]:
        """Begin to remove what an import brought; conversations that somebody has continued or changed, and changed files, stay."""
        return (await self.imports.undo(import_id, request)).shown()

    @route("DELETE", "/{import_id}")
    async def cancel(self, request: Request, import_id: str) -> dict[str, Any]:
        """Stop an import; what it has brought until now stays. The record of one that is over is forgotten."""
        return (await self.imports.cancel(import_id, request)).shown()

    async def _result(self, record: Import) -> AsyncIterator[bytes]:
        # The beginning of an answer is waited for a minute only, and a large export takes longer: a space before JSON means nothing.
        yield b" "
        done, sessions = await self.imports.finished(record.id)
        found = {
            "total_conversations": done.conversations,
            "imported_count": done.imported + done.grown,
            "skipped_count": done.skipped,
            "errors": done.errors,
            "session_ids": sessions,
        }
        yield json.dumps(found).encode()
