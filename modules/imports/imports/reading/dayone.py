"""Day One: a JSON file for each journal, and beside them photos, videos, recordings and PDF files, called by their MD5."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from imports.reading.conversation import fields_of, items_of, text_of
from imports.reading.dayone_text import from_rich, markdown
from imports.reading.entries import SOUND, JournalEntry, Media, coordinates_of, local, one_line, place_of, zone_named
from imports.reading.json_values import OVERSIZED, Readable, elements

SOURCE = "dayone"
FOLDERS = ("photos", "videos", "audios", "pdfs")
_LISTS = {"photos": "photo", "videos": "video", "audios": "audio", "pdfAttachments": "pdfAttachment"}
_LABELS = {"video": "Video", "audio": "Recording", "pdfAttachment": "PDF"}
_BEGINNING = re.compile(rb'\s*\{\s*"(?:metadata|entries)"\s*:')
_MD5 = re.compile(r"[0-9a-fA-F]{32}")
_HEADING = re.compile(r"#{1,3} +(\S[^\n]*)(?:\n|\Z)")


def is_one(beginning: bytes) -> bool:
    """Return True for the beginning of a journal's file."""
    text = beginning.removeprefix(b"\xef\xbb\xbf")
    return bool(_BEGINNING.match(text)) and (b'"version"' in text or b'"creationDate"' in text or b'"uuid"' in text)


def read(file: Readable, journal: str, media: Media, say: Callable[..., None]) -> Iterator[JournalEntry]:
    """The entries of one journal, in their order; `say` hears what is left out. Error: InvalidJson."""
    for value in elements(file, frozenset({"entries"})):
        if value is OVERSIZED:
            say(left_out={"too_long": 1})
        elif not isinstance(value, dict) or "creationDate" not in value:
            if not (isinstance(value, dict) and value.keys() <= {"metadata"}):
                say(left_out={"malformed": 1})
        else:
            left_out = Counter[str]()
            found = _entry(value, journal, media, left_out)
            say(left_out=dict(left_out))
            if found is not None:
                yield found


def _entry(value: dict[str, Any], journal: str, media: Media, left_out: Counter[str]) -> JournalEntry | None:
    zone = zone_named(text_of(value.get("timeZone")))
    try:
        date, time = local(datetime.fromisoformat(text_of(value["creationDate"])), zone)
    except ValueError:
        left_out["entries_without_date"] += 1
        return None
    original = text_of(value.get("uuid")) or f"{journal} {value['creationDate']}"
    entry = JournalEntry(SOURCE, original, date, None if value.get("isAllDay") is True else time)
    _Files(entry, value, media, left_out).write(value)
    if heading := _HEADING.match(entry.content):
        entry.title, entry.content = heading[1].strip(), entry.content[heading.end() :].strip()
    location, weather = fields_of(value.get("location")), fields_of(value.get("weather"))
    named = (location.get(name) for name in ("userLabel", "placeName", "localityName", "administrativeArea", "country"))
    entry.fields |= {
        "tags": [one_line(each, 100).replace(" ", "-") for each in items_of(value.get("tags"))[:100] if text_of(each)],
        "place": place_of(*named),
        "location": coordinates_of(location),
        "weather": _weather(weather),
        "zone": text_of(value.get("timeZone"))[:60] if zone else None,
        "starred": True if value.get("starred") is True else None,
        "pinned": True if value.get("isPinned") is True else None,
        "journal": one_line(journal, 100),
        "source": SOURCE,
    }
    if entry.is_empty:
        left_out["empty_entries"] += 1
        return None
    return entry


class _Files:
    """The files of one entry: what a text refers to stands there, the others at its end."""

    def __init__(self, entry: JournalEntry, value: dict[str, Any], media: Media, left_out: Counter[str]) -> None:
        self._entry, self._media, self._left_out = entry, media, left_out
        self._known: dict[str, tuple[str, dict[str, Any]]] = {}
        self._shown = set[str]()
        for name, kind in _LISTS.items():
            for each in map(fields_of, items_of(value.get(name))):
                identifier = text_of(each.get("identifier")) or text_of(each.get("md5"))
                self._known.setdefault(identifier.casefold(), (kind, each))

    def write(self, value: dict[str, Any]) -> None:
        """Write the text, and behind it the files that it does not show."""
        text = from_rich(text_of(value.get("richText")), self._show)
        text = text or markdown(text_of(value.get("text")), self._show)
        rest = [self._show(kind, key) for key, (kind, _) in self._known.items() if key not in self._shown]
        self._entry.content = "\n\n".join(filter(None, [text.strip(), *rest]))

    def _show(self, kind: str, identifier: str) -> str:
        key = identifier.casefold()
        if key in self._shown:
            return ""
        known, about = self._known.get(key, (kind, {}))
        self._shown.add(key)
        digest = text_of(about.get("md5"))
        found = self._media.find(*([digest] if _MD5.fullmatch(digest) else []), identifier)
        if found is None:
            self._left_out["media_missing"] += 1
            return ""
        ending, parts = found
        name = f"{(digest if _MD5.fullmatch(digest) else identifier).lower()}.{ending}"
        duration = about.get("duration")
        if ending in SOUND and "audio" not in self._entry.fields:
            # The journal plays the first one by itself.
            self._entry.show(name, parts)
            self._entry.fields |= {"type": "voice", "audio": f"assets/{self._entry.date}/{name}"}
            if isinstance(duration, int | float) and 0 <= duration < 1_000_000:
                self._entry.fields["duration"] = round(duration)
            return ""
        return self._entry.show(name, parts, one_line(text_of(about.get("filename")) or _LABELS.get(known, "")))


def _weather(weather: dict[str, Any]) -> str:
    degrees = weather.get("temperatureCelsius")
    is_known = isinstance(degrees, int | float) and not isinstance(degrees, bool) and abs(degrees) < 100
    said = one_line(text_of(weather.get("conditionsDescription")), 100)
    return ", ".join(filter(None, [said, f"{degrees:.0f} °C" if is_known else ""]))
