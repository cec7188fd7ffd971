"""The routes of the app's file sync, and earlier versions."""

import datetime
import json
from typing import Any

from daily.journal.names import ROOT
from daily.sync.paths import checked_root, vault_path
from daily.sync.service import PushedFile, Sync
from daily.sync.versions import Version, Versions
from parachute.core import InvalidInput, Request, Response, route
from parachute.core.values import convert

_LARGEST_PUSH = 96 * 1024 * 1024


class SyncRoutes:
    """Routes that `/api/sync/…` leads to, too."""

    sync: Sync
    versions: Versions

    @route("GET", "/sync/manifest")
    async def sync_manifest(
        self,
        root: str,
        pattern: str = "*.md",
        include_binary: bool = False,
        quick: bool = False,
        date: str | None = None,
    ) -> Response:
        """All files with their hashes; hashes come from a cache, so that `quick` changes nothing."""
        checked_root(root)
        files = await self.sync.manifest(pattern, include_binary, date)
        rest = json.dumps({"root": ROOT, "generated_at": _now()}).encode()
        # The list is JSON already: years of files are not written anew for each device that asks.
        return Response(rest[:-1] + b', "files": ' + files + b"}", media_type="application/json")

    @route("GET", "/sync/changes")
    async def sync_changes(
        self, root: str, since: float, pattern: str = "*.md", include_binary: bool = False
    ) -> dict[str, Any]:
        """Files that changed since a time, in seconds since 1970."""
        checked_root(root)
        files = await self.sync.changes(since, pattern, include_binary)
        return {
            "root": ROOT,
            "files": files,
            "since": since,
            "generated_at": _now(),
        }

    @route("POST", "/sync/push")
    async def sync_push(self, request: Request) -> dict[str, Any]:
        """Take over files: {"root", "files": [{"path", "content", "is_binary"}]}; up to 96 MiB."""
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > _LARGEST_PUSH:
                raise InvalidInput(
                    f"body: at most {_LARGEST_PUSH:,} bytes are allowed.",
                    "Push fewer files at a time.",
                    status=413,
                    key="body_too_large",
                )
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("body: this is not JSON.", status=400, key="body_not_json") from error
        del data
        if not isinstance(body, dict) or not isinstance(body.get("root"), str):
            raise InvalidInput("root: text is expected.", key="root_not_text")
        checked_root(body["root"])
        return await self.sync.push(convert(body.get("files"), list[PushedFile], "files", strict=False), _who(request))

    @route("POST", "/sync/pull")
    async def sync_pull(self, request: Request, root: str, paths: list[str]) -> dict[str, Any]:
        """The content of files."""
        checked_root(root)
        return await self.sync.pull(paths, _who(request))

    @route("DELETE", "/sync/files")
    async def sync_delete(self, root: str, paths: list[str]) -> dict[str, Any]:
        """Remove files; the last version of each is kept."""
        checked_root(root)
        return await self.sync.delete(paths)

    @route("GET", "/versions")
    async def list_versions(self, path: str | None = None, limit: int = 100) -> dict[str, Any]:
        """Earlier versions, newest first; of one file, by its path below the journal's folder, if one is given."""
        if not 1 <= limit <= 1000:
            raise InvalidInput("limit: 1 to 1,000 are allowed.", key="limit_out_of_range")
        versions = await self.versions.all(vault_path(path) if path else None, limit)
        return {"versions": [_described(version) for version in versions]}

    @route("GET", "/versions/{number}")
    async def get_version(self, number: int) -> Response:
        """The content of an earlier version, as it was."""
        _, chunks = await self.versions.get(number)
        return Response(chunks, media_type="application/octet-stream")

    @route("POST", "/versions/{number}/restore")
    async def restore_version(self, number: int) -> dict[str, Any]:
        """Bring an earlier version back; the one that it replaces is kept."""
        return {"restored": (await self.sync.restore(number)).removeprefix(f"{ROOT}/")}


def _who(request: Request) -> str:
    return f"{request.caller.kind}:{request.caller.name}"


def _described(version: Version) -> dict[str, Any]:
    at = datetime.datetime.fromtimestamp(version.at, datetime.UTC)
    return {
        "id": version.number,
        "path": version.path.removeprefix(f"{ROOT}/"),
        "hash": version.hash,
        "size": version.size,
        "kept_at": f"{at:%Y-%m-%dT%H:%M:%S}Z",
        "why": version.why,
    }


def _now() -> str:
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%S}Z"
