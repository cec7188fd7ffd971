"""The file that was uploaded: a ZIP archive, a SQLite database or text; nothing of it is unpacked by the names it has."""

import contextlib
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, Literal

from imports.upload import Upload

Form = Literal["zip", "sqlite", "text"]

_ENTRIES = 100_000
_RATIO, _SMALL = 200, 64 * 1024 * 1024
"""Text packs to a tenth; what packs to less than a two hundredth is no text of people."""

_END, _MORE = 66_000, 0xFFFF
"""Bytes in which the end of an archive lies, and the count there that means more."""

_TOTAL = 64 * 1024**3
_DEEPEST = 40
_ENCRYPTED, _IS_UTF8 = 1, 0x800


class Refused(Exception):
    """The file cannot be read; the text is a sentence for the owner."""


class Archive:
    """A ZIP archive; `left_out` counts the entries that are not safe to read. `above` is the one that it lies in, as `name`."""

    def __init__(self, upload: Upload, *, above: "Archive | None" = None, name: str = "") -> None:
        self.above, self.name = above, name
        self.left_out = Counter[str]()
        if _stated(upload) > _ENTRIES:
            raise Refused(f"The archive has more than {_ENTRIES:,} entries.")
        try:
            self._file = upload.open()
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
            raise Refused(f"The ZIP archive cannot be read: {error}.") from error
        if len(self._zip.filelist) > _ENTRIES:
            raise Refused(f"The archive has more than {_ENTRIES:,} entries.")
        self.entries: dict[str, zipfile.ZipInfo] = {}
        self._read = 0
        for entry in self._zip.filelist:
            entry.filename = _name(entry)
            if entry.is_dir():
                continue
            if _is_safe(entry):
                self.entries[entry.filename] = entry
            else:
                self.left_out["unsafe_names"] += 1

    def open(self, entry: zipfile.ZipInfo) -> "Entry":
        """Open an entry for reading; error: Refused."""
        try:
            return Entry(self._zip.open(entry), entry, self)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
            raise Refused(f"{entry.filename[:100]!r} cannot be unpacked: {error}.") from error

    def beginning(self, entry: zipfile.ZipInfo, size: int) -> bytes:
        """The first bytes of an entry; error: Refused."""
        return self.open(entry).read(size)

    def named(self, *endings: str) -> Iterator[zipfile.ZipInfo]:
        """The entries whose names end so, in the order of their names."""
        return (entry for name, entry in sorted(self.entries.items()) if name.lower().endswith(endings))

    def take(self, size: int) -> None:
        """Count unpacked bytes; error: Refused."""
        self._read += size
        if self._read > _TOTAL:
            raise Refused("The archive unpacks to more than 64 GB.")
        if self.above is not None:
            self.above.take(size)

    def close(self) -> None:
        """Close its file."""
        self._zip.close()
        self._file.close()


class Entry:
    """An entry that is read; error: Refused when it unpacks to far more than text does, or is damaged."""

    def __init__(self, file: IO[bytes], entry: zipfile.ZipInfo, archive: Archive) -> None:
        self._file = file
        self._name = entry.filename
        self._archive = archive
        self._read = 0
        self._limit = max(_SMALL, entry.compress_size * _RATIO)

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        try:
            data = self._file.read(size)
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError) as error:
            raise Refused(f"{self._name[:100]!r} is damaged: {error}.") from error
        except Exception as error:
            # Each way of packing has an error of its own.
            raise Refused(f"{self._name[:100]!r} cannot be unpacked: {error}.") from error
        self._read += len(data)
        self._archive.take(len(data))
        if self._read > self._limit:
            raise Refused(f"{self._name[:100]!r} unpacks to more than {_RATIO} times its size.")
        return data

    def all(self, limit: int) -> bytes | None:
        """Everything, None where it is more than `limit` bytes."""
        data = b""
        while part := self.read(1024 * 1024):
            data += part
            if len(data) > limit:
                return None
        return data


def form_of(upload: Upload) -> Form:
    """Return the format of a file by its beginning."""
    with upload.open() as file:
        begin = file.read(16)
        if begin.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")) or zipfile.is_zipfile(file):
            return "zip"
    return "sqlite" if begin == b"SQLite format 3\0" else "text"


def _stated(upload: Upload) -> int:
    """The number of entries that the end of an archive states: reading a list of millions takes long before it is refused."""
    with upload.open() as file:
        file.seek(max(upload.size - _END, 0))
        end = file.read(_END)
    place = end.rfind(b"PK\x05\x06")
    count = int.from_bytes(end[place + 10 : place + 12], "little") if place >= 0 else 0
    large = end.rfind(b"PK\x06\x06")
    return int.from_bytes(end[large + 32 : large + 40], "little") if count == _MORE and large >= 0 else count


def _name(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry as it was meant: some programs write UTF-8 without saying so, or the separators of Windows."""
    name = entry.filename
    if not entry.flag_bits & _IS_UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name if "/" in name else name.replace("\\", "/")


def _is_safe(entry: zipfile.ZipInfo) -> bool:
    name = entry.filename
    parts = PurePosixPath(name).parts
    mode = entry.external_attr >> 16
    is_plain = stat.S_IFMT(mode) in (0, stat.S_IFREG)
    is_inside = not name.startswith("/") and ".." not in parts and "\\" not in name and ":" not in name[:2]
    return is_plain and is_inside and "\0" not in name and len(parts) <= _DEEPEST and not entry.flag_bits & _ENCRYPTED
