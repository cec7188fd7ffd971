"""Entries of a journal, as exports and mails have them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from imports.reading.archive import Archive, Entry
from imports.reading.names import is_hidden

PICTURES = frozenset({"jpg", "jpeg", "png", "gif", "heic", "heif", "webp", "tif", "tiff", "bmp", "avif"})
SOUND = frozenset({"m4a", "aac", "mp3", "wav", "caf", "ogg", "opus", "flac"})
VIDEOS = frozenset({"mov", "mp4", "m4v", "webm", "3gp"})
MEDIA = PICTURES | SOUND | VIDEOS | {"pdf"}

_LONGEST = 950_000
_TITLE, _FIELD = 250, 300
_FILES = 500
_BRACKETS = str.maketrans("[]", "()")
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d\d)?")
_NAME = re.compile(r"[^\w.+-]+")


@dataclass(slots=True)
class JournalEntry:
    """One entry; `original` is its id there, `media` are its files by the names that they get, `fields` stand in the front matter."""

    source: str
    original: str
    date: str
    time: str | None = None
    title: str = ""
    content: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    media: dict[str, Iterable[bytes]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The para-id, the same in each export that has the entry."""
        digest = hashlib.sha256(f"{self.source}:{self.original}".encode("utf-8", "replace"))
        return f"para:daily:{digest.hexdigest()[:12]}"

    def document(self) -> dict[str, Any]:
        """The form in which the journal takes it."""
        return {
            "id": self.id,
            "date": self.date,
            "time": self.time,
            "title": one_line(self.title, _TITLE),
            "content": self.content[:_LONGEST],
            "fields": {name: value for name, value in self.fields.items() if value not in (None, "", [])},
        }

    @property
    def is_empty(self) -> bool:
        """True if nothing was written and nothing belongs to it."""
        return not (self.content.strip() or self.title.strip() or self.media)

    def show(self, name: str, parts: Iterable[bytes], label: str = "") -> str:
        """Add a file, and return what of Markdown shows it."""
        self.media[name] = parts
        if len(self.media) > _FILES:
            del self.media[name]
            return ""
        is_picture = ending(name) in PICTURES
        return f"{'!' if is_picture else ''}[{'' if is_picture else (label or name).translate(_BRACKETS)}](../assets/{self.date}/{name})"


class Media:
    """The files of an archive in some folders, by their names without folder and ending; `used` are those that entries have."""

    def __init__(self, archive: Archive | None, opened: Any, folders: Iterable[str]) -> None:
        self._archive, self._opened = archive, opened
        self._known: dict[str, Any] = {}
        self.used = set[str]()
        wanted = set(folders)
        for name, entry in archive.entries.items() if archive else ():
            *above, own = name.split("/")
            if above and above[-1].lower() in wanted and not is_hidden(name):
                stem = own.rpartition(".")[0].lower()
                # Of a picture and what says something about it, the picture.
                if ending(own) in MEDIA and stem not in self._known:
                    self._known[stem] = entry

    def __len__(self) -> int:
        return len(self._known)

    def find(self, *stems: str) -> tuple[str, Iterator[bytes]] | None:
        """The first file with one of these names: its ending, and its content once it is asked for."""
        for stem in stems:
            if (found := self._known.get(stem.lower())) is not None:
                self.used.add(stem.lower())
                return ending(found.filename), self._parts(found)
        return None

    def _parts(self, found: Any) -> Iterator[bytes]:
        assert self._archive is not None
        entry: Entry = self._opened(self._archive, found)
        while data := entry.read(1024 * 1024):
            yield data


def ending(name: str) -> str:
    """The ending of a name, in small letters and without its point."""
    return name.rpartition(".")[2].lower() if "." in name else ""


def one_line(text: str, longest: int = _FIELD) -> str:
    """A text on one line."""
    return " ".join(text.split())[:longest]


def place_of(*parts: Any) -> str:
    """The name of a place from its parts, each once."""
    named = (one_line(each.replace(",", " ")) for each in parts if isinstance(each, str))
    return ", ".join(dict.fromkeys(filter(None, named)))


def coordinates_of(value: Mapping[str, Any]) -> list[float] | None:
    """The coordinates in an object, as programs for maps read them of front matter."""
    pair = [value.get(name) for name in ("latitude", "longitude")]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in pair):
        return None
    latitude, longitude = (round(float(each), 6) for each in pair)  # type: ignore[arg-type]
    return [latitude, longitude] if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def zone_named(name: str) -> tzinfo | None:
    """A time zone by its name, such as Europe/Berlin or GMT+0200; None for an unknown one."""
    if found := _OFFSET.fullmatch(name):
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        return timezone((-1 if found[1] == "-" else 1) * timedelta(minutes=minutes)) if minutes < 1440 else None
    try:
        return ZoneInfo(name) if name and len(name) < 60 else None
    except (KeyError, ValueError, OSError):
        return None


def local(moment: datetime, zone: tzinfo | None) -> tuple[str, str]:
    """Day and time of a moment as clocks showed it where it was written; error: ValueError for a year that nobody can write."""
    try:
        there = moment.astimezone(zone or UTC)
    except OverflowError as error:
        raise ValueError("no such year") from error
    return f"{there:%Y-%m-%d}".rjust(10, "0"), f"{there:%H:%M}"


def file_name(text: str) -> str:
    """A name of a file with nothing but letters, digits and a few signs."""
    plain = _NAME.sub("_", text.replace("/", "_"))[-60:].strip("._")
    return plain or "file"
