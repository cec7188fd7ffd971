"""A ZIP archive that is written while it is sent, in little memory."""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

_FIRST_YEAR, _LAST_YEAR = 1980, 2107  # what an archive can say
_STORED = frozenset(
    ["jpg", "jpeg", "png", "gif", "webp", "heic", "m4a", "mp3", "ogg", "opus", "webm", "mp4", "zip", "pdf"]
)
_MODE = 0o644 << 16


class Part(Struct, frozen=True):
    """A file of the archive: its path there, its content in pieces, and when it was last changed."""

    path: str
    content: Iterable[bytes]
    changed: datetime | None = None


class _Sent:
    """Takes what is written, for whoever sends it; it cannot be gone back in."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class ZipStream:
    """Add parts, and send what comes of each; `finish` gives the end."""

    def __init__(self) -> None:
        self._sent = _Sent()
        self._zip = zipfile.ZipFile(self._sent, "w", zipfile.ZIP_DEFLATED)

    def add(self, part: Part) -> Iterator[bytes]:
        """The bytes of a part, piece by piece; blocking."""
        entry = zipfile.ZipInfo(part.path, _time(part.changed))
        entry.compress_type = (
            zipfile.ZIP_STORED if part.path.rpartition(".")[2].lower() in _STORED else zipfile.ZIP_DEFLATED
        )
        entry.external_attr = _MODE
        with self._zip.open(entry, "w", force_zip64=True) as target:
            for piece in part.content:
                target.write(piece)
                yield self._sent.take()
        yield self._sent.take()

    def finish(self) -> bytes:
        """The list of all parts, with which an archive ends."""
        self._zip.close()
        return self._sent.take()


def _time(changed: datetime | None) -> tuple[int, int, int, int, int, int]:
    if changed is None or not _FIRST_YEAR <= changed.year <= _LAST_YEAR:
        return (_FIRST_YEAR, 1, 1, 0, 0, 0)
    return (changed.year, changed.month, changed.day, changed.hour, changed.minute, changed.second)
