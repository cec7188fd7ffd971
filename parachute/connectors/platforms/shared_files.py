"""The folder that a connector and the server share: how much lies in it, what its files are, opening and removing them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import BinaryIO

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.connectors.platforms.models import File, FileKind

_BYTES = 250 * 1024 * 1024
_PICTURES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}
PICTURE_TYPES = frozenset((*_PICTURES.values(), "image/webp"))


def has_room(folder: Path, size: int) -> bool:
    """Return whether there is room for another file; the server takes them away."""
    return sum(each.stat().st_size for each in folder.iterdir() if each.is_file()) + size <= _BYTES


async def write(target: Path, chunks: AsyncIterator[bytes], most: int) -> bool:
    """Write a file of at most so many bytes, whole or not at all; False for a larger one. Errors: those of `chunks`, OSError."""
    unfinished, size = target.with_name(f"{target.name}.part"), 0
    try:
        with unfinished.open("wb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > most:
                    return False
                file.write(chunk)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def seen(path: Path, kind: FileKind, media_type: str) -> tuple[FileKind, str]:
    """The kind of a file by how it begins: what is called a picture and is none is shown nowhere as one."""
    with path.open("rb") as file:
        head = file.read(16)
    found = "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""
    found = found or next((each for start, each in _PICTURES.items() if head.startswith(start)), "")
    if kind == "picture" and not found:
        return "document", "application/octet-stream"
    return kind, found or media_type


def open_file(folder: Path, file: File) -> BinaryIO:
    """Open a file that goes out; error: FileNotFoundError, also for a link."""
    try:
        with Folder.open(folder) as shared:
            return shared.file(file.path)
    except (OSError, InvalidInput) as error:
        raise FileNotFoundError(f"The file {file.name} no longer exists.") from error


async def remove_files(folder: Path, names: Sequence[str]) -> None:
    """Remove files that nobody needs any more."""

    def remove() -> None:
        with contextlib.suppress(OSError), Folder.open(folder) as opened:
            for name in names:
                with contextlib.suppress(OSError, ParachuteError):
                    opened.remove(name)

    if names:
        await asyncio.to_thread(remove)
