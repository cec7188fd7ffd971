"""Entries of the journal on a terminal."""

import datetime
import re
import sys
from typing import Any

from parachute.cli.identifiers import short
from parachute.cli.output import by_meaning, clean, print_json, print_note, styled

_CHARACTERS = 70
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def print_entries(entries: list[dict[str, Any]], as_json: bool, none: str) -> None:
    """Print entries with their texts, or the note `none`."""
    if as_json:
        print_json(entries)
    elif not entries:
        print_note(none)
    else:
        for entry in entries:
            print(f"{shown(entry)}\n")


def shown(entry: dict[str, Any]) -> str:
    """An entry with its id: its text, or of one that was found the part that fits."""
    heading = styled(clean(" · ".join(filter(None, (_when(entry), _title(entry))))), "1", sys.stdout)
    identifier = styled(f"  {short(str(entry['id']))}", "2", sys.stdout) if entry.get("id") else ""
    snippet = str(entry.get("snippet") or "")
    # What was found in the title stands there already.
    text = snippet if snippet and snippet != entry.get("title") else str(entry.get("content") or "")
    return f"{heading}{identifier}{by_meaning(entry)}\n{clean(text)}".rstrip()


def row(entry: dict[str, Any]) -> tuple[str, str, str]:
    """The cells of a table: id, time and the beginning of the text."""
    text = " ".join(filter(None, (_title(entry), " ".join(str(entry.get("content") or "").split()))))
    beginning = text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
    return short(str(entry.get("id") or "")), _when(entry), beginning


def _when(entry: dict[str, Any]) -> str:
    return " ".join(str(entry.get(field) or "") for field in ("date", "time")).strip()


def _title(entry: dict[str, Any]) -> str:
    # An entry that was given no title has its time in the place of one.
    return "" if entry.get("title") == entry.get("time") else str(entry.get("title") or "")


def day_named(text: str) -> str | None:
    """The day that a person names; None for what is no day."""
    today = datetime.date.today()
    days = {"today": today, "yesterday": today - datetime.timedelta(days=1)}
    if text in days:
        return days[text].isoformat()
    return text if _DAY.fullmatch(text) else None
