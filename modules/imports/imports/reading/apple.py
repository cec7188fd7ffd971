"""Apple Journal: a page for each entry in `Entries`, called by its day, and its pictures and what is known of them in `Resources`."""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from imports.reading.apple_page import Item, Page
from imports.reading.archive import Archive
from imports.reading.conversation import fields_of, items_of, text_of
from imports.reading.entries import (
    SOUND,
    JournalEntry,
    Media,
    coordinates_of,
    ending,
    file_name,
    one_line,
    place_of,
)
from imports.reading.gemini_times import day_of
from imports.reading.html_text import markdown

SOURCE = "applejournal"
_PAGE = re.compile(r"(?:.*/)?Entries/[^/]+\.html?", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_LARGEST = 8 * 1024 * 1024
_ABOUT = 256 * 1024
_PLACES = ("multiPinMap", "genericMap", "visit", "location", "map")
_MOODS = ("stateOfMind",)


def pages(archive: Archive) -> list[zipfile.ZipInfo]:
    """The pages of entries."""
    return [
        each
        for each in archive.named(".html", ".htm")
        if _PAGE.fullmatch(each.filename) and "/." not in f"/{each.filename}"
    ]


def read(
    archive: Archive, media: Media, opened: Callable[..., Any], say: Callable[..., None]
) -> Iterator[JournalEntry]:
    """The entries, in the order of their days; `say` hears what is left out. Error: Refused."""
    about = {
        each.filename.rpartition("/")[2][:-5].lower(): each
        for each in archive.named(".json")
        if "/Resources/" in f"/{each.filename}"
    }
    for page in pages(archive):
        data = opened(archive, page).all(_LARGEST)
        if data is None:
            say(left_out={"too_long": 1})
            continue
        left_out = Counter[str]()

        def facts(item: Item) -> dict[str, Any]:
            return _facts(opened(archive, about[item.id.lower()]).all(_ABOUT)) if item.id.lower() in about else {}

        found = _entry(page.filename.rpartition("/")[2], data.decode("utf-8", "replace"), media, facts, left_out)
        say(left_out=dict(left_out))
        if found is not None:
            yield found


def _entry(
    name: str, html: str, media: Media, facts: Callable[[Item], dict[str, Any]], left_out: Counter[str]
) -> JournalEntry | None:
    page = Page(html)
    day = _day(name, page.texts["pageHeader"])
    if day is None:
        left_out["entries_without_date"] += 1
        return None
    entry = JournalEntry(SOURCE, name.rpartition(".")[0], day, title=one_line(page.texts["title"], 250))
    prompt = one_line(page.texts["reflectionPrompt"], 1000)
    shown, said, places, moods = [], [], [], []
    for item in page.items:
        more = facts(item)
        if item.kind in _PLACES or "placeName" in more or "visits" in more:
            visits = [more, *map(fields_of, items_of(more.get("visits"))[:50])]
            places += [each for visit in visits if (each := place_of(visit.get("placeName"), visit.get("city")))]
            places += [place_of(*text.split(",")) for text in item.texts if item.kind in _PLACES and not places]
            entry.fields.setdefault("location", next(filter(None, map(coordinates_of, visits)), None))
        elif item.kind in _MOODS:
            moods += item.texts
        elif item.texts:
            said.append(" · ".join(dict.fromkeys(item.texts)))
        shown += [each for each in _show(entry, item, media, left_out) if each]
    parts = [f"*{prompt}*" if prompt else "", markdown(page.body), "\n".join(f"> {each}" for each in said), *shown]
    entry.content = "\n\n".join(filter(None, parts))
    entry.fields |= {"place": list(dict.fromkeys(places))[:20] if len(set(places)) > 1 else "".join(places[:1])}
    entry.fields |= {"mood": one_line(" · ".join(dict.fromkeys(moods))), "source": SOURCE}
    if entry.is_empty:
        left_out["empty_entries"] += 1
        return None
    return entry


def _show(entry: JournalEntry, item: Item, media: Media, left_out: Counter[str]) -> Iterator[str]:
    """Add the files of an item, and give what shows each; pictures that Apple has drawn of a map or a mood are left there."""
    if item.kind in (*_PLACES, *_MOODS):
        return
    stems = [each.rpartition("/")[2].rpartition(".")[0] for each in item.sources if not each.startswith("data:")]
    for stem in dict.fromkeys(stems or ([item.id] if item.kind in ("photo", "livePhoto", "video", "audio") else [])):
        if (found := media.find(stem)) is None:
            left_out["media_missing"] += 1
            continue
        kind, parts = found
        name = f"{file_name(stem)}.{kind}"
        shown = entry.show(name, parts, "Recording" if ending(name) in SOUND else "Video")
        if kind in SOUND and "audio" not in entry.fields:
            entry.fields |= {"type": "voice", "audio": f"assets/{entry.date}/{name}"}
        else:
            yield shown


def _day(name: str, header: str) -> str | None:
    """The day of an entry: its file is called by it in every language, and old ones say it at their top."""
    found = _DAY.match(name)
    numbers = tuple(map(int, found.groups())) if found else day_of(one_line(header, 100))
    try:
        return date(*numbers).isoformat() if numbers else None
    except ValueError:
        return None


def _facts(data: bytes | None) -> dict[str, Any]:
    try:
        found = fields_of(json.loads(data or b"{}"))
    except (ValueError, RecursionError):
        return {}
    return {name: value for name, value in found.items() if name != "placeName" or text_of(value)}
