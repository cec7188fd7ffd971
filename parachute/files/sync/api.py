"""Routes by which a device keeps a copy of the vault."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.pieces import Announced
from parachute.base.services import provided
from parachute.files.receiving import announced_size, received
from parachute.files.sync.arriving import ArrivingVersions
from parachute.files.sync.merging import LARGEST
from parachute.files.sync.models import ArrivingVersion, Synced, SyncPage
from parachute.files.sync.service import VaultSync
from parachute.web.access.owner import acting

router = APIRouter(prefix="/api/files/sync", tags=["files"])

SyncDependency = Annotated[VaultSync, Depends(provided(VaultSync))]
ArrivingDependency = Annotated[ArrivingVersions, Depends(provided(ArrivingVersions))]
Path = Annotated[str, Query(min_length=1, max_length=4096)]
Hash = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]
Base = Annotated[str, Query(pattern="^([0-9a-f]{64})?$")]
Size = Annotated[int, Query(ge=0, le=1 << 40)]
Key = Annotated[str, Field(max_length=100)]


class MergedText(BaseModel):
    """A text of a device, and the one that it was made from, null if none is known; `is_stale`: that may have been lost by a restore."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: str = Field(min_length=1, max_length=4096)
    base: str | None = Field(max_length=LARGEST)
    text: str = Field(max_length=LARGEST)
    is_stale: bool = False


@router.get("")
async def list_synced(
    service: SyncDependency,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=2000)] = 1000,
) -> SyncPage:
    """The files that changed after a cursor; everything, and `is_anew`, without one or after a backup was restored."""
    return await service.page(cursor, limit)


@router.put("", response_model=Synced)
async def upload_version(
    request: Request, service: SyncDependency, path: Path, sha256: Hash, base: Base = ""
) -> Response:
    """Make the body the file, if the vault still has the version with the hash `base`, or none. Else nothing is written over: `outcome` says what became of it."""

    async def upload(chunks: AsyncIterator[bytes]) -> Synced:
        return await service.upload(path, base, sha256, chunks, announced_size(request), await acting(request))

    return await received(request, upload)


@router.post("/merge")
async def merge_version(request: Request, body: MergedText, service: SyncDependency) -> Synced:
    """Join a text with what the vault has, paragraph by paragraph; what both sides changed waits in the inbox, and the vault's stands meanwhile."""
    return await service.merge(body.path, body.base, body.text, await acting(request), is_stale=body.is_stale)


@router.delete("")
async def remove_version(request: Request, service: SyncDependency, path: Path, base: Hash) -> Synced:
    """Delete a file, if it is the version with the hash `base`; it is kept, and an undo brings it back."""
    return await service.remove(path, base, await acting(request))


@router.get("/pieces/{key}")
async def find_version(service: ArrivingDependency, key: Key, size: Size, sha256: Hash) -> ArrivingVersion:
    """Say how much of a large version is here (`offset`)."""
    return await service.find(Announced.read(key, size, sha256))


@router.put("/pieces/{key}", response_model=ArrivingVersion)
async def add_version_piece(
    request: Request,
    service: ArrivingDependency,
    key: Key,
    path: Path,
    size: Size,
    sha256: Hash,
    offset: Size,
    base: Base = "",
) -> Response:
    """Add the body, of up to 1 MiB, at the `offset` of a large version; the last one makes it the file, as an upload does."""

    async def add(chunks: AsyncIterator[bytes]) -> ArrivingVersion:
        return await service.add(path, base, Announced.read(key, size, sha256), offset, chunks, await acting(request))

    return await received(request, add)
