"""Files that lie beside the conversations of an export, which messages name by their ids: pictures, recordings, documents."""

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from imports.reading.archive import Archive, Entry
from imports.reading.conversation import Attachment
from imports.reading.json_values import texts_of

_KEY = re.compile(r"file[-_][A-Za-z0-9]{1,64}")
_NAMES = "conversation_asset_file_names.json"
_LARGEST = 100 * 1024 * 1024
_TIMES, _SMALL = 4, 64 * 1024 * 1024
"""All files together have at most so many times the size of the export: one of its entries may be named a million times."""

_PART = 1024 * 1024
_NO_ENDINGS = frozenset({"", ".dat", ".bin"})
_BEGINNINGS = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF8", ".gif"),
    (8, b"WEBP", ".webp"),
    (8, b"WAVE", ".wav"),
    (0, b"%PDF", ".pdf"),
    (0, b"ID3", ".mp3"),
    (0, b"\xff\xfb", ".mp3"),
    (0, b"OggS", ".ogg"),
    (4, b"ftyp", ".mp4"),
    (0, b"\x1aE\xdf\xa3", ".webm"),
)

Place = tuple[Archive, zipfile.ZipInfo]
Opened = Callable[[Archive, zipfile.ZipInfo], Entry]


class Attached:
    """Files of one archive, and of others that have nothing else; `used` are the names of the entries that conversations have named."""

    def __init__(self, size: int, opened: Opened) -> None:
        self.used = set[str]()
        self._left = _TIMES * size + _SMALL
        self._opened = opened
        self._kept: dict[str, Place] = {}
        self._entries: dict[str, Place] = {}
        self._names: dict[str, str] = {}
        self._endings: dict[str, str] = {}

    def keep(self, archive: Archive) -> None:
        """Take the files of an archive that stays open: those that every other one may name."""
        self._kept |= {_key(name): (archive, entry) for name, entry in archive.entries.items()}

    def look_into(self, archive: Archive) -> None:
        """Take the files of another archive in the place of those before."""
        names = [name for name in archive.entries if not name.lower().endswith((".json", ".zip"))]
        self._entries = {_key(name): (archive, archive.entries[name]) for name in reversed(names)}
        self._names, self._endings = {}, {}
        if listed := next((each for each in archive.entries if each.endswith(_NAMES)), None):
            self.used.add(listed)
            self._names = {
                _key(entry): name for entry, name in texts_of(self._opened(archive, archive.entries[listed]))
            }

    def find(self, pointer: str, name: str | None = None) -> Attachment | None:
        """The file that a pointer such as `sediment://file_12` means; None where the export has none, or it is too large."""
        key = _key(pointer.rpartition("://")[2])
        place = self._entries.get(key) or self._kept.get(key)
        if place is None:
            return None
        entry = place[1]
        self.used.add(entry.filename)
        if entry.file_size > min(_LARGEST, self._left):
            return None
        self._left -= entry.file_size
        own = PurePosixPath(entry.filename).name
        name = name or self._names.get(key) or own.removeprefix(key).lstrip("-_") or own
        name = f"file{name}" if name.startswith(".") else name
        return Attachment(key, self._ended(key, place, name), lambda: self._content(place))

    def _ended(self, key: str, place: Place, name: str) -> str:
        """A name with the ending of what the file is, where it has none that says so."""
        path = PurePosixPath(name)
        if path.suffix.lower() not in _NO_ENDINGS:
            return name
        if key not in self._endings:
            begin = next(self._content(place, 16), b"")
            known = (ending for start, mark, ending in _BEGINNINGS if begin[start:].startswith(mark))
            self._endings[key] = next(known, ".bin")
        return f"{path.name.removesuffix(path.suffix)}{self._endings[key]}"

    def _content(self, place: Place, size: int = _PART) -> Iterator[bytes]:
        file = self._opened(*place)
        while data := file.read(size):
            yield data


def _key(name: str) -> str:
    """The id at the beginning of a name, or the name: of Google's files it is all there is."""
    own = PurePosixPath(name).name
    return found[0] if (found := _KEY.match(own)) else own
