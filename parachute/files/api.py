"""Routes of the vault's files (contract, section 6)."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.pieces import Announced
from parachute.base.services import provided
from parachute.files.arriving import Arrived, ArrivingFiles
from parachute.files.download import Download
from parachute.files.models import ChangedPlace, DeviceChange, Expected, Listing, TextFile, UndoneChange, WrittenFile
from parachute.files.progress import NotRead
from parachute.files.receiving import announced_size, received
from parachute.files.search import FileSearch, FoundFile
from parachute.files.service import VaultFiles
from parachute.llm.meaning.searched import Searched
from parachute.web.access.owner import acting
from parachute.web.http.integers import RowId

router = APIRouter(prefix="/api", tags=["files"])

FilesDependency = Annotated[VaultFiles, Depends(provided(VaultFiles))]
SearchDependency = Annotated[FileSearch, Depends(provided(FileSearch))]
ArrivingDependency = Annotated[ArrivingFiles, Depends(provided(ArrivingFiles))]
Path = Annotated[str, Field(min_length=1, max_length=4096)]
Key = Annotated[str, Field(max_length=100)]
Hash = Annotated[str, Field(max_length=100)]
Size = Annotated[int, Query(ge=0, le=1 << 40)]
IfMatch = Annotated[str | None, Header(max_length=1000)]
IfNoneMatch = Annotated[str | None, Header(max_length=100)]

_MOST = 10_000


class NewText(BaseModel):
    """A text for a file; with `lastModified` as it was read, nothing that came later is replaced."""

    model_config = ConfigDict(extra="ignore", strict=True)

    path: Path
    content: str
    last_modified: str | None = Field(default=None, alias="lastModified", max_length=64)


class Place(BaseModel):
    """A file or a folder."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: Path


class Move(Place):
    """A file or a folder, and where it comes."""

    to: Path


class Undo(BaseModel):
    """The change to take back, by default the last one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    change: RowId | None = None


class FoundFiles(Answer, frozen=True):
    """Files that were found, the best first, of those that were `searched`.

    `problem` says why some may be absent, `not_read` which have no text for the search.
    """

    results: list[FoundFile]
    problem: str | None
    not_read: NotRead
    searched: Searched


class FileChanges(Answer, frozen=True):
    """Changes by devices, the newest first."""

    changes: Sequence[DeviceChange]


@router.get("/ls", response_model=Listing)
async def list_folder(
    service: FilesDependency,
    path: Annotated[str, Query(max_length=4096)] = "",
    include_hidden: Annotated[bool, Query(alias="includeHidden")] = False,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 5000,
    offset: Annotated[int, Query(ge=0, le=1 << 31)] = 0,
) -> Response:
    """The entries of a folder of the vault, folders first; `truncated` says that there are more."""
    found = await service.list(path, hidden=include_hidden, limit=limit, offset=offset)
    return Response(await asyncio.to_thread(_rendered, found), media_type="application/json")


@router.get("/read", response_model=TextFile)
async def read_file(service: FilesDependency, path: Annotated[str, Query(min_length=1, max_length=4096)]) -> Response:
    """A text file of up to 2 MB with the time of its last change and its ETag."""
    state, text = await service.read(path)
    body = await asyncio.to_thread(json.dumps, {**to_builtins(state), "content": text})
    return Response(body, media_type="application/json", headers={"etag": state.etag})


@router.put("/write")
async def write_file(
    request: Request,
    body: NewText,
    service: FilesDependency,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> WrittenFile:
    """Write a text file; 412 if it is not the one of `lastModified` or `If-Match`. The version before is kept."""
    expected = Expected.read(if_match, if_none_match, body.last_modified)
    return await service.write(body.path, body.content, expected, await acting(request))


@router.get("/files/download")
async def download_file(
    request: Request, service: FilesDependency, path: Annotated[str, Query(min_length=1, max_length=4096)]
) -> Response:
    """A file of any kind and size, or the part of it that `Range` asks for."""
    state, file = await service.open(path)
    return Download(state, file, request.headers)


@router.put("/files/upload", response_model=WrittenFile)
async def upload_file(
    request: Request,
    service: FilesDependency,
    path: Annotated[str, Query(min_length=1, max_length=4096)],
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Write the body as a file, of any kind and size; it is there when all of it is. The version before is kept."""

    async def upload(chunks: AsyncIterator[bytes]) -> WrittenFile:
        expected = Expected.read(if_match, if_none_match)
        return await service.upload(path, chunks, announced_size(request), expected, await acting(request))

    return await received(request, upload)


@router.get("/files/pieces/{key}")
async def find_arriving(service: ArrivingDependency, key: Key, path: Path, size: Size, sha256: Hash) -> Arrived:
    """Say how much of a file that is sent in pieces is here (`offset`), and its `path` once all of it is, with this SHA-256."""
    return await service.find(path, Announced.read(key, size, sha256))


@router.put("/files/pieces/{key}", response_model=Arrived)
async def add_piece(
    request: Request, service: ArrivingDependency, key: Key, path: Path, size: Size, sha256: Hash, offset: Size
) -> Response:
    """Add the body, of up to 1 MiB, at the `offset` of a new file; 409 for another offset than `GET` gives. The last one makes the file."""

    async def add(chunks: AsyncIterator[bytes]) -> Arrived:
        return await service.add(path, Announced.read(key, size, sha256), offset, chunks, await acting(request))

    return await received(request, add)


@router.get("/files/search")
async def search_files(
    service: SearchDependency,
    q: Annotated[str, Query(min_length=1, max_length=1000)],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> FoundFiles:
    """Texts and documents of the vault with the words, and others that mean the same."""
    found, problem = await service.search(q, limit)
    return FoundFiles(found, problem, NotRead.of(service.indexing.progress), service.searched)


@router.post("/files/folders")
async def make_folder(request: Request, body: Place, service: FilesDependency) -> ChangedPlace:
    """Make a folder, and those above it that are missing."""
    return ChangedPlace(body.path, await service.make_folder(body.path, await acting(request)))


@router.post("/files/move")
async def move_file(request: Request, body: Move, service: FilesDependency) -> ChangedPlace:
    """Move or rename a file or a folder; 409 if there is anything at its new place."""
    return ChangedPlace(body.to, await service.move(body.path, body.to, await acting(request)))


@router.delete("/files")
async def delete_file(
    request: Request, service: FilesDependency, path: Annotated[str, Query(min_length=1, max_length=4096)]
) -> ChangedPlace:
    """Delete a file, or a folder with all that is in it; it is kept, and an undo brings it back."""
    return ChangedPlace(path, await service.remove(path, await acting(request)))


@router.get("/files/changes")
async def list_changes(
    service: FilesDependency,
    path: Annotated[str | None, Query(max_length=4096)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> FileChanges:
    """The newest changes that were made by these routes, those of one file or folder with `path`."""
    return FileChanges(await service.changes(path, limit))


@router.post("/files/undo")
async def undo_change(request: Request, body: Undo, service: FilesDependency) -> UndoneChange:
    """Take a change back, also an undo; what has changed since is listed in `conflicts` and left alone."""
    return await service.undo(body.change, await acting(request))


def _rendered(found: Listing) -> bytes:
    return json.dumps(to_builtins(found), ensure_ascii=False).encode(errors="replace")
